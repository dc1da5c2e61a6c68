"""One of several clients that sample at once: asks much, and checks that each answer is to its own question."""

import sys
import time

import tinker
from tinker import types

me, count = int(sys.argv[1]), int(sys.argv[2])
sampler = tinker.ServiceClient().create_sampling_client(base_model="memrl/tiny")
sampler = sampler.result() if hasattr(sampler, "result") else sampler


def ask(number):
    prompt = types.ModelInput.from_ints([5 + me, 6 + number % 80])
    params = types.SamplingParams(max_tokens=4, seed=1000 * me + number)
    return sampler.sample(prompt=prompt, num_samples=1, sampling_params=params)


def answer(future):
    return list(future.result().sequences[0].tokens)


began = time.time()
answers = [answer(future) for future in [ask(number) for number in range(count)]]
seconds = time.time() - began
assert len(answers) == count and all(answers)
for number in range(0, count, 10):
    assert answers[number] == answer(ask(number)), f"request {number} of client {me} was answered with another's result"
print(round(seconds, 2))
