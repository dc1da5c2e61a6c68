import { UserError } from '../../base/user-error.js';
import { createEngine } from './create-engine.js';
import type { Engine, ModelShape } from './engine.js';
import { backendNames, openBackend, type Attempt, type BackendName } from './tfjs/backends.js';
import { loadPackage } from './tfjs/load-package.js';
import { TfjsEngine } from './tfjs/tfjs-engine.js';

/** What may be asked for. `wasm`: our kernels, the same bits on every machine. `tfjs`: TensorFlow.js, the first that works. */
export const engineChoices = ['auto', 'wasm', 'tfjs'] as const;
export type EngineChoice = (typeof engineChoices)[number];

/** What was chosen, in words what it computes on, and why. `backend`: of TensorFlow.js; null for our kernels. */
export type Choice = { readonly backend: Ready | null; readonly on: string; readonly why: string };

type Ready = Attempt & { kind: 'ready' };

/** What there is to choose among. Tests give their own. */
export type EngineSources = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly open?: (name: BackendName) => Promise<Attempt>;
};

/** The backends that may have a GPU. */
const gpuBackends: readonly BackendName[] = ['tfjs-node-gpu', 'tfjs-webgpu'];

/** The engine for a model of this shape. @throws UserError when TensorFlow.js was asked for and cannot compute here. */
export async function chooseEngine(
  shape: ModelShape,
  wish: EngineChoice,
  sources: EngineSources,
): Promise<Choice & { readonly engine: Engine }> {
  const choice = await chooseBackend(wish, sources);
  const { backend } = choice;
  return { ...choice, engine: backend === null ? await createEngine(shape) : new TfjsEngine(backend.device, shape) };
}

/** `auto` takes TensorFlow.js where it has a GPU, and else our kernels. */
export async function chooseBackend(wish: EngineChoice, sources: EngineSources): Promise<Choice> {
  const { environment, open = (name) => openBackend(name, { environment, load: loadPackage }) } = sources;
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
