import { importModule } from '../../base/import-module.js';
import { availableParallelism } from 'node:os';
import { UserError } from '../../base/user-error.js';
import { createEngine } from './create-engine.js';
import type { Engine, ModelShape } from './engine.js';
import { parameterCount } from './layout.js';
import { backendNames, openBackend, type Attempt, type BackendName } from './tfjs/backends.js';
import { TfjsEngine } from './tfjs/tfjs-engine.js';

/**
 * What may be asked for. `wasm`: our kernels, the same bits on every machine. `tfjs`: TensorFlow.js, the first backend that works.
 */
export const engineChoices = ['auto', 'wasm', 'tfjs'] as const;
export type EngineChoice = (typeof engineChoices)[number];

/** What was chosen, in words what it computes on, and why. `backend`: of TensorFlow.js; null for our kernels. */
type Choice = { readonly backend: Ready | null; readonly on: string; readonly why: string };

/** `threads`: of our kernels; null leaves the number to us. */
export type EngineWish = {
  readonly engine: EngineChoice;
  readonly threads: number | null;
  /** Whether tokens are drawn with a repetition penalty, which TensorFlow.js has not. */
  readonly penalizes?: boolean;
  /** Backend with which the run began that is now continued: `auto` stays with it, as another has other bits. */
  readonly began?: string | null;
};

type Ready = Attempt & { kind: 'ready' };

/** What there is to choose among. Tests give their own. */
type EngineSources = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly open?: (name: BackendName) => Promise<Attempt>;
  /** That this process may use; default: what the system says. */
  readonly cores?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
};

/** The backends that may have a GPU. */
const gpuBackends: readonly BackendName[] = ['tfjs-node-gpu', 'tfjs-webgpu'];

/** Below it, threads gain nothing: calls are so small that to wake a thread takes longer. */
const SMALL_MODEL = 500_000;
/** Our kernels do not gain from more. */
const MOST_THREADS = 8;

/** The engine for a model of this shape. @throws UserError when what was asked for cannot compute here. */
export async function chooseEngine(shape: ModelShape, wish: EngineWish, sources: EngineSources): Promise<Chosen> {
  const choice = withNeeds(wish) ?? (await chooseBackend(wish.engine, sources));
  const { backend } = choice;
  if (backend === null) return ours(shape, wish, { choice, sources });
  const theirs = { ...choice, threads: null, engine: new TfjsEngine(backend.device, shape) };
  if (wish.engine !== 'auto' || wish.began != null) return theirs;
  const own = await ours(shape, wish, { choice: ownKernels(''), sources });
  const [onGpu, here] = [await stepTime(theirs.engine, sources), await stepTime(own.engine, sources)];
  const [kept, left] = onGpu <= here ? [theirs, own] : [own, theirs];
  await left.engine.dispose();
  const times = `${Math.min(onGpu, here).toFixed(1)} ms beside ${Math.max(onGpu, here).toFixed(1)} ms`;
  return { ...kept, why: `auto: a small step takes ${times} on ${left.on}` };
}

type Chosen = Choice & { readonly engine: Engine; readonly threads: number | null };

async function ours(
  shape: ModelShape,
  wish: EngineWish,
  { choice, sources }: { readonly choice: Choice; readonly sources: EngineSources },
): Promise<Chosen> {
  const threads = wish.threads ?? usualThreads(shape, sources);
  const engine = await createEngine(shape, { threads });
  return { ...choice, on: threads === 1 ? choice.on : `${choice.on}, ${threads} threads`, threads, engine };
}

/** Our kernels where only they can do what is wanted, or began it; null: nothing speaks for them. */
function withNeeds({ engine, penalizes = false, began = null }: EngineWish): Choice | null {
  if (engine !== 'auto') return null;
  if (penalizes) return ownKernels('auto: TensorFlow.js draws without a repetition penalty');
  return began === 'wasm' ? ownKernels('auto: as the run began') : null;
}

/** What a step is measured on: small, so that it is known soon, and of the kind that runs have. */
const measured = { prompts: 16, promptTokens: 8, newTokens: 8, rounds: 2 } as const;

