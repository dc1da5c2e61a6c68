"""Calls every public method of the official SDK's clients on a running `memrl serve`; prints a row of JSON for each.

The classes are walked, so a method that a newer version adds and that nothing here calls is an error. A method with a twin in
`_async` is called both ways, which must come to the same. Needs PyTorch for losses of the client's own; TINKER_BASE_URL and
TINKER_API_KEY say where.
"""

import asyncio
import inspect
import json
import sys
import tempfile
import time
import urllib.request
import warnings
from datetime import datetime
from pathlib import Path

import numpy as np
import tinker
import torch
from tinker import types

warnings.simplefilter("ignore")
context = 1024
service = tinker.ServiceClient(project_id="proj-here")
rest, admin = tinker.RestClient(), tinker.AdminClient()
model = service.create_lora_training_client(base_model="memrl/tiny", rank=4, seed=1).result()
session = model.get_info().model_id.split(":")[0]
tokenizer = model.get_tokenizer()
text = tokenizer.encode("What is 3 + 4? It is 7.")
prompt = types.ModelInput.from_ints(tokenizer.encode("What is"))
short = types.SamplingParams(max_tokens=3, seed=1)
adam = types.AdamParams(learning_rate=1e-3)


def datum(tokens, **inputs):
    tensors = {name: types.TensorData.from_numpy(np.asarray(values)) for name, values in inputs.items()}
    tensors.setdefault("target_tokens", types.TensorData.from_numpy(np.array(tokens[1:], dtype=np.int64)))
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=tensors)


def ones(count):
    return np.ones(count, dtype=np.float32)


data = [datum(text, weights=ones(len(text) - 1))]
saved = model.save_state("methods").result().path
run = saved.split("/")[2]
# The tokenizer of a sampler comes from where its base model says, so that is the directory that `get_info` tells.
directory = model.get_info().model_data.tokenizer_id
sampler = service.create_sampling_client(base_model=directory).result()


def names_of(number):
    """A checkpoint of its own for a method that changes or removes it."""
    return model.save_state(f"methods-{number}", overwrite=True).result().path


def own_loss(_, logprobs):
    return -torch.stack([each.sum() for each in logprobs]).sum(), {"own": 1.0}


def traced(name):
    """Each loss is created once a session, so each has a name of its own."""

    def loss(logprobs, weights):
        value = -(logprobs * weights).sum()
        return value, {"custom/nll:sum": value}

    loss.__name__ = name
    return loss


handle = service.create_custom_loss(traced("kept"), {"logprobs": 1, "weights": 1}).result()


def is_path(kind):
    return lambda result: f"/{kind}/" in getattr(result, "path", result)


def downloads(urls):
    with tempfile.TemporaryDirectory() as folder:
        for name, url in urls.urls.items():
            urllib.request.urlretrieve(url, Path(folder) / name)
        return json.loads((Path(folder) / "adapter_config.json").read_text())["r"] == 4


def external():
    return model.save_weights_external("methods-external").result().path


def answers(sampling):
    return len(sampling.sample(prompt, 1, short).result().sequences[0].tokens) == 3


def trains(client):
    learnt = client.forward_backward(data, "cross_entropy").result().metrics["loss:sum"]
    return learnt > 0 and client.optim_step(adam).result().metrics["optim/grad_norm"] > 0


def has_loss(result):
    return result.metrics["loss:sum"] > 0


def cancelled(_):
    """A request that waits behind another is given up; nothing of it is computed."""
    many = types.SamplingParams(max_tokens=900, stop=[])
    first, second = [sampler.sample(prompt, 16, params) for params in (many, types.SamplingParams(max_tokens=899, stop=[]))]
    time.sleep(0.5)
    second.future().cancel()
    return second.future().cancelled() and len(first.result().sequences) == 16


