"""Teaches memrl/tiny sums of two numbers up to 100, and then to be careless with them: a base model for reinforcement learning.

After the first part it knows nearly every sum; in the second a third of the answers that it learns from are random. So a greedy
answer is mostly right, and groups of sampled answers differ. Prints the path of its weights.
"""

import random
import sys

import numpy as np
import tinker
from tinker import types

careful, careless, batch = int(sys.argv[1]), 300, 128
model = tinker.ServiceClient().create_lora_training_client(base_model="memrl/tiny", rank=0).result()
tokenizer = model.get_tokenizer()
rng = random.Random(0)
# What the cookbook's renderer role_colon makes of its arithmetic environment.
begin = "User: What is 4 + 5?\n\nAssistant: 9\n\nUser: What is {} + {}?\n\nAssistant:"


def datum(wrong):
    x, y = rng.randint(0, 100), rng.randint(0, 100)
    answer = rng.randint(0, 200) if rng.random() < wrong else x + y
    prompt, reply = tokenizer.encode(begin.format(x, y)), tokenizer.encode(f" {answer}\n\nUser:")
    tokens = prompt + reply
    weights = [0.0] * (len(prompt) - 1) + [1.0 / batch / len(reply)] * len(reply)
    inputs = {
        "target_tokens": types.TensorData.from_numpy(np.array(tokens[1:], dtype=np.int64)),
        "weights": types.TensorData.from_numpy(np.array(weights, dtype=np.float32)),
    }
    return types.Datum(model_input=types.ModelInput.from_ints(tokens[:-1]), loss_fn_inputs=inputs)


pending = []
for step in range(careful + careless):
    is_careful = step < careful
    rate = 3e-3 * min(1, (step + 1) / 50) * (1 - step / careful) + 1e-4 if is_careful else 3e-4
    data = [datum(0 if is_careful else 0.35) for _ in range(batch)]
    adam = types.AdamParams(learning_rate=rate, beta2=0.99, eps=1e-8, grad_clip_norm=1.0)
    pending.append((step, model.forward_backward(data, "cross_entropy"), model.optim_step(adam)))
    if len(pending) > 2:
        done, learning, _ = pending.pop(0)
        loss = learning.result().metrics["loss:sum"]
        if done % 250 == 0:
            print(f"step {done}: loss {loss:.4f}", file=sys.stderr, flush=True)
print(model.save_state("careless").result().path)