/** Milliseconds in which the engine writes a few sequences and learns from them; the first time, when programs are compiled, does not count. */
async function stepTime(engine: Engine, { now = () => performance.now() }: EngineSources): Promise<number> {
  const tokens = Int32Array.from({ length: measured.promptTokens }, (_, at) => at % engine.shape.vocabulary);
  const prompts = Array.from({ length: measured.prompts }, (_, seed) => ({ tokens, seed }));
  let least = Infinity;
  for (let round = 0; round <= measured.rounds; round++) {
    const start = now();
    const written = await engine.generate(prompts, { maxTokens: measured.newTokens, temperature: 1 });
    const { logprobs } = await engine.forward([{ prompt: tokens, continuations: written.map((each) => each.tokens) }]);
    await engine.backward(new Float32Array(logprobs.length).fill(1), null);
    await engine.gradient();
    const spent = now() - start;
    if (round > 0) least = Math.min(least, spent);
  }
  await engine.clearGradient();
  return least;
}

/** As many as the manager, or the person, allows this process (OMP_NUM_THREADS), else one for each core. */
function usualThreads(shape: ModelShape, { environment, cores = availableParallelism() }: EngineSources): number {
  if (parameterCount(shape) < SMALL_MODEL) return 1;
  const allowed = /^\s*([1-9]\d{0,5})\s*(?:,|$)/.exec(environment['OMP_NUM_THREADS'] ?? '')?.[1];
  return Math.min(allowed === undefined ? cores : Number(allowed), MOST_THREADS);
}

/** `auto` takes TensorFlow.js where it has a GPU, and else our kernels; which of the two is faster there is for others to measure. */
async function chooseBackend(wish: EngineChoice, sources: EngineSources): Promise<Choice> {
  const { environment, open = (name) => openBackend(name, { environment, load: importModule }) } = sources;
  if (wish === 'wasm') return ownKernels('engine=wasm');
  if (wish === 'tfjs') return anyTfjs(await firstThat(isReady, backendNames, open));
  if (isWithoutGpu(environment)) return ownKernels('auto: this process was given no GPU');
  const attempts = await firstThat(isOnGpu, gpuBackends, open);
  const last = attempts.at(-1)!;
  if (isReady(last) && isOnGpu(last)) return tfjs(last, 'auto: there is a GPU');
  return ownKernels(`auto: no GPU for TensorFlow.js${passedOver(attempts)}`);
}

function anyTfjs(attempts: readonly Attempt[]): Choice {
  const last = attempts.at(-1)!;
  if (isReady(last)) return tfjs(last, `engine=tfjs, the first that works${passedOver(attempts.slice(0, -1))}`);
  throw new UserError(
    `engine=tfjs was asked for, but TensorFlow.js cannot compute here${passedOver(attempts)}.`,
    'Install it as docs/engines.md says, or leave engine=auto.',
  );
}

function tfjs(backend: Ready, why: string): Choice {
  return { backend, on: `${backend.name}, ${backend.where.words}`, why };
}

function ownKernels(why: string): Choice {
  return { backend: null, on: 'our WebAssembly kernels', why };
}

/** Tries backends until one is what is wanted, which is then the last. */
async function firstThat(
  isWanted: (attempt: Attempt) => boolean,
  names: readonly BackendName[],
  open: (name: BackendName) => Promise<Attempt>,
): Promise<Attempt[]> {
  const attempts: Attempt[] = [];
  for (const name of names) {
    const attempt = await open(name);
    attempts.push(attempt);
    if (isWanted(attempt)) break;
  }
  return attempts;
}

function isReady(attempt: Attempt): attempt is Ready {
  return attempt.kind === 'ready';
}

function isOnGpu(attempt: Attempt): boolean {
  return attempt.kind === 'ready' && attempt.where.isGpu;
}

/** The manager says so to a run on a CPU slot: an empty list of devices. */
function isWithoutGpu(environment: EngineSources['environment']): boolean {
  return ['', '-1'].includes(environment['CUDA_VISIBLE_DEVICES'] ?? 'all');
}

/** Why those that come first in the order were not taken. */
function passedOver(attempts: readonly Attempt[]): string {
  const reasons = attempts.flatMap((attempt) => {
    if (attempt.kind === 'absent') {
      return [attempt.why.includes(attempt.name) ? attempt.why : `${attempt.name}: ${attempt.why}`];
    }
    return attempt.where.isGpu ? [] : [`${attempt.name}: ${attempt.where.words}`];
  });
  return reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
}
