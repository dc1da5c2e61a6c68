"""What the official SDK can do, done on a running `memrl serve`; prints what came out as one line of JSON.

Runs on every version of the SDK from 0.18.2 on, without torch: TINKER_BASE_URL and TINKER_API_KEY say where.
"""

import json
import pickle
import warnings

import numpy as np
import tinker
from tinker import types

warnings.simplefilter("ignore")
found = {"version": tinker.__version__}


def tensor(values, dtype):
    return types.TensorData.from_numpy(np.array(values, dtype=dtype))


def datum(tokens, **inputs):
    tensors = {name: tensor(values, np.float32) for name, values in inputs.items()}
    tensors["target_tokens"] = tensor(tokens[1:], np.int64)
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=tensors)


def ready(client):
    """Newer versions give a future of a client."""
    return client.result() if hasattr(client, "result") else client


service = tinker.ServiceClient()
names = [model.model_name for model in service.get_server_capabilities().supported_models]
assert "memrl/tiny" in names, names
model = ready(service.create_lora_training_client(base_model="memrl/tiny", rank=4, seed=1))
info = model.get_info()
assert (info.is_lora, info.lora_rank, info.model_data.model_name) == (True, 4, "memrl/tiny"), info
tokenizer = model.get_tokenizer()
text = tokenizer.encode("What is 3 + 4? It is 7.")
assert tokenizer.decode(text) == "What is 3 + 4? It is 7."

# Every loss, with its settings.
length = len(text) - 1
rollout = dict(logprobs=[-4.0 - 0.01 * at for at in range(length)], advantages=[0.5 - 0.1 * (at % 9) for at in range(length)])
found["losses"] = {}


def compute(client, loss, config, inputs):
    data = [datum(text, **inputs), datum(text[: length - 3], **{name: values[: length - 4] for name, values in inputs.items()})]
    learnt = client.forward_backward(data, loss, config).result()
    only = client.forward(data, loss, config).result()
    assert abs(learnt.metrics["loss:sum"] - only.metrics["loss:sum"]) < 1e-3, (learnt.metrics, only.metrics)
    found["losses"][loss] = learnt.metrics["loss:sum"]
    return [np.asarray(out["logprobs"].data).tolist() for out in learnt.loss_fn_outputs]


for loss, config, inputs in [
    ("cross_entropy", None, dict(weights=[1.0] * length)),
    ("importance_sampling", None, rollout),
    ("ppo", {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}, rollout),
    ("cispo", {"clip_low_threshold": 0.5, "clip_high_threshold": 2.0}, rollout),
    ("dro", {"beta": 0.1}, rollout),
]:
    found["logprobs"] = compute(model, loss, config, inputs)

# A loss of the client's own, where it has PyTorch: as a cross-entropy of its own it has the gradient of ours.
try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    norms = []
    for own in (False, True):
        client = ready(service.create_lora_training_client(base_model="memrl/tiny", rank=4, seed=1))
        data = [datum(text, weights=[1.0] * length)]
        if own:
            client.forward_backward_custom(data, lambda _, logprobs: (-logprobs[0].sum(), {"own": 1.0})).result()
        else:
            client.forward_backward(data, "cross_entropy").result()
        norms.append(client.optim_step(types.AdamParams(learning_rate=1e-3)).result().metrics["optim/grad_norm"])
    assert abs(norms[0] - norms[1]) < 1e-5 * norms[0], norms
    found["custom"] = norms[1]

# Requests that are sent before their results are awaited.
steps = []
for _ in range(3):
    learning = model.forward_backward([datum(text, weights=[1.0] * length)], "cross_entropy")
    step = model.optim_step(types.AdamParams(learning_rate=1e-3, grad_clip_norm=1.0))
    steps.append((learning, step))
found["falling"] = [learning.result().metrics["loss:sum"] for learning, _ in steps]
assert found["falling"][2] < found["falling"][1], found["falling"]
[step.result() for _, step in steps]