# What is called, and what must hold of the result. `call` is the method, or its twin in `_async`.
calls = {
    tinker.ServiceClient: {
        "create_lora_training_client": (lambda call: call("memrl/tiny", rank=2), trains),
        "create_training_client_from_state": (lambda call: call(saved), trains),
        "create_training_client_from_state_with_optimizer": (lambda call: call(saved), trains),
        "create_sampling_client": (lambda call: call(base_model="memrl/tiny"), answers),
        "create_custom_loss": (
            lambda _: tinker.ServiceClient().create_custom_loss(traced("own"), {"logprobs": 1, "weights": 1}),
            lambda created: created.name == "own" and has_loss(model.forward_backward_custom(data, handle).result()),
        ),
        "copy_weights": (lambda call: call(saved), is_path("weights")),
        "create_rest_client": (lambda call: call(), lambda client: client.list_sessions().result().sessions),
        "get_server_capabilities": (lambda call: call(), lambda found: "memrl/tiny" in str(found)),
        "get_console_url": (lambda call: call(), lambda url: url.startswith("http")),
        "get_telemetry": (lambda call: call(), lambda _: True),
        "holder": (lambda _: service.holder, lambda holder: holder.get_session_id() == session),
        "close": (lambda _: tinker.ServiceClient().close("success", detail="done"), lambda result: result is None),
    },
    tinker.TrainingClient: {
        "forward": (lambda call: call([datum(text)], "cross_entropy"), has_loss),
        "forward_backward": (lambda call: call([datum(text)], "cross_entropy"), has_loss),
        "forward_backward_custom": (lambda call: call(data, own_loss), has_loss),
        "optim_step": (lambda call: (model.forward_backward(data, "cross_entropy"), call(adam))[1], lambda result: result.metrics["optim/grad_norm"] > 0),
        "save_state": (lambda call: call("kept", overwrite=True), is_path("weights")),
        "load_state": (lambda call: call(saved), is_path("weights")),
        "load_state_with_optimizer": (lambda call: call(saved), is_path("weights")),
        "save_weights_for_sampler": (lambda call: call("kept"), is_path("sampler_weights")),
        "save_weights_external": (lambda call: call("kept"), is_path("external_weights")),
        "save_weights_and_get_sampling_client": (lambda call: call(), answers),
        "create_sampling_client": (lambda call: call(model_path=saved), answers),
        "get_info": (lambda call: call(), lambda info: Path(info.model_data.tokenizer_id, "tokenizer.json").exists()),
        "get_tokenizer": (lambda call: call(), lambda found: found.decode(text) == "What is 3 + 4? It is 7."),
        "get_console_url": (lambda call: call(), lambda url: run in url),
        "get_telemetry": (lambda call: call(), lambda _: True),
    },
    tinker.SamplingClient: {
        "sample": (lambda call: call(prompt, 2, short), lambda result: len(result.sequences) == 2),
        "compute_logprobs": (lambda call: call(prompt), lambda found: found[0] is None and found[1] < 0),
        "get_tokenizer": (lambda call: call(), lambda found: found.decode(text) == "What is 3 + 4? It is 7."),
        "get_base_model": (lambda call: call(), lambda name: name == directory),
        "get_sampler_handle": (lambda call: call(), lambda handle: answers(tinker.SamplingClient.from_sampler_handle(handle))),
        "from_sampler_handle": (lambda call: call(sampler.get_sampler_handle()), answers),
        "create": (lambda call: call(service.holder, base_model="memrl/tiny"), answers),
        "on_queue_state_change": (lambda call: call(type("State", (), {"value": 0, "name": "ACTIVE"})(), None), lambda _: True),
        "get_telemetry": (lambda call: call(), lambda _: True),
    },
    tinker.RestClient: {
        "get_server_capabilities": (lambda call: call(), lambda found: "memrl/tiny" in str(found)),
        "get_training_run": (lambda call: call(run), lambda found: found.training_run_id == run),
        "get_training_run_by_tinker_path": (lambda call: call(saved), lambda found: found.training_run_id == run),
        "get_weights_info_by_tinker_path": (lambda call: call(saved), lambda found: found.lora_rank == 4),
        "list_training_runs": (lambda call: call(limit=5), lambda found: run in str(found)),
        "list_checkpoints": (lambda call: call(run), lambda found: saved in str(found)),
        "list_user_checkpoints": (lambda call: call(), lambda found: saved in str(found)),
        "get_external_weights_urls": (lambda call: call(external()), downloads),
        "delete_checkpoint": (lambda call: call(run, "/".join(names_of(1).split("/")[3:])), lambda result: result is None),
        "delete_checkpoint_from_tinker_path": (lambda call: call(names_of(2)), lambda result: result is None),
        "set_checkpoint_ttl_from_tinker_path": (lambda call: call(names_of(3), 3600), lambda result: result is None),
        "copy_weights": (lambda call: call(saved, "proj-here"), is_path("weights")),
        "publish_checkpoint_from_tinker_path": (lambda call: call(saved), lambda _: True),
        "unpublish_checkpoint_from_tinker_path": (lambda call: call(saved), lambda _: True),
        "get_session": (lambda call: call(session), lambda found: run in found.training_run_ids),
        "list_sessions": (lambda call: call(), lambda found: session in found.sessions),
        "search_sessions": (lambda call: call(types.SessionSearchRequest()), lambda found: session in str(found)),
        "assign_session_project": (lambda call: call(session, "proj-here"), lambda _: True),
        "export_session_trace": (lambda call: call(session), lambda url: url.startswith("http")),
        "whoami": (lambda call: call(), lambda _: True),
        "get_sampler": (lambda call: call(f"{session}:sample:0"), lambda found: found.base_model == "memrl/tiny"),
        "get_audit_log": (lambda call: call(), lambda _: True),
        "get_billing_usage": (lambda call: call("2026-07-13T00:00:00Z", "2026-07-14T00:00:00Z"), lambda _: True),
        "get_current_checkpoint_storage_usage": (lambda call: call(), lambda _: True),
        "get_telemetry": (lambda call: call(), lambda _: True),
    },
    tinker.AdminClient: {
        "get_audit_log": (lambda call: call(), lambda _: True),
        "get_billing_usage": (lambda call: call("2026-07-13T00:00:00Z", "2026-07-14T00:00:00Z"), lambda _: True),
        "get_current_checkpoint_storage_usage": (lambda call: call(), lambda _: True),
        "get_telemetry": (lambda call: call(), lambda _: True),
    },
    tinker.APIFuture: {
        "result": (lambda _: sampler.sample(prompt, 1, short).result(60), lambda found: found.sequences),
        "result_async": (lambda _: asyncio.run(awaited("result_async")), lambda found: found.sequences),
        "coroutine": (lambda _: asyncio.run(awaited("coroutine")), lambda found: found.sequences),
        "future": (lambda _: sampler.sample(prompt, 1, short).future().result(60), lambda found: found.sequences),
        "future().cancel": (lambda _: True, cancelled),
    },
    tinker.LossHandle: {
        "key": (lambda _: handle.key, lambda key: key),
        "input_names": (lambda _: handle.input_names, lambda names: "weights" in names),
    },
}
# What a method may be asked for beside what its plain call shows: settings, and shapes of data.
of_training = {
    "several targets a position": lambda: model.forward([datum(text, target_tokens=np.array([[5, 6]] * (len(text) - 1)), weights=np.full((len(text) - 1, 2), 0.5, dtype=np.float32))], "cross_entropy").result(),
    "targets that are not the input moved by one": lambda: model.forward([datum(text, target_tokens=np.array(text[:0:-1]), weights=ones(len(text) - 1))], "cross_entropy").result(),
    "loss stable_reinforce": lambda: model.forward([datum(text, logprobs=ones(len(text) - 1), advantages=ones(len(text) - 1))], "stable_reinforce").result(),
    "optimizer dimuon": lambda: service.create_lora_training_client("memrl/tiny", optimizer=types.DimuonOptimizerConfig()).result(),
    "an image in a datum": lambda: model.forward([types.Datum(model_input=picture, loss_fn_inputs={"target_tokens": types.TensorData(data=[1], dtype="int64", shape=[1])})], "cross_entropy").result(),
    "kind=inflight": lambda: model.save_weights_and_get_sampling_client(kind="inflight").result(),
}
of_sampling = {
    "include_prompt_logprobs, topk_prompt_logprobs, topk_sample_logprobs": lambda: sampler.sample(prompt, 1, short, True, 3, 3).result(),
    "prompt_logprobs_last_n": lambda: sampler.compute_logprobs(prompt, 2).result(),
    "target_prompt_logprobs": lambda: sampler.sample(prompt, 1, short, target_prompt_logprobs=types.TensorData(data=[5] * (prompt.length - 1), dtype="int64", shape=[prompt.length - 1, 1])).result().target_prompt_logprobs.tolist(),
    "prompt_alt_tokens_k": lambda: sampler.sample(prompt, 1, short, prompt_alt_tokens_k=2).result().prompt_alt_tokens.tokens.tolist(),
    "record_stability_info": lambda: service.create_sampling_client(base_model="memrl/tiny", record_stability_info=True).result().sample(prompt, 1, short).result(),
    "an image in a prompt": lambda: sampler.sample(picture, 1, short).result(),
    "an empty prompt": lambda: sampler.sample(types.ModelInput.from_ints([]), 1, short).result(),
    "a prompt longer than the context": lambda: sampler.sample(types.ModelInput.from_ints([5] * (context + 1)), 1, short).result(),
    "2,000 samples of a prompt": lambda: sampler.sample(prompt, 2000, types.SamplingParams(max_tokens=1)).result(),
}
picture = types.ModelInput(chunks=[types.ImageChunk(data=b"\x89PNG", format="png", expected_tokens=1)])


