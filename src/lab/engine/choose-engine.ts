import { importModule } from '../../base/import-module.js';
import { availableParallelism } from 'node:os';
import { UserError } from '../../base/user-error.js';
import { createEngine } from './create-engine.js';
import type { Engine, ModelShape } from './engine.js';
import { parameterCount } from './layout.js';
import type { Pause } from './model/steps.js';
import { backendNames, openBackend, type Attempt, type BackendName } from './tfjs/backends.js';
import { TfjsEngine } from './tfjs/tfjs-engine.js';

/**
 * Values of the key `engine`. `wasm`: our kernels, with the same bits on every machine. `tfjs`: TensorFlow.js, on the
 * first backend that works.
 */
export const engineChoices = ['auto', 'wasm', 'tfjs'] as const;
export type EngineChoice = (typeof engineChoices)[number];

/**
 * The engine chosen. `backend`: the backend of TensorFlow.js, null for our kernels. `on`: the hardware in words.
 * `why`: the reason, in words.
 */
type Choice = { readonly backend: Ready | null; readonly on: string; readonly why: string };

/** `threads`: threads of our kernels; null chooses a number for this machine. */
export type EngineRequest = {
  readonly engine: EngineChoice;
  readonly threads: number | null;
  /** Whether tokens are drawn with a repetition penalty, which TensorFlow.js lacks. */
  readonly penalizes?: boolean;
  /** Whether `auto` may take TensorFlow on the processor, too: faster for large models, and with other bits than our kernels. */
  readonly onProcessor?: boolean;
  /** Backend of the run that is being resumed. `auto` stays with it: another backend would give other bits. */
  readonly began?: string | null;
};

type Ready = Attempt & { kind: 'ready' };

/** The machine to choose for. Tests pass their own. */
type EngineSources = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly open?: (name: BackendName) => Promise<Attempt>;
  /** Cores this process may use; default: what the system reports. */
  readonly cores?: number;
  /** Milliseconds, monotonic. */
  readonly now?: () => number;
  /**
   * Measures the ms of a step of such a model on the engines that `open` opens; default: a small step of its first
   * layers. `isGpu`: whether one of the two computes on a GPU.
   */
  readonly time?: typeof smallStepTime;
  /** Called between the steps of long computations. */
  readonly pause?: Pause;
};

/** The backends that may have a GPU. */
const gpuBackends: readonly BackendName[] = ['tfjs-node-gpu', 'tfjs-webgpu'];
const onItsProcessor: BackendName = 'tfjs-node';

/** Parameters below which threads gain nothing: waking a thread takes longer than the call itself. */
const SMALL_MODEL = 500_000;
/** Our kernels gain nothing from more threads. */
const MOST_THREADS = 8;

/** Opens the engine for a model of this shape. @throws UserError when the engine requested cannot compute here. */
export async function chooseEngine(shape: ModelShape, request: EngineRequest, sources: EngineSources): Promise<Chosen> {
  return openEngine(shape, await decideEngine(shape, request, sources), sources);
}

/**
 * Decides what computes models of this shape. Where `auto` has two to choose from, both are measured.
 *
 * @throws UserError when the engine requested cannot compute here.
 */
export async function decideEngine(
  shape: ModelShape,
  request: EngineRequest,
  sources: EngineSources,
): Promise<Decision> {
  const threads = request.threads ?? usualThreads(shape, sources);
  const choice = requiredChoice(request) ?? (await chooseBackend(request, sources));
  if (choice.backend === null) return onThreads(choice, threads);
  const onTfjs = { ...choice, threads: null };
  if (request.engine !== 'auto' || request.began != null) return onTfjs;
  const onKernels = onThreads(ownKernels(''), threads);
  const { now, time = smallStepTime } = sources;
  const { isGpu } = choice.backend.where;
  const timeOf = (decision: Decision) => time(shape, (part) => openEngine(part, decision, sources), { isGpu, now });
  const [tfjsMs, kernelsMs] = [await timeOf(onTfjs), await timeOf(onKernels)];
  const [kept, left] = tfjsMs <= kernelsMs ? [onTfjs, onKernels] : [onKernels, onTfjs];
  const times = `${Math.min(tfjsMs, kernelsMs).toFixed(1)} ms beside ${Math.max(tfjsMs, kernelsMs).toFixed(1)} ms`;
  return { ...kept, why: `auto: a small step takes ${times} on ${left.on}` };
}

/** `threads`: those of our kernels; null for TensorFlow.js. */
type Decision = Choice & { readonly threads: number | null };
type Chosen = Decision & { readonly engine: Engine };

export async function openEngine(
  shape: ModelShape,
  decision: Decision,
  { pause }: Pick<EngineSources, 'pause'>,
): Promise<Chosen> {
  const { backend, threads } = decision;
  if (backend !== null) return { ...decision, engine: new TfjsEngine(backend.device, shape, { pause }) };
  return { ...decision, engine: await createEngine(shape, { threads: threads!, pause }) };
}

