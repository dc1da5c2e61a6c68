import { importModule } from '../../base/import-module.js';
import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import { chooseEngine } from '../engine/choose-engine.js';
import { createEngine } from '../engine/create-engine.js';
import type { Engine, ModelShape } from '../engine/engine.js';
import { initialWeights } from '../engine/initial-weights.js';
import { presets } from '../engine/model-shape.js';
import { type Attempt, type BackendName, backendNames, openBackend } from '../engine/tfjs/backends.js';
import { TfjsEngine } from '../engine/tfjs/tfjs-engine.js';
import { rng, type Rng } from '../rng.js';
import type { ProcessContext, StopSignal } from '../run/process-context.js';
import type { benchKeys } from './keys.js';

type BenchConfig = Config<typeof benchKeys>;

/** Result of a benchmark. Times: ms per step. */
export type BenchReport = {
  readonly model: string;
  readonly parameters: number;
  readonly step: StepSize;
  readonly rounds: number;
  readonly engines: readonly EngineTiming[];
  readonly absent: readonly { readonly engine: string; readonly why: string }[];
  /** The choice of `engine=auto` on this machine. */
  readonly auto: { readonly engine: string; readonly why: string };
};

/** `median`, `least` and `most` are over the rounds, and each round's number is the mean over its steps. */
type EngineTiming = {
  readonly engine: string;
  readonly on: string;
  readonly median: number;
  readonly least: number;
  readonly most: number;
  /** Steps in all rounds together. */
  readonly steps: number;
};

type TimedEngine = { readonly engine: Engine; readonly on: string; readonly rounds: Round[] };
type Round = { readonly steps: number; readonly ms: number };

/** The process of a benchmark. `open` tries a backend; tests pass their own. */
export type BenchContext = ProcessContext & { readonly open?: (name: BackendName) => Promise<Attempt> };

/**
 * Milliseconds after which a round of a slow engine ends, so that an engine that takes seconds a step does not take
 * minutes.
 */
const ROUND_MS = 1000;

/**
 * Measures every engine of this machine, one after the other in each round.
 * @returns the signal that interrupted it, if one did.
 */
export async function bench(config: BenchConfig, context: BenchContext): Promise<BenchReport | StopSignal> {
  const shape = presets[config.model_name];
  checkContext(shape, config);
  const attempts = await tryAll(context);
  const contestants = await enter(shape, attempts, config.seed);
  try {
    const signal = await runRounds(contestants, config, context);
    if (signal !== null) return signal;
  } finally {
    for (const { engine } of contestants) if (engine instanceof TfjsEngine) await engine.dispose();
  }
  const open = async (name: BackendName) => attempts.find((attempt) => attempt.name === name)!;
  const { environment, now } = context;
  const auto = await chooseEngine(shape, { engine: 'auto', threads: null }, { environment, open, now });
  await auto.engine.dispose();
  return {
    model: config.model_name,
    parameters: contestants[0]!.engine.parameterCount,
    step: stepSize(config),
    rounds: config.rounds,
    engines: contestants.map(timingOf),
    absent: attempts.flatMap((attempt) =>
      attempt.kind === 'absent' ? [{ engine: attempt.name, why: attempt.why }] : [],
    ),
    auto: { engine: auto.engine.backend, why: auto.why },
  };
}

function stepSize({ group_size: sequences, prompt_tokens: prompt, sampled_tokens: sampled }: BenchConfig): StepSize {
  return { sequences, prompt, sampled };
}

/** Runs a round to warm up (compilers, caches, tables), and then the measured rounds. */
async function runRounds(
  contestants: readonly TimedEngine[],
  config: BenchConfig,
  context: ProcessContext,
): Promise<StopSignal | null> {
  const runners = contestants.map((contestant) => roundRunner(contestant, config, context));
  for (let round = 0; round <= config.rounds; round++) {
    for (const [index, runRound] of runners.entries()) {
      const done = await runRound();
      if (typeof done === 'string') return done;
      if (round > 0) contestants[index]!.rounds.push(done);
    }
  }
  return null;
}

function checkContext({ context }: ModelShape, { prompt_tokens: prompt, sampled_tokens: sampled }: BenchConfig): void {
  if (prompt + sampled <= context) return;
  throw new UserError(
    `A sequence of ${prompt + sampled} tokens is longer than the model's context, ${context}.`,
    'Set prompt_tokens or sampled_tokens to less.',
  );
}

/** Both packages for Node bring the same TensorFlow: the second is not loaded beside the first. */
async function tryAll({ environment, open }: BenchContext): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const name of backendNames) {
    const isSecond = name === 'tfjs-node' && attempts[0]!.kind === 'ready';
    const attempt: Attempt = isSecond
      ? { name, kind: 'absent', why: 'tfjs-node-gpu is here, and has the same' }
      : await (open?.(name) ?? openBackend(name, { environment, load: importModule }));
    attempts.push(attempt);
  }
  return attempts;
}

