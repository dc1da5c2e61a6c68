import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wasmKernels } from '../../../../src/lab/engine/create-engine.js';
import type { Kernels } from '../../../../src/lab/engine/kernels/kernels.js';
import { loopKernels } from '../../../../src/lab/engine/kernels/loop-kernels.js';
import { slopes } from '../models.js';

const wasm = await wasmKernels(await WebAssembly.compile(readFileSync('src/lab/engine/kernels.wasm')));
const sets = [wasm, loopKernels()];

/** Arguments of a kernel: a buffer in place of its address, other numbers as they are. */
type Argument = number | Float32Array | Int32Array;

/** Calls a kernel of both sets on copies of the buffers; gives what each left in them, and what it returned. */
function onBoth(name: Exclude<keyof Kernels, 'backend' | 'heap'>, ...args: Argument[]): number[][] {
  return sets.map((kernels) => {
    const { heap } = kernels;
    const addresses = args.map((arg) => {
      if (typeof arg === 'number') return arg;
      const address = heap.allocate(arg.length);
      (arg instanceof Int32Array ? heap.i32 : heap.f32).set(arg, address / 4);
      return address;
    });
    const returned = (kernels[name] as (...numbers: number[]) => unknown)(...addresses);
    const after = args.flatMap((arg, i) => {
      if (!(arg instanceof Float32Array)) return [];
      return [...heap.f32.subarray(addresses[i]! / 4, addresses[i]! / 4 + arg.length)];
    });
    return typeof returned === 'number' ? [...after, returned] : after;
  });
}

function expectAgreement(results: number[][], tolerance = 1e-5): void {
  const [simd, loops] = results;
  expect(simd!.length).toBe(loops!.length);
  simd!.forEach((value, i) => {
    const scale = Math.max(1, Math.abs(loops![i]!));
    if (!(Math.abs(value - loops![i]!) <= tolerance * scale)) expect([i, value]).toEqual([i, loops![i]!]);
  });
}

const count = (max: number) => fc.integer({ min: 1, max });
const quads = (max: number) => count(max).map((n) => 4 * n);
const seed = fc.nat();

