import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createEngine } from '../src/lab/engine/create-engine.js';
import { initialWeights } from '../src/lab/engine/initial-weights.js';
import { characterFiles } from '../src/lab/hugging-face/character-tokenizer.js';
import { saveModel } from '../src/lab/hugging-face/directory.js';
import { importanceSampling } from '../src/lab/objectives/objectives.js';
import { rng } from '../src/lab/rng.js';
import { EngineService } from '../src/lab/service/engine-service.js';
import type { TrainingService } from '../src/lab/service/service.js';
import { RemoteService } from '../src/lab/tinker/client/remote-service.js';
import { busyLines } from './support/busy.js';
import { median } from './support/quantile.js';
import { workloads } from './support/workloads.js';

/** Of the time over HTTP to that in this process. */
const budget = 1.15;
const rounds = 5;
const { shape, step } = workloads.W2;
const adam = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

/** Milliseconds of the parts of a step, and of the processors in all of it. */
type Parts = { readonly sample: number; readonly train: number; readonly adam: number; readonly cpu: number };

/** A step of W2 (sampling, forward and backward, Adam on all weights) over HTTP on `memrl serve`, beside the same step in this process. */
export async function benchTinker(): Promise<string[]> {
  const directory = mkdtempSync(join(tmpdir(), 'memrl-bench-'));
  const random = rng(1, 'bench');
  const weights = initialWeights(shape, () => random.next());
  saveModel(join(directory, 'model'), { config: { shape, beginning: null, endings: [] }, weights });
  for (const [name, text] of characterFiles) writeFileSync(join(directory, 'model', name), text);
  const engine = await createEngine(shape, { threads: 1 });
  await engine.loadWeights(weights);
  const here = new EngineService(engine);
  const { url, pid, end } = await serving(directory);
  const cpu = () => ownCpu() + cpuOf(pid);
  try {
    const connection = { baseUrl: url, key: 'tml-bench', wait: pause, fetch };
    const there = await RemoteService.open(connection, { model: join(directory, 'model'), rank: 0, seed: 0 });
    const steps: { here: Parts; there: Parts }[] = [];
    for (let round = 0; round <= rounds; round++) {
      steps.push({ here: await take(here, round, cpu), there: await take(there, round, cpu) });
    }
    await there.close();
    return lines(steps.slice(1));
  } finally {
    await end();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function serving(directory: string): Promise<{ url: string; pid: number; end: () => Promise<void> }> {
  const program = fileURLToPath(new URL('memrl.js', import.meta.url));
  const keys = [`model=${directory}/model`, 'port=0', `dir=${directory}/serve`, 'engine=wasm', 'threads=1'];
  const child = spawn(process.execPath, [program, 'serve', ...keys], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = async () => {
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /http:\S+/.exec(line)?.[0];
    if (url === undefined) continue;
    child.stdout.resume();
    return { url, pid: child.pid!, end };
  }
  throw new Error('memrl serve ended before it served.');
}

async function take(service: TrainingService, round: number, cpu: () => number): Promise<Parts> {
  const random = rng(round, 'bench tinker');
  const prompts = Array.from({ length: step.sequences }, () => ({
    tokens: Int32Array.from({ length: step.prompt }, () => random.below(shape.vocabulary)),
    seed: random.below(2 ** 31),
  }));
  const [began, before] = [performance.now(), cpu()];
  const drawn = await service.sample({ prompts, sampling: { maxTokens: step.sampled, temperature: 1 } });
  const sampled = performance.now();
  const datums = drawn.map(({ tokens, logprobs }, at) => ({
    prompt: prompts[at]!.tokens,
    tokens,
    weights: new Float32Array(tokens.length).fill(1),
    advantages: new Float32Array(tokens.length).fill((at % 2) - 0.5),
    logprobs,
  }));
  const learning = service.forwardBackward(datums, { objective: importanceSampling });
  const stepping = service.optimStep(adam);
  await learning;
  const trained = performance.now();
  await stepping;
  return { sample: sampled - began, train: trained - sampled, adam: performance.now() - trained, cpu: cpu() - before };
}

function ownCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds of all threads of a process; 0 where there is no /proc. Its clock ticks a hundred times a second. */
function cpuOf(pid: number): number {
  const path = `/proc/${pid}/stat`;
  if (!existsSync(path)) return 0;
  const fields = readFileSync(path, 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

function lines(steps: readonly { here: Parts; there: Parts }[]): string[] {
  const whole = ({ sample, train, adam: last }: Parts) => sample + train + last;
  const ratio = (of: (parts: Parts) => number) =>
    median(steps.map(({ here, there }) => of(there) / of(here))).toFixed(2);
  const row = (name: string, parts: readonly Parts[]) => {
    const columns = [({ sample }: Parts) => sample, ({ train }: Parts) => train, whole, ({ cpu }: Parts) => cpu];
    return `${name.padEnd(28)}${columns.map((of) => median(parts.map(of)).toFixed(0).padStart(11)).join('')}`;
  };
  return [
    'ms of a step of W2, medians     sample      train      whole  processor',
    row(
      'in this process',
      steps.map(({ here }) => here),
    ),
    row(
      'over HTTP',
      steps.map(({ there }) => there),
    ),
    `over HTTP to in this process: ${ratio(whole)} (budget ${budget}), of the processor ${ratio(({ cpu }) => cpu)}`,
    ...busyLines(),
  ];
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