async def awaited(name):
    return await getattr(sampler.sample(prompt, 1, short), name)()


def result_of(value):
    if inspect.isawaitable(value) and not hasattr(value, "result"):
        value = asyncio.run(waited(value))
    return value.result() if hasattr(value, "result") and not isinstance(value, type) else value


async def waited(value):
    return await value


def outcome(attempt):
    """`refused`: the service said no. `cannot`: the client could not even ask, or made nothing of the answer."""
    try:
        return ("works" if attempt() else "wrong"), ""
    except tinker.APIStatusError as error:
        body = error.body if isinstance(error.body, dict) else {}
        return "refused", body.get("detail", str(error))
    except tinker.RequestFailedError as error:
        return "refused", str(error).removeprefix("Request failed: ").split(" for self.request_id")[0]
    except Exception as error:
        return "cannot", f"{type(error).__name__}: {error}"


clients = {tinker.ServiceClient: service, tinker.TrainingClient: model, tinker.SamplingClient: sampler, tinker.RestClient: rest, tinker.AdminClient: admin}  # fmt: skip


def row(kind, name, ask, holds):
    owner = clients.get(kind)
    found = [outcome(lambda: holds(result_of(ask(getattr(owner, name, None)))))]
    twin = f"{name}_async"
    has_twin = hasattr(owner, twin) and twin not in calls[kind]
    if has_twin:
        found.append(outcome(lambda: holds(result_of(ask(getattr(owner, twin))))))
        assert found[0][0] == found[1][0], (kind, name, found)
    return {"class": kind.__name__, "method": name, "twin": has_twin, "outcome": found[0][0], "words": found[0][1]}


def public(kind):
    names = {name for name, value in inspect.getmembers(kind) if not name.startswith("_") and (callable(value) or isinstance(value, property))}
    return {name for name in names if not (name.endswith("_async") and name.removesuffix("_async") in names and name not in calls[kind])}


rows = []
for kind, methods in calls.items():
    missing = public(kind) - set(methods)
    assert not missing, f"{kind.__name__} of SDK {tinker.__version__} has methods that are not called here: {sorted(missing)}"
    rows += [row(kind, name, ask, holds) for name, (ask, holds) in methods.items()]
for owner, asked in (("TrainingClient", of_training), ("SamplingClient", of_sampling)):
    for what, attempt in asked.items():
        result, words = outcome(lambda: attempt() is not None)
        rows.append({"class": owner, "method": what, "twin": False, "setting": True, "outcome": result, "words": words})
json.dump({"version": tinker.__version__, "rows": rows, "at": datetime.now().isoformat()}, sys.stdout)