describe('the SIMD kernels agree with plain loops', () => {
  it('on products, whatever the sizes, strides and form of the factors', () => {
    fc.assert(
      fc.property(
        fc.record({ rows: count(11), columns: quads(6), depth: count(20), spare: fc.nat(3), seed }),
        fc.constantFrom(0, 1),
        fc.boolean(),
        fc.boolean(),
        ({ rows, columns, depth, spare, seed }, accumulate, transposedA, packedB) => {
          const padded = Math.ceil(columns / 8) * 8;
          const [aRow, aDepth] = transposedA ? [1, rows + spare] : [depth + spare, 1];
          const a = slopes((rows + spare + 1) * (depth + spare + 1), seed);
          const b = slopes(depth * padded + 8, seed + 1);
          const [bRow, bPanel] = packedB ? [8, 8 * depth] : [columns, 8];
          const cRow = columns + 4 * spare;
          const c = slopes(rows * cRow, seed + 2);
          expectAgreement(onBoth('gemm', rows, columns, depth, a, aRow, aDepth, b, bRow, bPanel, c, cRow, accumulate));
        },
      ),
    );
  });

  it('on packing, to the bit, and fill up with zeros', () => {
    fc.assert(
      fc.property(quads(5), count(27), fc.nat(2), seed, (depth, columns, spare, seed) => {
        const packed = slopes(depth * Math.ceil(columns / 8) * 8, seed);
        const tall = slopes(columns * (depth + 4 * spare), seed + 1);
        const [simd, loops] = onBoth('packColumns', depth, columns, tall, depth + 4 * spare, packed);
        expect(simd).toEqual(loops);
        const wide = Math.ceil(columns / 4) * 4;
        const flat = slopes(depth * (wide + 4 * spare) + 4, seed + 2);
        const room = slopes(depth * Math.ceil(wide / 8) * 8, seed);
        const [simdRows, loopRows] = onBoth('packRows', depth, wide, flat, wide + 4 * spare, room);
        expect(simdRows).toEqual(loopRows);
      }),
    );
  });

  it('on norms and their derivative', () => {
    fc.assert(
      fc.property(count(5), quads(9), seed, (rows, width, seed) => {
        const [x, y, dy, dx] = [1, 2, 3, 4].map((n) => slopes(rows * width, seed + n)) as [
          Float32Array,
          Float32Array,
          Float32Array,
          Float32Array,
        ];
        const w = slopes(width, seed + 5);
        const scale = slopes(rows, seed + 6);
        expectAgreement(onBoth('rmsNorm', rows, width, x, w, y, scale, 1e-5));
        expectAgreement(onBoth('rmsNormBackward', rows, width, dy, x, w, scale, dx, slopes(width, seed + 7)));
      }),
    );
  });

  it('on rotations, and the inverse undoes them', () => {
    fc.assert(
      fc.property(count(4), count(3), quads(6), seed, (rows, heads, width, seed) => {
        const direction = seed % 2 === 0 ? 1 : -1;
        const xRow = heads * width + 4;
        const x = slopes(rows * xRow, seed);
        const positions = Int32Array.from({ length: rows }, (_, i) => (i * 7 + seed) % 5);
        const angles = slopes((5 * width) / 2, seed + 1);
        const [cos, sin] = [angles.map(Math.cos), angles.map(Math.sin)];
        const results = onBoth('rope', rows, heads, width, x, xRow, positions, cos, sin, direction);
        expectAgreement(results);
        const turned = Float32Array.from(results[0]!.slice(0, x.length));
        const [back] = onBoth('rope', rows, heads, width, turned, xRow, positions, cos, sin, -direction);
        back!.slice(0, x.length).forEach((value, i) => expect(value).toBeCloseTo(x[i]!, 5));
      }),
    );
  });

  it('on attention over shared and own rows, and its derivative', () => {
    const sizes = fc.record({
      kvHeads: count(3),
      group: count(3),
      headWidth: quads(5),
      queries: count(6),
      sharedRows: fc.nat(9),
      ownBefore: fc.nat(5),
      seed,
    });
    fc.assert(
      fc.property(sizes, ({ kvHeads, group, headWidth, queries, sharedRows, ownBefore, seed }) => {
        const heads = kvHeads * group;
        const kvRow = 2 * kvHeads * headWidth + 4;
        const width = heads * headWidth;
        const pRow = Math.ceil((sharedRows + ownBefore + queries) / 4) * 4;
        const make = (rows: number, row: number, extra: number) => slopes(rows * row, seed + extra).map((x) => 3 * x);
        const [q, out] = [make(queries, width, 1), make(queries, width, 2)];
        const [shared, own] = [make(sharedRows, kvRow, 3), make(ownBefore + queries, kvRow, 4)];
        const p = new Float32Array(heads * queries * pRow);
        const counts = [heads, kvHeads, headWidth, queries];
        expectAgreement(
          onBoth('attention', ...counts, q, width, shared, sharedRows, own, ownBefore, kvRow, p, pRow, out, width, 0.3),
        );
        const derivatives = [make(queries, width, 6), make(sharedRows, kvRow, 7), make(queries, kvRow, 8)];
        // Any numbers will do for probabilities, but those of keys not yet there are 0.
        const weights = p.map((_, k) => (k % pRow <= sharedRows + (Math.floor(k / pRow) % queries) ? (k % 7) / 7 : 0));
        const before = [q, width, shared, sharedRows, own, kvRow, weights, pRow, make(queries, width, 9), width];
        const [simd, loops] = onBoth(
          'attentionBackward',
          ...counts,
          ...before,
          ...derivatives,
          0.3,
          new Float32Array(0),
        );
        expectAgreement([simd!, loops!], 1e-4);
      }),
    );
  });

  it('on SwiGLU and its derivative, over all sizes of numbers', () => {
    fc.assert(
      fc.property(count(3), quads(6), fc.constantFrom(1, 20, 300), seed, (rows, width, size, seed) => {
        const gateUp = slopes(2 * rows * width, seed).map((x) => x * size);
        const y = slopes(rows * width, seed + 1);
        expectAgreement(onBoth('swiglu', rows, width, gateUp, y));
        expectAgreement(onBoth('swigluBackward', rows, width, y, gateUp, slopes(2 * rows * width, seed)), 1e-4);
      }),
    );
  });

  it('on log-probabilities, entropy and their derivative, over all sizes of scores', () => {
    fc.assert(
      fc.property(count(3), count(21), fc.constantFrom(1, 20, 1000), seed, (rows, vocabulary, size, seed) => {
        const stride = Math.ceil(vocabulary / 4) * 4;
        const scores = slopes(rows * stride, seed).map((x) => x * size);
        const results = onBoth('logSoftmax', rows, vocabulary, stride, scores, new Float32Array(rows));
        const live = results.map((all) => all.filter((_, i) => i >= rows * stride || i % stride < vocabulary));
        expectAgreement(live);
        const logprobs = Float32Array.from(results[1]!.slice(0, rows * stride));
        const entropies = Float32Array.from(results[1]!.slice(rows * stride));
        const slope = [slopes(rows, seed + 1), slopes(rows, seed + 2), slopes(rows * stride, seed + 3)];
        expectAgreement(onBoth('logSoftmaxBackward', rows, stride, logprobs, entropies, ...slope));
      }),
    );
  });

  it('on the drawn token: the one whose share of the sum holds the number, and never one without weight', () => {
    const never = -1e4;
    const scores = fc.array(fc.constantFrom<number>(-1, -2, -3, never), { minLength: 1, maxLength: 9 });
    const uniforms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(scores, uniforms, fc.constantFrom(0.5, 1, 4, Infinity), (values, uniform, inverse) => {
        const top = Math.max(...values);
        fc.pre(top > never);
        const stride = Math.ceil(values.length / 4) * 4;
        const row = new Float32Array(stride).fill(-1e30);
        row.set(values);
        const room = new Float32Array(0);
        const drawn = onBoth('sample', values.length, stride, row, uniform, inverse, room).map((all) => all.at(-1)!);
        if (inverse === Infinity) {
          expect(drawn).toEqual([values.indexOf(top), values.indexOf(top)]);
          return;
        }
        const weights = values.map((value) => Math.exp((value - top) * inverse));
        const goal = uniform * weights.reduce((sum, weight) => sum + weight, 0);
        for (const token of drawn) {
          const before = weights.slice(0, token).reduce((sum, weight) => sum + weight, 0);
          expect(weights[token]).toBeGreaterThan(0);
          expect(goal).toBeGreaterThanOrEqual(before - 1e-5);
          expect(goal).toBeLessThanOrEqual(before + weights[token]! + 1e-5);
        }
      }),
    );
  });

  it('on Adam, sums and rows moved by their numbers', () => {
    fc.assert(
      fc.property(quads(40), seed, (length, seed) => {
        const [w, g, m] = [1, 2, 3].map((n) => slopes(length, seed + n)) as [Float32Array, Float32Array, Float32Array];
        const v = slopes(length, seed + 4).map(Math.abs);
        expectAgreement(onBoth('adam', length, w, g, m, v, 0.01, 0.1, 0.001, 1e-6));
        expectAgreement(onBoth('sumSquares', length, w));
        expectAgreement(onBoth('copy', length, w, g));
        expectAgreement(onBoth('zero', length, w));
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.nat(3), { minLength: 1, maxLength: 6 }), quads(3), seed, (ids, width, seed) => {
        const rows = slopes(ids.length * width, seed);
        const table = slopes(4 * width, seed + 1);
        expectAgreement(onBoth('gatherRows', ids.length, width, Int32Array.from(ids), table, rows));
        expectAgreement(onBoth('scatterAddRows', ids.length, width, Int32Array.from(ids), rows, table));
      }),
    );
  });
});

describe('a sum of squares', () => {
  it('keeps its digits over a million small numbers', () => {
    const length = 1 << 20;
    const at = wasm.heap.allocate(length);
    wasm.heap.f32.fill(1e-3, at / 4, at / 4 + length);
    expect(wasm.sumSquares(length, at) / (length * 1e-6)).toBeCloseTo(1, 6);
  });
});
