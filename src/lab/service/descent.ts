/** Optimizers of `optimizer=`: Adam by the engine's own kernel, and three others as directions that are added to its weights. */
import { UserError } from '../../base/user-error.js';
import { AdaptedEngine } from '../engine/adapters/adapted-engine.js';
import type { AdamOptions, Engine, ParameterGroup } from '../engine/engine.js';
import { layout, type Tensor } from '../engine/layout.js';

export const optimizers = ['adam', 'sgd', 'momentum', 'muon'] as const;
export type OptimizerName = (typeof optimizers)[number];

/** Share of the running sum of gradients that a step keeps: heavy-ball momentum, and Muon's own. */
const MOMENTUM = 0.9;
const MUON_MOMENTUM = 0.95;

/**
 * One step of an optimizer on the accumulated gradient g, which is cleared. The sum of momentum is kept in the place of Adam's first
 * moment, so that checkpoints have it.
 *
 * - `sgd`: θ ← θ − ηg.
 * - `momentum`: s ← 0.9 s + g, θ ← θ − ηs (Polyak 1964).
 * - `muon`: matrices of the layers by s ← 0.95 s + g, θ ← θ − η · 0.2 √max(rows, columns) · orthogonal(g + 0.95 s), the rest by Adam
 *   (Jordan et al. 2024; the factor, by which a step is as large as one of Adam, of Liu et al. 2025, arXiv 2502.16982).
 *
 * @returns The L2 norm of the gradient.
 */
export async function takeStep(engine: Engine, options: AdamOptions, name: OptimizerName = 'adam'): Promise<number> {
  if (name === 'adam') return engine.adam(options);
  const gradient = await engine.gradient();
  const size = Math.sqrt(gradient.reduce((sum, g) => sum + g * g, 0));
  if (name === 'sgd') {
    await engine.addToWeights(gradient, -options.learningRate);
    await engine.clearGradient();
    return size;
  }
  const state = await engine.optimizerState();
  if (name === 'momentum') {
    const sum = state.m.map((s, at) => MOMENTUM * s + gradient[at]!);
    await engine.addToWeights(sum, -options.learningRate);
    await engine.loadOptimizerState({ ...state, step: state.step + 1, m: sum });
    await engine.clearGradient();
    return size;
  }
  const { matrices, groups } = hiddenMatrices(engine);
  const direction = new Float32Array(gradient.length);
  for (const matrix of matrices) {
    const rows = elements(matrix, (at) => {
      state.m[at] = MUON_MOMENTUM * state.m[at]! + gradient[at]!;
      return gradient[at]! + MUON_MOMENTUM * state.m[at];
    });
    const { entries, factor } = steepest(matrix, rows);
    let index = 0;
    elements(matrix, (at) => (direction[at] = factor * entries[index++]!));
  }
  await engine.loadOptimizerState(state);
  await engine.adam({ ...options, groups });
  await engine.addToWeights(direction, -options.learningRate);
  return size;
}

/**
 * How fast a step of the optimizer along its own gradient g would raise a quantity, per unit of the learning rate: the norm that is
 * dual to the one in which the optimizer descends steepest (Bernstein and Newhouse 2024, arXiv 2409.20325). Adam, whose steps have
 * the size of the rate in every weight: Σ|g|. SGD: Σg², with momentum ten times that, once it has gathered. Muon: the inner product
 * of g and its direction, and Σ|g| of the weights that Adam moves.
 */
export function slopeAlong(engine: Engine, gradient: Float32Array, name: OptimizerName): number {
  const sumOf = (term: (g: number) => number) => gradient.reduce((sum, g) => sum + term(g), 0);
  if (name === 'sgd') return sumOf((g) => g * g);
  if (name === 'momentum') return sumOf((g) => g * g) / (1 - MOMENTUM);
  if (name === 'adam') return sumOf(Math.abs);
  let slope = sumOf(Math.abs);
  for (const matrix of hiddenMatrices(engine).matrices) {
    const rows = elements(matrix, (at) => gradient[at]!);
    const { entries, factor } = steepest(matrix, rows);
    for (let at = 0; at < rows.length; at++) slope += factor * entries[at]! * rows[at]! - Math.abs(rows[at]!);
  }
  return slope;
}

type Matrix = Tensor & { readonly shape: readonly [number, number]; readonly strides: readonly [number, number] };
type Hidden = { readonly matrices: readonly Matrix[]; readonly groups: readonly ParameterGroup[] };
const known = new WeakMap<Engine, Hidden>();

/** The matrices of the layers, and the groups by which Adam leaves them alone. */
function hiddenMatrices(engine: Engine): Hidden {
  if (engine instanceof AdaptedEngine)
    throw new UserError(
      'Muon trains whole matrices, and LoRA their parts.',
      'Leave out `lora_rank`, or take another optimizer.',
    );
  let hidden = known.get(engine);
  if (hidden === undefined) {
    const isHidden = (tensor: Tensor): tensor is Matrix =>
      tensor.shape.length === 2 && tensor.name.includes('.layers.');
    const matrices = layout(engine.shape).filter(isHidden);
    hidden = { matrices, groups: [{ tensors: matrices.map(({ name }) => name), frozen: true }] };
    known.set(engine, hidden);
  }
  return hidden;
}

/** One value for each element of the matrix, row by row: `take` maps its offset in the flat vector to the value. */
function elements({ shape, offset, strides }: Matrix, take: (at: number) => number): Float64Array {
  const [rows, columns]: readonly [number, number] = shape;
  const values = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++) values[i * columns + j] = take(offset + i * strides[0] + j * strides[1]);
  return values;
}

function steepest({ shape }: Matrix, values: Float64Array) {
  const [rows, columns]: readonly [number, number] = shape;
  return { entries: orthogonal(values, rows, columns), factor: 0.2 * Math.sqrt(Math.max(rows, columns)) };
}

/**
 * The nearest matrix whose singular values are about 1, by five steps of the Newton–Schulz iteration with Jordan's coefficients.
 *
 * @param values Row-major, rows × columns.
 */
export function orthogonal(values: Float64Array, rows: number, columns: number): Float64Array {
  if (rows > columns) return transpose(orthogonal(transpose(values, rows, columns), columns, rows), columns, rows);
  const norm = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0)) + 1e-7;
  let x = values.map((value) => value / norm);
  for (let step = 0; step < 5; step++) {
    const square = product(x, transpose(x, rows, columns), columns, rows);
    const fourth = product(square, square, rows, rows);
    const factor = square.map((value, at) => -4.775 * value + 2.0315 * fourth[at]!);
    const moved = product(factor, x, rows, columns);
    x = x.map((value, at) => 3.4445 * value + moved[at]!);
  }
  return x;
}

function transpose(values: Float64Array, rows: number, columns: number): Float64Array {
  const turned = new Float64Array(values.length);
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) turned[j * rows + i] = values[i * columns + j]!;
  return turned;
}

/** The product of a, of rows of `inner` numbers, and b, of rows of `columns`. */
function product(a: Float64Array, b: Float64Array, inner: number, columns: number): Float64Array {
  const rows = a.length / inner;
  const sum = new Float64Array(rows * columns);
  for (let i = 0; i < rows; i++) {
    const row = sum.subarray(i * columns, (i + 1) * columns);
    for (let k = 0; k < inner; k++) {
      const factor = a[i * inner + k]!;
      const other = b.subarray(k * columns, (k + 1) * columns);
      for (let j = 0; j < columns; j++) row[j]! += factor * other[j]!;
    }
  }
  return sum;
}
