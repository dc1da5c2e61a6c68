import { UserError } from '../../../base/user-error.js';
import type { AdamOptions, ParameterGroup } from '../engine.js';
import type { Kernels } from '../kernels/kernels.js';
import { writeAdamSettings } from '../kernels/records.js';
import type { Tensor } from '../layout.js';

/** Neighbouring weights with the same settings: floats of the (padded) flat vector. */
type Stretch = {
  readonly start: number;
  readonly count: number;
  /** Index of their group; −1 for none. */
  readonly group: number;
  readonly isNorm: boolean;
};

type Settings = { readonly learningRate: number; readonly weightDecay: number };

/** Added to a norm before dividing by it, as PyTorch's `clip_grad_norm_` does. */
const CLIP_EPSILON = 1e-6;

/** Weights to be trained: flat vectors on the heap, and what they consist of. */
type TrainedWeights = {
  readonly kernels: Kernels;
  readonly tensors: readonly Tensor[];
  readonly parameters: {
    /** Numbers in each of the vectors, whose addresses follow. */
    readonly count: number;
    readonly weights: number;
    readonly gradient: number;
    readonly m: number;
    readonly v: number;
    /** Called when the weights have changed. */
    changed(): void;
  };
};

/** Adam and AdamW on flat vectors. */
export class Optimizer {
  /** Steps taken. */
  step = 0;
  readonly #model: TrainedWeights;
  /** Room for the settings of a kernel's call. */
  readonly #settings: number;
  readonly #known = new WeakMap<readonly ParameterGroup[], readonly Stretch[]>();

  constructor(model: TrainedWeights) {
    this.#model = model;
    this.#settings = model.kernels.heap.allocate(16);
  }

  /** @returns The norm of the gradient of all that is not frozen, before clipping. */
  take(options: AdamOptions): number {
    checkOptions(options);
    const { clipNorm } = options;
    const { parameters, kernels } = this.#model;
    const stretches = this.#stretches(options);
    // Without clipping, the step itself reads the whole gradient and returns its norm.
    const known = clipNorm === undefined ? null : this.#norm(stretches, options);
    let squares = 0;
    this.step++;
    for (const stretch of stretches) {
      const settings = settingsOf(stretch, options);
      if (settings === null) {
        kernels.zero(stretch.count, parameters.gradient + stretch.start * 4);
        continue;
      }
      if (clipNorm !== undefined) this.#clip(stretch, known!, clipNorm);
      squares += this.#advance(stretch, settings, options);
    }
    parameters.changed();
    return known ?? Math.sqrt(squares);
  }

  #norm(stretches: readonly Stretch[], options: AdamOptions): number {
    const { kernels, parameters } = this.#model;
    let squares = 0;
    for (const stretch of stretches) {
      if (settingsOf(stretch, options) === null) continue;
      squares += kernels.sumSquares(stretch.count, parameters.gradient + stretch.start * 4);
    }
    return Math.sqrt(squares);
  }

  #clip({ start, count }: Stretch, norm: number, clipNorm: number): void {
    const { kernels, parameters } = this.#model;
    const factor = clipNorm / (norm + CLIP_EPSILON);
    // A norm that is NaN makes the weights NaN.
    if (!(factor >= 1)) kernels.scale(count, parameters.gradient + start * 4, factor);
  }

  /** @returns The sum of the squares of the stretch's gradient. */
  #advance({ start, count }: Stretch, { learningRate, weightDecay }: Settings, options: AdamOptions): number {
    const { beta1, beta2, epsilon } = options;
    const { kernels, parameters } = this.#model;
    const skip = start * 4;
    const weights = parameters.weights + skip;
    if (weightDecay !== 0) kernels.scale(count, weights, 1 - learningRate * weightDecay);
    const correction1 = 1 - beta1 ** this.step;
    const correction2 = Math.sqrt(1 - beta2 ** this.step);
    writeAdamSettings(kernels.heap, this.#settings, {
      step: (learningRate * correction2) / correction1,
      fresh1: 1 - beta1,
      fresh2: 1 - beta2,
      epsilon: epsilon * correction2,
    });
    const { gradient, m, v } = parameters;
    return kernels.adam(count, weights, gradient + skip, m + skip, v + skip, this.#settings);
  }

  /** A single stretch when all tensors have the same settings. */
  #stretches({ groups, weightDecay = 0 }: AdamOptions): readonly Stretch[] {
    const { tensors, parameters } = this.#model;
    if (groups === undefined && weightDecay === 0) {
      return [{ start: 0, count: parameters.count, group: -1, isNorm: false }];
    }
    const key = groups ?? noGroups;
    const known = this.#known.get(key) ?? stretchesOf(tensors, key);
    this.#known.set(key, known);
    return known;
  }
}

const noGroups: readonly ParameterGroup[] = [];

/** @returns null when the stretch is frozen. */
function settingsOf({ group, isNorm }: Stretch, options: AdamOptions): Settings | null {
  const { groups, learningRate, weightDecay = 0 } = options;
  const own = groups?.[group];
  if (own?.frozen === true) return null;
  return {
    learningRate: own?.learningRate ?? learningRate,
    weightDecay: own?.weightDecay ?? (isNorm ? 0 : weightDecay),
  };
}

/** Every weight, in order, with its group. */
function stretchesOf(tensors: readonly Tensor[], groups: readonly ParameterGroup[]): Stretch[] {
  const groupOf = groupsByTensor(tensors, groups);
  const all: Stretch[] = [];
  for (const { name, shape: sizes, offset, strides } of tensors) {
    const [rows, columns = 1] = sizes;
    const common = { group: groupOf.get(name) ?? -1, isNorm: sizes.length === 1 };
    // A norm, or a matrix row by row.
    if (strides[1] === undefined || strides[1] === 1) all.push({ start: offset, count: rows * columns, ...common });
    else for (let j = 0; j < columns; j++) all.push({ start: offset + j * strides[1], count: rows, ...common });
  }
  return mergeStretches(all.sort((a, b) => a.start - b.start));
}

function mergeStretches(ordered: readonly Stretch[]): Stretch[] {
  const all: Stretch[] = [];
  for (const next of ordered) {
    const last = all.at(-1);
    if (last !== undefined && last.group === next.group && last.isNorm === next.isNorm) {
      all[all.length - 1] = { ...last, count: last.count + next.count };
    } else {
      all.push(next);
    }
  }
  return all;
}

export function groupsByTensor(tensors: readonly Tensor[], groups: readonly ParameterGroup[]): Map<string, number> {
  const names = new Set(tensors.map(({ name }) => name));
  const groupOf = new Map<string, number>();
  groups.forEach(({ tensors }, index) => {
    for (const name of tensors) {
      if (!names.has(name)) {
        throw new UserError(`The model has no tensor "${name}".`, `Use names such as "${[...names][1]}".`);
      }
      if (groupOf.has(name)) {
        throw new UserError(`"${name}" is in two parameter groups.`, 'Name each tensor once.');
      }
      groupOf.set(name, index);
    }
  });
  return groupOf;
}

export function checkOptions({ epsilon, clipNorm = 1 }: AdamOptions): void {
  if (!(epsilon > 0)) {
    throw new UserError(
      `Adam's \`epsilon\` is ${epsilon}: a weight whose gradient is 0 would be 0/0.`,
      'Use a small number above 0, such as 1e-8.',
    );
  }
  if (!(clipNorm > 0)) throw new UserError(`\`clipNorm\` is ${clipNorm}.`, 'Use a number above 0, or leave it out.');
}