function onThreads(choice: Choice, threads: number): Decision {
  return { ...choice, on: threads === 1 ? choice.on : `${choice.on}, ${threads} threads`, threads };
}

/** The choice for `auto` when the run needs our kernels, or began with them; null leaves it to the hardware. */
function requiredChoice({ engine, penalizes = false, began = null }: EngineRequest): Choice | null {
  if (engine !== 'auto') return null;
  if (penalizes) return ownKernels('auto: TensorFlow.js draws without a repetition penalty');
  return began === 'wasm' ? ownKernels('auto: as the run began') : null;
}

/** The training step that is timed: like those of real runs, but short. */
const measured = { layers: 2, prompts: 16, promptTokens: 8, newTokens: 8, rounds: 2 } as const;

/** Length of the warm-up, which is not counted: the first step compiles programs, and code is slow until optimised. */
const WARM_UP_MS = 60;

/** Milliseconds an engine takes to generate a few sequences and train on them. */
async function smallStepTime(
  shape: ModelShape,
  open: (shape: ModelShape) => Promise<Chosen>,
  { now = () => performance.now() }: { readonly isGpu: boolean; readonly now?: (() => number) | undefined },
): Promise<number> {
  const { engine } = await open({ ...shape, layers: Math.min(shape.layers, measured.layers) });
  const tokens = Int32Array.from({ length: measured.promptTokens }, (_, at) => at % shape.vocabulary);
  const prompts = Array.from({ length: measured.prompts }, (_, seed) => ({ tokens, seed }));
  const step = async () => {
    const written = await engine.generate(prompts, { maxTokens: measured.newTokens, temperature: 1 });
    const { logprobs } = await engine.forward([{ prompt: tokens, continuations: written.map((each) => each.tokens) }]);
    await engine.backward(new Float32Array(logprobs.length).fill(1), null);
    await engine.gradient();
  };
  const began = performance.now();
  do await step();
  while (performance.now() - began < WARM_UP_MS);
  let least = Infinity;
  for (let round = 0; round < measured.rounds; round++) {
    const start = now();
    await step();
    least = Math.min(least, now() - start);
  }
  await engine.dispose();
  return least;
}

/**
 * Threads of our kernels: the number that the manager or the user allows this process (OMP_NUM_THREADS), else one per
 * core.
 */
function usualThreads(shape: ModelShape, { environment, cores = availableParallelism() }: EngineSources): number {
  if (parameterCount(shape) < SMALL_MODEL) return 1;
  const allowed = /^\s*([1-9]\d{0,5})\s*(?:,|$)/.exec(environment['OMP_NUM_THREADS'] ?? '')?.[1];
  return Math.min(allowed === undefined ? cores : Number(allowed), MOST_THREADS);
}

/**
 * `auto` takes TensorFlow.js where it has a GPU, and where that is wanted TensorFlow on the processor, else our kernels.
 * `decideEngine` then measures which of the two is faster.
 */
async function chooseBackend({ engine, onProcessor }: EngineRequest, sources: EngineSources): Promise<Choice> {
  const { environment, open = (name) => openBackend(name, { environment, load: importModule }) } = sources;
  if (engine === 'wasm') return ownKernels('engine=wasm');
  if (engine === 'tfjs') return anyTfjs(await firstThat(isReady, backendNames, open));
  return fastBackend(onProcessor === true, { environment, open });
}

async function fastBackend(
  onProcessor: boolean,
  { environment, open }: Required<Pick<EngineSources, 'environment' | 'open'>>,
): Promise<Choice> {
  const hasNoGpu = isWithoutGpu(environment);
  const names = [...(hasNoGpu ? [] : gpuBackends), ...(onProcessor ? [onItsProcessor] : [])];
  const isWanted = (attempt: Attempt) => isOnGpu(attempt) || (isReady(attempt) && attempt.name === onItsProcessor);
  const attempts = await firstThat(isWanted, names, open);
  const last = attempts.at(-1);
  if (last !== undefined && isReady(last) && isWanted(last)) return tfjs(last, 'auto: it is installed');
  if (hasNoGpu) return ownKernels('auto: this process was given no GPU');
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

/** Opens backends until one satisfies `isWanted`; that one is the last of the result. */
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

/** The manager gives a run on a CPU slot an empty list of devices. */
function isWithoutGpu(environment: EngineSources['environment']): boolean {
  return ['', '-1'].includes(environment['CUDA_VISIBLE_DEVICES'] ?? 'all');
}

/** Names the backends that were tried first, and why each was not taken. */
function passedOver(attempts: readonly Attempt[]): string {
  const reasons = attempts.flatMap((attempt) => {
    if (attempt.kind === 'absent') {
      return [attempt.why.includes(attempt.name) ? attempt.why : `${attempt.name}: ${attempt.why}`];
    }
    return attempt.where.isGpu ? [] : [`${attempt.name}: ${attempt.where.words}`];
  });
  return reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
}