# Weights come back with and without the optimizer.
path = model.save_state("saved").result().path
again = ready(service.create_training_client_from_state_with_optimizer(path))
fresh = ready(service.create_training_client_from_state(path))
after = []
for client in (model, again, fresh):
    client.forward_backward([datum(text, weights=[1.0] * length)], "cross_entropy").result()
    client.optim_step(types.AdamParams(learning_rate=1e-3)).result()
    after.append(client.forward([datum(text, weights=[1.0] * length)], "cross_entropy").result().metrics["loss:sum"])
assert after[0] == after[1] and after[0] != after[2], after
found["after"] = after

# Samples: by seed, to a stop, greedily; prompt log-probabilities.
named = model.save_weights_for_sampler("sampler").result().path
sampler = ready(service.create_sampling_client(model_path=named))
prompt = types.ModelInput.from_ints(tokenizer.encode("What is"))


def sampled(client, count=2, **params):
    result = client.sample(prompt=prompt, num_samples=count, sampling_params=types.SamplingParams(**params)).result()
    return [(list(each.tokens), each.stop_reason, [float(lp) for lp in each.logprobs]) for each in result.sequences]


first = sampled(sampler, max_tokens=12, seed=3, temperature=1.0)
assert first == sampled(sampler, max_tokens=12, seed=3, temperature=1.0)
assert first != sampled(sampler, max_tokens=12, seed=4, temperature=1.0)
found["sampled"] = [tokens for tokens, _, _ in first]
stop = tokenizer.decode(first[0][0][2:4])
tokens, reason, _ = sampled(sampler, 1, max_tokens=12, seed=3, temperature=1.0, stop=[stop])[0]
assert reason == "stop" and tokens == first[0][0][: len(tokens)] and len(tokens) <= 4, (tokens, reason)
assert [reason for _, reason, _ in sampled(sampler, 1, max_tokens=5, stop=[])] == ["length"]
greedy = sampled(sampler, max_tokens=6, temperature=0.0)
assert greedy[0] == greedy[1]
assert greedy[0][0] == sampled(sampler, 1, max_tokens=6, top_k=1, seed=9)[0][0]
whole = types.ModelInput.from_ints(prompt.to_ints() + greedy[0][0])
scores = sampler.compute_logprobs(whole).result()
assert scores[0] is None and np.allclose(scores[-6:], greedy[0][2], atol=1e-4), (scores, greedy[0])
ephemeral = ready(model.save_weights_and_get_sampling_client())
assert sampled(ephemeral, max_tokens=12, seed=3, temperature=1.0) == first
# As another process would have it.
assert sampled(pickle.loads(pickle.dumps(sampler)), max_tokens=12, seed=3, temperature=1.0) == first

# What there is.
rest = service.create_rest_client()
assert {path, named} <= {each.tinker_path for each in rest.list_user_checkpoints().result().checkpoints}
assert len(rest.list_training_runs(limit=1).result().training_runs) == 1
rest.set_checkpoint_ttl_from_tinker_path(path, 3600).result()
assert rest.get_training_run_by_tinker_path(path).result().last_checkpoint.expires_at is not None

# A loss that only the newest versions know, on a model of its own: the numbers of the others stay comparable.
if hasattr(types, "SampledProvenanceSpan"):
    newest = ready(service.create_lora_training_client(base_model="memrl/tiny", rank=4, seed=1))
    compute(newest, "gspo", {"clip_high_threshold": 1.5}, dict(rollout, sequence_ratio_mask=[1.0] * length))

# What is wrong is said, and the session goes on.
try:
    fresh.forward_backward([datum([5, 6, 100000], weights=[1.0, 1.0])], "cross_entropy").result()
    raise AssertionError("A token that there is not was learnt.")
except Exception as error:
    assert "vocabulary" in str(error), error
fresh.forward([datum(text, weights=[1.0] * length)], "cross_entropy").result()
print(json.dumps(found))