/** Our engine and one for each backend, all with the same weights. */
async function enter(shape: ModelShape, attempts: readonly Attempt[], seed: number): Promise<TimedEngine[]> {
  const contestants: TimedEngine[] = [{ engine: await createEngine(shape), on: 'our WebAssembly kernels', rounds: [] }];
  for (const attempt of attempts) {
    if (attempt.kind === 'absent') continue;
    contestants.push({ engine: new TfjsEngine(attempt.device, shape), on: attempt.where.words, rounds: [] });
  }
  const random = rng(seed, 'initial weights');
  const weights = initialWeights(shape, () => random.next());
  for (const { engine } of contestants) await engine.loadWeights(weights);
  return contestants;
}

/** Runs one engine's rounds. Every engine gets the same prompts and random numbers. */
function roundRunner(
  { engine }: TimedEngine,
  config: BenchConfig,
  context: ProcessContext,
): () => Promise<Round | StopSignal> {
  const random = rng(config.seed, 'bench');
  return async () => {
    let [steps, ms] = [0, 0];
    while (steps < config.steps && ms < ROUND_MS) {
      const signal = await context.stopAsked();
      if (signal !== null) return signal;
      const began = context.now();
      await trainingStep(engine, stepSize(config), random);
      ms += context.now() - began;
      steps++;
    }
    return { steps, ms };
  };
}

function timingOf({ engine, on, rounds }: TimedEngine): EngineTiming {
  const times = rounds.map(({ steps, ms }) => ms / steps).sort((a, b) => a - b);
  const [low, high] = [times[(times.length - 1) >> 1]!, times[times.length >> 1]!];
  const steps = rounds.reduce((sum, round) => sum + round.steps, 0);
  return { engine: engine.backend, on, median: (low + high) / 2, least: times[0]!, most: times.at(-1)!, steps };
}

/** The report as lines of text. */
export function benchLines({ model, parameters, step, rounds, engines, absent, auto }: BenchReport): string[] {
  const width = Math.max(...[...engines, ...absent].map(({ engine }) => engine.length));
  const fastest = engines.reduce((best, engine) => (engine.median < best.median ? engine : best));
  const chosen = engines.find(({ engine }) => engine === auto.engine)!;
  const slower = chosen.median / fastest.median;
  return [
    `${model}, ${parameters} parameters; a step: ${step.sequences} × ${step.sampled} tokens sampled after a prompt of ${step.prompt}, one update`,
    `${rounds} rounds, one engine after the other; ms per step, median of the rounds and their range`,
    '',
    ...engines.map(
      ({ engine, median, least, most, on }) =>
        `  ${engine.padEnd(width)}  ${ms(median).padStart(8)}  ${`${ms(least)} to ${ms(most)}`.padEnd(20)}  ${on}`,
    ),
    ...absent.map(({ engine, why }) => `  ${engine.padEnd(width)}  ${'–'.padStart(8)}  ${''.padEnd(20)}  ${why}`),
    '',
    `engine=auto is ${auto.engine} here · ${auto.why}`,
    ...(slower < 1.05
      ? []
      : [`${fastest.engine} is ${slower.toFixed(1)} times as fast at this size; engine=wasm and engine=tfjs choose.`]),
  ];
}

function ms(value: number): string {
  return value < 10 ? value.toFixed(3) : value.toFixed(1);
}

/** Size of a step: a group of sequences sampled from a prompt, and one update on them. */
type StepSize = { readonly sequences: number; readonly prompt: number; readonly sampled: number };

const adam = { learningRate: 1e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8 };

/** Samples, runs forward and backward, and takes one Adam step: policy gradient on advantages drawn at random. */
export async function trainingStep(
  engine: Engine,
  { sequences, prompt, sampled }: StepSize,
  random: Rng,
): Promise<void> {
  const tokens = Int32Array.from({ length: prompt }, () => random.below(engine.shape.vocabulary));
  const continuations = await sample(engine, tokens, { sequences, sampled }, random);
  const { logprobs } = await engine.forward([{ prompt: tokens, continuations }]);
  const advantages = continuations.map(() => random.next() - 0.5);
  // The ratio of tokens just sampled is 1.
  await engine.backward(
    logprobs.map((_, token) => -advantages[Math.floor(token / sampled)]!),
    null,
  );
  await engine.adam(adam);
}

async function sample(
  engine: Engine,
  prompt: Int32Array,
  { sequences, sampled }: Omit<StepSize, 'prompt'>,
  random: Rng,
): Promise<Int32Array[]> {
  const decoder = await engine.decoder(prompt, sequences);
  const drawn = Array.from({ length: sequences }, () => new Int32Array(sampled));
  for (let token = 0; token < sampled; token++) {
    const uniforms = Array.from({ length: sequences }, () => random.next());
    const { tokens } = await decoder.sample(uniforms, 1);
    drawn.forEach((sequence, s) => (sequence[token] = tokens[s]!));
    if (token < sampled - 1) await decoder.extend(Array.from(tokens, (id) => [id]));
  }
  return drawn;
}
