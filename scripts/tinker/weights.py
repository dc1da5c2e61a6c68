"""Weights leave a running `memrl serve` by the cookbook's own way: `weights.download`, `build_lora_adapter`, `build_hf_model`.

What PEFT and transformers open must compute what the service computes: the log-probabilities of the whole vocabulary at every place of
a text. Prints the greatest differences, as shares of the greatest log-probability, as one line of JSON. TINKER_BASE_URL and TINKER_API_KEY say where.
"""

import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
import tinker
import torch
from peft import AutoPeftModelForCausalLM, PeftModel
from tinker import types
from tinker_cookbook import weights
from transformers import AutoModelForCausalLM

warnings.simplefilter("ignore")
service = tinker.ServiceClient()
place = Path(tempfile.mkdtemp())


def trained(**settings):
    """A model after some steps that are large enough to change all that it says."""
    model = service.create_lora_training_client(base_model="memrl/tiny", **settings).result()
    tokens = model.get_tokenizer().encode("What is 3 + 4? It is 7.")
    inputs = {"target_tokens": types.TensorData.from_numpy(np.array(tokens[1:], dtype=np.int64))}
    datum = types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs)
    for _ in range(10):
        model.forward_backward([datum], "cross_entropy")
        model.optim_step(types.AdamParams(learning_rate=1e-2)).result()
    return model, tokens


def of_service(model, tokens):
    """Log-probabilities of the whole vocabulary at every place but the first."""
    sampler = model.save_weights_and_get_sampling_client().result()
    vocabulary = len(model.get_tokenizer())
    ids = torch.arange(vocabulary).repeat(len(tokens) - 1, 1)
    prompt, one = types.ModelInput.from_ints(tokens), types.SamplingParams(max_tokens=1)
    wanted = types.TensorData.from_torch(ids)
    return sampler.sample(prompt, 1, one, target_prompt_logprobs=wanted).result().target_prompt_logprobs.to_torch()


def difference(opened, tokens, expected):
    with torch.no_grad():
        logits = opened.eval()(torch.tensor([tokens[:-1]])).logits[0]
    return float((torch.log_softmax(logits, -1) - expected).abs().max() / expected.abs().max())


found = {}
model, tokens = trained(rank=8, seed=1)
expected = of_service(model, tokens)
base = model.get_info().model_data.tokenizer_id
plain = AutoModelForCausalLM.from_pretrained(base)
found["base model, which must differ"] = difference(plain, tokens, expected)
saved = model.save_state("trained").result().path
for kind, path in (("training", saved), ("external", model.save_weights_external("trained").result().path)):
    raw, adapter = str(place / f"raw-{kind}"), str(place / f"adapter-{kind}")
    weights.download(tinker_path=path, output_dir=raw)
    weights.build_lora_adapter(base_model=base, adapter_path=raw, output_path=adapter)
    opened = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), adapter)
    found[f"build_lora_adapter of {kind} weights"] = difference(opened, tokens, expected)
found["the download itself"] = difference(AutoPeftModelForCausalLM.from_pretrained(raw), tokens, expected)
merged = str(place / "merged")
weights.build_hf_model(base_model=base, adapter_path=raw, output_path=merged)
found["build_hf_model"] = difference(AutoModelForCausalLM.from_pretrained(merged), tokens, expected)

# All weights trained: a model of transformers.
whole, tokens = trained(rank=0)
expected = of_service(whole, tokens)
weights.download(tinker_path=whole.save_state("whole").result().path, output_dir=str(place / "whole"))
found["rank=0"] = difference(AutoModelForCausalLM.from_pretrained(place / "whole"), tokens, expected)
print(json.dumps(found))
