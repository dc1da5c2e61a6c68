import { UserError } from '../../base/user-error.js';
import { createEngine } from './create-engine.js';
import type { Engine, ModelShape } from './engine.js';
import { backendNames, openBackend, type Attempt, type BackendName } from './tfjs/backends.js';
import { loadPackage } from './tfjs/load-package.js';
import { TfjsEngine } from './tfjs/tfjs-engine.js';

/** What may be asked for. `wasm`: our kernels, the same bits on every machine. `tfjs`: TensorFlow.js, the first that works. */
export const engineChoices = ['auto', 'wasm', 'tfjs'] as const;
export type EngineChoice = (typeof engineChoices)[number];

/** An engine, and in words what it computes on and why it was chosen. */
export type ChosenEngine = { readonly engine: Engine; readonly on: string; readonly why: string };

/** What there is to choose among. Tests give their own. */
export type EngineSources = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly open?: (name: BackendName) => Promise<Attempt>;
};

/** The backends that may have a GPU. */
const gpuBackends: readonly BackendName[] = ['tfjs-node-gpu', 'tfjs-webgpu'];

/**
 * The engine for a model of this shape: `auto` takes TensorFlow.js where it has a GPU, and else our kernels.
 *
 * @throws UserError when TensorFlow.js was asked for and cannot compute here.
 */
export async function chooseEngine(
  shape: ModelShape,
  choice: EngineChoice,
  sources: EngineSources,
): Promise<ChosenEngine> {
  const { environment, open = (name) => openBackend(name, { environment, load: loadPackage }) } = sources;
  if (choice === 'wasm') return ownKernels(shape, 'engine=wasm');
  if (choice === 'tfjs') return anyTfjs(shape, await firstThat(isReady, backendNames, open));
  if (isWithoutGpu(environment)) return ownKernels(shape, 'auto: this process was given no GPU');
  const attempts = await firstThat(isOnGpu, gpuBackends, open);
  const last = attempts.at(-1)!;
  if (last.kind === 'ready' && last.where.isGpu) return tfjs(shape, last, 'auto: there is a GPU');
  return ownKernels(shape, `auto: no GPU for TensorFlow.js${passedOver(attempts)}`);
}

function anyTfjs(shape: ModelShape, attempts: readonly Attempt[]): ChosenEngine {
  const last = attempts.at(-1)!;
  if (last.kind === 'ready')
    return tfjs(shape, last, `engine=tfjs, the first that works${passedOver(attempts.slice(0, -1))}`);
  throw new UserError(
    `engine=tfjs was asked for, but TensorFlow.js cannot compute here${passedOver(attempts)}.`,
    'Install it as docs/engines.md says, or leave engine=auto.',
  );
}

function tfjs(shape: ModelShape, { name, device, where }: Attempt & { kind: 'ready' }, why: string): ChosenEngine {
  return { engine: new TfjsEngine(device, shape), on: `${name}, ${where.words}`, why };
}

async function ownKernels(shape: ModelShape, why: string): Promise<ChosenEngine> {
  return { engine: await createEngine(shape), on: 'our WebAssembly kernels', why };
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

function isReady(attempt: Attempt): boolean {
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
