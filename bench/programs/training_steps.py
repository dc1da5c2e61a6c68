"""Policy-gradient steps in PyTorch, as bench/programs/training-steps.ts takes them: what the engine is measured beside.

Eager, with a key-value cache, fused attention and fused Adam on one flat vector. Usage: training_steps.py THREADS. Says what it
computes with, then for each line "W1 STEPS" the mean milliseconds of the parts of a step and of the processor, as JSON.
"""

import json
import re
import sys
import time
import warnings

warnings.filterwarnings("ignore")
import torch
import torch.nn.functional as F

THREADS = int(sys.argv[1])
torch.set_num_threads(THREADS)
torch.manual_seed(1)

WORKLOADS = json.loads(sys.argv[2])


class Model:
    def __init__(self, vocabulary, width, layers, heads, kv_heads, feed_forward):
        self.vocabulary, self.width, self.layers = vocabulary, width, layers
        self.heads, self.kv_heads, self.head = heads, kv_heads, width // heads
        kv = self.head * kv_heads
        shapes = {"embedding": (vocabulary, width), "norm": (width,)}
        for i in range(layers):
            shapes[f"norm1.{i}"] = (width,)
            shapes[f"qkv.{i}"] = (width, width + 2 * kv)
            shapes[f"output.{i}"] = (width, width)
            shapes[f"norm2.{i}"] = (width,)
            shapes[f"gate_up.{i}"] = (width, 2 * feed_forward)
            shapes[f"down.{i}"] = (feed_forward, width)
        sizes = {name: torch.Size(shape).numel() for name, shape in shapes.items()}
        self.flat = torch.zeros(sum(sizes.values()))
        self.flat.grad = torch.zeros_like(self.flat)
        self.w, at = {}, 0
        for name, shape in shapes.items():
            part = slice(at, at + sizes[name])
            at += sizes[name]
            view = self.flat[part].view(shape)
            view.copy_(torch.ones(shape) if "norm" in name else 0.02 * torch.randn(shape))
            self.w[name] = view.detach().requires_grad_(True)
            self.w[name].grad = self.flat.grad[part].view(shape)
        self.feed_forward = feed_forward
        self.adam = torch.optim.Adam([self.flat], lr=1e-4, betas=(0.9, 0.95), fused=True)
        half = self.head // 2
        angle = torch.arange(256)[:, None] * 10000.0 ** (-torch.arange(half) / half)
        self.cos = torch.cat([angle.cos(), angle.cos()], 1)
        self.sin = torch.cat([-angle.sin(), angle.sin()], 1)

    def rotate(self, x, first):
        rows, half = x.shape[-2], self.head // 2
        turned = torch.cat([x[..., half:], x[..., :half]], -1)
        return x * self.cos[first : first + rows] + turned * self.sin[first : first + rows]

    def layer(self, i, x, cache, first):
        batch, rows, width = x.shape
        w, head, kv = self.w, self.head, self.kv_heads
        qkv = F.rms_norm(x, (width,), w[f"norm1.{i}"], 1e-5) @ w[f"qkv.{i}"]
        qkv = qkv.view(batch, rows, self.heads + 2 * kv, head).transpose(1, 2)
        turned = self.rotate(qkv[:, : self.heads + kv], first)
        q, k, v = turned[:, : self.heads], turned[:, self.heads :], qkv[:, self.heads + kv :]
        if cache is not None:
            keys, values = cache[i]
            keys[:, :, first : first + rows], values[:, :, first : first + rows] = k, v
            k, v = keys[:, :, : first + rows], values[:, :, : first + rows]
        out = F.scaled_dot_product_attention(q, k, v, is_causal=rows > 1, enable_gqa=kv != self.heads)
        x = x + out.transpose(1, 2).reshape(batch, rows, width) @ w[f"output.{i}"]
        gate, up = (F.rms_norm(x, (width,), w[f"norm2.{i}"], 1e-5) @ w[f"gate_up.{i}"]).chunk(2, -1)
        return x + (F.silu(gate) * up) @ w[f"down.{i}"]

    def logprobs(self, tokens, first_head, cache=None, first=0):
        x = self.w["embedding"][tokens]
        for i in range(self.layers):
            x = self.layer(i, x, cache, first)
        x = F.rms_norm(x[:, first_head:], (self.width,), self.w["norm"], 1e-5)
        return torch.log_softmax(x @ self.w["embedding"].t(), -1)

    @torch.no_grad()
    def generate(self, prompts, count):
        batch, length = prompts.shape
        room = (batch, self.kv_heads, length + count, self.head)
        cache = [(torch.empty(room), torch.empty(room)) for _ in range(self.layers)]
        tokens = torch.empty(batch, length + count, dtype=torch.long)
        tokens[:, :length] = prompts
        drawn = torch.empty(batch, count)
        table = self.logprobs(prompts, length - 1, cache)[:, 0]
        for n in range(length, length + count):
            chosen = torch.multinomial(table.exp(), 1)
            tokens[:, n] = chosen[:, 0]
            drawn[:, n - length] = table.gather(1, chosen)[:, 0]
            if n + 1 < length + count:
                table = self.logprobs(tokens[:, n : n + 1], 0, cache, n)[:, 0]
        return tokens, drawn

    def step(self, sequences, prompt, sampled, shared):
        began = time.perf_counter()
        prompts = torch.randint(self.vocabulary, (1 if shared else sequences, prompt)).expand(sequences, prompt)
        tokens, drawn = self.generate(prompts, sampled)
        generated = time.perf_counter()
        advantages = torch.rand(sequences, 1) - 0.5
        chosen = self.logprobs(tokens[:, :-1], prompt - 1).gather(2, tokens[:, prompt:, None])[..., 0]
        loss = -(torch.exp(chosen - drawn) * advantages).sum()
        loss.backward()
        trained = time.perf_counter()
        self.adam.step()
        self.flat.grad.zero_()
        return generated - began, trained - generated, time.perf_counter() - trained


mkl = re.search(r"Math Kernel Library Version (\S+)", torch.__config__.show())
blas = f"MKL {mkl[1]}" if mkl else "no MKL"
print(json.dumps({"on": f"PyTorch {torch.__version__}, {blas}, threads: {THREADS}"}), flush=True)
models = {}
for line in sys.stdin:
    name, steps = line.split()
    workload = WORKLOADS[name]
    if name not in models:
        models[name] = Model(**workload["shape"])
    cpu = time.process_time()
    times = [models[name].step(**workload["step"]) for _ in range(int(steps))]
    cpu = 1000 * (time.process_time() - cpu) / len(times)
    sample, train, adam = (1000 * sum(part) / len(times) for part in zip(*times))
    print(json.dumps({"sample": sample, "train": train, "adam": adam, "cpu": cpu}), flush=True)
