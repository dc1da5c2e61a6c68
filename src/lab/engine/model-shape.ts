import { UserError } from '../../base/user-error.js';
import type { ModelShape } from './engine.js';

/**
 * Model shapes with a name. `tiny` is the size at which the memory sweep is run; `micro` is for tests of recipes;
 * `stories` learns the stories of the grammar in a few minutes, and `simplestories-1.25M` is the published model of
 * that name.
 */
export const presets = {
  micro: {
    vocabulary: 32,
    width: 16,
    layers: 1,
    heads: 2,
    kvHeads: 2,
    feedForward: 44,
    tied: true,
    ropeTheta: 10_000,
    normEpsilon: 1e-5,
    context: 64,
  },
  tiny: {
    vocabulary: 32,
    width: 64,
    layers: 2,
    heads: 4,
    kvHeads: 4,
    feedForward: 172,
    tied: true,
    ropeTheta: 10_000,
    normEpsilon: 1e-5,
    context: 64,
  },
  stories: {
    vocabulary: 1280,
    width: 64,
    layers: 3,
    heads: 4,
    kvHeads: 2,
    feedForward: 172,
    tied: true,
    ropeTheta: 10_000,
    normEpsilon: 1e-6,
    context: 512,
  },
  'simplestories-1.25M': {
    vocabulary: 4096,
    width: 128,
    layers: 4,
    heads: 4,
    kvHeads: 2,
    feedForward: 341,
    tied: true,
    ropeTheta: 10_000,
    normEpsilon: 1e-6,
    context: 512,
  },
} as const satisfies Record<string, ModelShape>;

/**
 * The shape of a name: a preset, or `tiny-WxL`, the family of `tiny` with W numbers per token in L layers: heads of 16, and a
 * feed-forward layer of 8/3 W; null for other names.
 */
export function shapeNamed(name: string): ModelShape | null {
  if (Object.hasOwn(presets, name)) return presets[name as keyof typeof presets];
  const [, width, layers] = (/^tiny-(\d{1,4})x(\d{1,2})$/.exec(name) ?? []).map(Number);
  if (width === undefined || layers === undefined) return null;
  const heads = Math.max(1, Math.floor(width / 16));
  return { ...presets.tiny, width, layers, heads, kvHeads: heads, feedForward: 4 * Math.round((2 * width) / 3) };
}

/** Row strides, in floats, of the matrices that depend on nothing but the shape. */
export type Widths = {
  /** Width of one head's query, key or value. */
  readonly head: number;
  /** Width of all keys of a row, and of all its values. */
  readonly kv: number;
  /** A row of queries, keys and values side by side. */
  readonly qkv: number;
  /** The vocabulary, padded to a multiple of 4. */
  readonly scores: number;
};

export function widthsOf(shape: ModelShape): Widths {
  const head = shape.width / shape.heads;
  const kv = head * shape.kvHeads;
  return { head, kv, qkv: shape.width + 2 * kv, scores: Math.ceil(shape.vocabulary / 4) * 4 };
}

/** Throws a UserError that names the first number of the shape that the engine cannot work with. */
export function checkShape(shape: ModelShape): void {
  const counts = ['vocabulary', 'width', 'layers', 'heads', 'kvHeads', 'feedForward', 'context'] as const;
  for (const key of counts) {
    if (!Number.isSafeInteger(shape[key]) || shape[key] < 1) refuse(shape, key, 'is not a whole number above 0', '1');
  }
  if (shape.heads % shape.kvHeads !== 0) refuse(shape, 'kvHeads', 'does not divide `heads`', String(shape.heads));
  if (shape.width % (4 * shape.heads) !== 0) {
    refuse(
      shape,
      'width',
      'is not a multiple of 4 × `heads`',
      String(Math.ceil(shape.width / 4 / shape.heads) * 4 * shape.heads),
    );
  }
  if (!(shape.ropeTheta > 0)) refuse(shape, 'ropeTheta', 'is not above 0', '10000');
  checkScaling(shape);
  if (!(shape.normEpsilon >= 0)) refuse(shape, 'normEpsilon', 'is below 0', '0.00001');
}

function checkScaling({ ropeScaling }: ModelShape): void {
  if (ropeScaling === undefined) return;
  const { factor, lowFrequency, highFrequency, originalContext } = ropeScaling;
  if (factor >= 1 && lowFrequency > 0 && highFrequency > lowFrequency && originalContext >= 1) return;
  throw new UserError(
    `The model's scaling of RoPE, ${JSON.stringify(ropeScaling)}, is invalid: \`factor\` must be at least 1, and \`highFrequency\` above \`lowFrequency\`.`,
    'Set them as the config of Llama 3.1 has them: factor 8, frequencies 1 and 4, original context 8192.',
  );
}

function refuse(
  shape: ModelShape,
  key: Exclude<keyof ModelShape, 'tied' | 'qkvBias' | 'ropeScaling'>,
  why: string,
  instead: string,
): never {
  throw new UserError(`The model's \`${key}\`, ${shape[key]}, ${why}.`, `Set \`${key}\` to ${instead}, for example.`);
}
