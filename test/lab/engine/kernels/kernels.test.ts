import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wasmKernels } from '../../../../src/lab/engine/create-engine.js';
import type { Kernels } from '../../../../src/lab/engine/kernels/kernels.js';
import { loopKernels } from '../../../../src/lab/engine/kernels/loop-kernels.js';
import { slopes } from '../models.js';

const wasm = await wasmKernels(await WebAssembly.compile(readFileSync('src/lab/engine/kernels.wasm')));
const sets = [wasm, loopKernels()];

/** A record in memory: whole numbers, floats, and buffers in place of their addresses. */
class MemoryRecord {
  readonly values: readonly RecordValue[];
  constructor(values: readonly RecordValue[]) {
    this.values = values;
  }
}
type RecordValue = number | { readonly float: number } | Float32Array;
const record = (...values: RecordValue[]) => new MemoryRecord(values);

/** Arguments of a kernel: a buffer or record in place of its address, other numbers as they are. */
type Argument = number | Float32Array | Int32Array | MemoryRecord;

function write(heap: Kernels['heap'], arg: Argument): number {
  if (typeof arg === 'number') return arg;
  if (arg instanceof MemoryRecord) return writeRecord(heap, arg);
  const address = heap.allocate(arg.length);
  (arg instanceof Int32Array ? heap.i32 : heap.f32).set(arg, address / 4);
  return address;
}

function writeRecord(heap: Kernels['heap'], { values }: MemoryRecord): number {
  const words = values.map((value) => (value instanceof Float32Array ? write(heap, value) : value));
  const address = heap.allocate(words.length);
  words.forEach((word, index) => {
    if (typeof word === 'number') heap.i32[address / 4 + index] = word;
    else heap.f32[address / 4 + index] = word.float;
  });
  return address;
}

/** Calls a kernel of both sets on copies of the buffers; gives what each left in them, and what it returned. */
function onBoth(name: Exclude<keyof Kernels, 'backend' | 'heap'>, ...args: Argument[]): number[][] {
  return sets.map((kernels) => {
    const { heap } = kernels;
    const addresses = args.map((arg) => write(heap, arg));
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

type SpanSizes = { readonly queries: number; readonly sharedRows: number; readonly ownBefore: number };

/** Spans one after the other, in rows, keys and probabilities; no own rows before the first query for the way back. */
function laidOut(sizes: readonly SpanSizes[], heads: number, isForward: boolean) {
  const table: number[] = [];
  const firsts: { at: number; pRow: number; queries: number; before: number }[] = [];
  let [rows, keyRows, p] = [0, 0, 0];
  for (const { queries, sharedRows, ownBefore: wanted } of sizes) {
    const ownBefore = isForward ? wanted : 0;
    const pRow = Math.ceil((sharedRows + ownBefore + queries) / 4) * 4;
    table.push(queries, rows, keyRows, sharedRows, keyRows + sharedRows, ownBefore, p, pRow);
    firsts.push({ at: p, pRow, queries, before: sharedRows + ownBefore });
    rows += queries;
    keyRows += sharedRows + ownBefore + queries;
    p += heads * queries * pRow;
  }
  /** Whether probability k is that of a key the query sees. */
  const seen = (k: number) => {
    const { at, pRow, queries, before } = firsts.findLast((span) => span.at <= k)!;
    return (k - at) % pRow <= before + (Math.floor((k - at) / pRow) % queries);
  };
  return { table: Int32Array.from(table), rows, keyRows, probabilities: p, seen };
}

const count = (max: number) => fc.integer({ min: 1, max });
const quads = (max: number) => count(max).map((n) => 4 * n);
const seed = fc.nat();

describe('the SIMD kernels agree with plain loops', () => {
  it('on matrix products of any size, stride and layout of the factors', () => {
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
          const product = record(columns, depth, aRow, aDepth, b, bRow, bPanel, cRow);
          expectAgreement(onBoth('gemm', product, rows, a, c, accumulate));
        },
      ),
    );
  });

  it.each([
    { what: 'several blocks of depth', depth: 1537, rows: 6 },
    { what: 'one block of depth and several of rows', depth: 768, rows: 47 },
    { what: 'several of both', depth: 769, rows: 45 },
    { what: 'so deep that a sum added to what is there is not packed', depth: 8193, rows: 5 },
  ])('on products of $what', ({ depth, rows }) => {
    const columns = 12;
    const [a, b] = [slopes(rows * depth, 1), slopes(depth * 16 + 8, 2)];
    for (const accumulate of [0, 1]) {
      for (const [aRow, aDepth] of [
        [depth, 1],
        [1, rows],
      ] as const) {
        const product = record(columns, depth, aRow, aDepth, b, 8, 8 * depth, columns);
        expectAgreement(onBoth('gemm', product, rows, a, slopes(rows * columns, 3), accumulate), 1e-4);
      }
    }
  });

  it('on outer products of any size, also in several blocks', () => {
    const sizes = fc.record({ leftWidth: count(11), spare: fc.nat(3), rightWidth: quads(5), seed });
    fc.assert(
      fc.property(sizes, fc.constantFrom(1, 7, 64, 65, 256, 300), ({ leftWidth, spare, rightWidth, seed }, rows) => {
        const leftRow = leftWidth + spare;
        const left = slopes(rows * leftRow + 4, seed);
        const right = slopes(rows * rightWidth + 4, seed + 1);
        const target = slopes(leftWidth * rightWidth, seed + 2);
        const scratch = new Float32Array(256 * Math.ceil(rightWidth / 8) * 8);
        const outer = record(leftWidth, leftRow, rightWidth);
        const results = onBoth('addProduct', outer, rows, left, right, target, scratch);
        const from = left.length + right.length;
        expectAgreement(
          results.map((all) => all.slice(from, from + target.length)),
          1e-4,
        );
      }),
      { numRuns: 60 },
    );
  });

  it('on packing, to the bit, with padding of zeros', () => {
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

  it('on RMSNorm and its derivative', () => {
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

  it('on rotations, with an inverse that undoes them', () => {
    fc.assert(
      fc.property(count(4), count(3), quads(6), seed, (rows, heads, width, seed) => {
        const direction = seed % 2 === 0 ? 1 : -1;
        const xRow = heads * width + 4;
        const x = slopes(rows * xRow, seed);
        const positions = Int32Array.from({ length: rows }, (_, i) => (i * 7 + seed) % 5);
        const angles = slopes((5 * width) / 2, seed + 1);
        const [cos, sin] = [angles.map(Math.cos), angles.map(Math.sin)];
        const rotation = record(heads, width, xRow, cos, sin);
        const results = onBoth('rope', rotation, rows, x, positions, direction);
        expectAgreement(results);
        const turned = Float32Array.from(results[0]!.slice(0, x.length));
        const [back] = onBoth('rope', rotation, rows, turned, positions, -direction);
        back!.slice(0, x.length).forEach((value, i) => expect(value).toBeCloseTo(x[i]!, 5));
      }),
    );
  });

  it('on attention over shared and own rows, and its derivative', () => {
    const sizes = fc.record({
      kvHeads: count(3),
      group: count(3),
      headWidth: quads(9),
      spans: fc.array(fc.record({ queries: count(6), sharedRows: fc.nat(9), ownBefore: fc.nat(5) }), {
        minLength: 1,
        maxLength: 3,
      }),
      seed,
    });
    fc.assert(
      fc.property(sizes, ({ kvHeads, group, headWidth, spans, seed }) => {
        const heads = kvHeads * group;
        const kvRow = 2 * kvHeads * headWidth + 4;
        const width = heads * headWidth;
        const make = (rows: number, row: number, extra: number) => slopes(rows * row, seed + extra).map((x) => 3 * x);
        for (const isForward of [true, false]) {
          const { table, rows, keyRows, probabilities, seen } = laidOut(spans, heads, isForward);
          const shape = record(heads, kvHeads, headWidth, width, kvRow, width, { float: 0.3 });
          const [q, out] = [make(rows, width, 1), make(rows, width, 2)];
          const keys = make(keyRows, kvRow, 3);
          const call = [shape, table, spans.length, q, keys] as const;
          if (isForward) {
            const from = make(rows, kvRow, 4);
            const append = record(heads, kvHeads, headWidth, kvRow, kvRow, width, { float: 0.3 });
            const [simd, loops] = onBoth('appendKeys', append, table, spans.length, from, keys);
            expect(simd).toEqual(loops);
            expect(simd).not.toEqual([...from, ...keys]);
            expectAgreement(onBoth('attention', ...call, new Float32Array(probabilities), out));
          } else {
            // Any numbers will do for probabilities, but those of keys not yet there are 0.
            const p = Float32Array.from({ length: probabilities }, (_, k) => (seen(k) ? (k % 7) / 7 : 0));
            const derivatives = [make(rows, width, 5), make(rows, width, 6), make(keyRows, kvRow, 7)];
            // Whole numbers, because what is left there is not compared.
            const scratch = new Int32Array(probabilities);
            const results = onBoth('attentionBackward', ...call, p, ...derivatives, scratch);
            expectAgreement(results, 1e-4);
          }
        }
      }),
    );
  });

  it('on SwiGLU and its derivative, over all magnitudes', () => {
    fc.assert(
      fc.property(count(3), quads(6), fc.constantFrom(1, 20, 300), seed, (rows, width, size, seed) => {
        const gateUp = slopes(2 * rows * width, seed).map((x) => x * size);
        const y = slopes(rows * width, seed + 1);
        expectAgreement(onBoth('swiglu', rows, width, gateUp, y));
        expectAgreement(onBoth('swigluBackward', rows, width, y, gateUp, slopes(2 * rows * width, seed)), 1e-4);
      }),
    );
  });

  it('on log-probabilities, entropy and their derivative, over all magnitudes of scores', () => {
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

  it('on sampling by inverse CDF, which never gives a token of probability 0', () => {
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

  it('on Adam, sums, and gathering and scattering rows', () => {
    fc.assert(
      fc.property(quads(40), seed, (length, seed) => {
        const [w, g, m] = [1, 2, 3].map((n) => slopes(length, seed + n)) as [Float32Array, Float32Array, Float32Array];
        const v = slopes(length, seed + 4).map(Math.abs);
        const settings = Float32Array.of(0.01, 0.1, 0.001, 1e-6);
        expectAgreement(onBoth('adam', length, w, g, m, v, settings));
        expectAgreement(onBoth('scale', length, w, 0.3));
        expectAgreement(onBoth('addScaled', length, -0.7, g, w));
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

describe.each(sets)('the kernels on $backend', (kernels) => {
  /** Calls one kernel on copies of the buffers; gives what it left in them. */
  const on = (name: Exclude<keyof Kernels, 'backend' | 'heap'>, ...args: Argument[]) =>
    onBoth(name, ...args)[sets.indexOf(kernels)]!;

  it('propagate a NaN to everything computed from it, and nowhere else', () => {
    const two = slopes(16, 1);
    two[3] = NaN;
    const scored = on('logSoftmax', 2, 8, 8, two, new Float32Array(2));
    expect(scored.map(Number.isNaN)).toEqual([...Array.from({ length: 16 }, (_, i) => i < 8), true, false]);
    const entropies = slopes(2, 2);
    const slope = on('logSoftmaxBackward', 2, 8, two, entropies, slopes(2, 3), slopes(2, 4), new Float32Array(16));
    expect(slope.slice(-16).map(Number.isNaN)).toEqual(Array.from({ length: 16 }, (_, i) => i === 3));
    const gates = slopes(16, 5);
    gates[1] = NaN;
    expect(on('swiglu', 1, 8, gates, new Float32Array(8)).slice(-8).map(Number.isNaN).indexOf(true)).toBe(1);
    expect(on('swigluBackward', 1, 8, slopes(8, 6), gates, new Float32Array(16)).slice(-16)[1]).toBeNaN();
  });

  it('sample with NaN weights, not 0, where a log-probability is NaN', () => {
    const row = slopes(8, 1);
    row[5] = NaN;
    const weights = on('sample', 8, 8, row, 0.5, 1, new Float32Array(8)).slice(8, 16);
    expect(weights.every(Number.isNaN)).toBe(true);
    const cut = on(
      'keepLikeliest',
      8,
      row.map(() => NaN),
      3,
      0.5,
      new Float32Array(8),
    ).slice(0, 8);
    expect(cut.every(Number.isNaN)).toBe(true);
  });

  it('make a query NaN when it or a visible key is NaN, and leave earlier queries unchanged', () => {
    const span = Int32Array.of(3, 0, 0, 0, 0, 0, 0, 4);
    const shape = record(1, 1, 4, 4, 8, 4, { float: 0.5 });
    const keys = slopes(24, 2);
    keys[8 + 2] = NaN;
    const args = [shape, span, 1, slopes(12, 1), keys, new Float32Array(12), new Float32Array(12)];
    expect(
      on('attention', ...args)
        .slice(-12)
        .map(Number.isNaN),
    ).toEqual(Array.from({ length: 12 }, (_, i) => i >= 4));
  });

  it('cut a distribution by top-k and top-p as sorting does', () => {
    // Steps of a quarter: equal, or clearly not.
    const score = fc.integer({ min: -36, max: 12 }).map((quarters) => quarters / 4);
    const values = fc.array(score, { minLength: 1, maxLength: 21 });
    fc.assert(
      fc.property(
        values,
        fc.integer({ min: 1, max: 25 }),
        fc.constantFrom(1, 0.9, 0.5, 1e-6),
        (scores, most, share) => {
          const stride = Math.ceil(scores.length / 4) * 4;
          const total = Math.log(scores.reduce((sum, score) => sum + Math.exp(score), 0));
          const row = Float32Array.from({ length: stride }, (_, i) => (i < scores.length ? scores[i]! - total : -1e30));
          const cut = on('keepLikeliest', stride, row, most, share, new Float32Array(stride)).slice(0, stride);
          const kept = cut.map((logprob) => logprob > -1e29);
          const p = [...row].map(Math.exp);
          const left = p.reduce((sum, x, i) => (kept[i]! ? sum + x : sum), 0);
          cut.forEach((logprob, i) => kept[i]! && expect(Math.exp(logprob)).toBeCloseTo(p[i]! / left, 5));
          const least = Math.min(...p.filter((_, i) => kept[i]!));
          // Nothing that is left out is likelier than anything that is kept.
          expect(Math.max(0, ...p.filter((_, i) => !kept[i]!))).toBeLessThanOrEqual(least);
          const last = p.toSorted((a, b) => b - a)[Math.min(most, stride) - 1]!;
          const goal = share * p.reduce((sum, x) => (x >= last ? sum + x : sum), 0);
          expect(left).toBeGreaterThanOrEqual(goal - 1e-5);
          // Without the least of what is kept it would be too little, or fewer than asked for.
          const more = p.reduce((sum, x, i) => (kept[i]! && x > least ? sum + x : sum), 0);
          expect(more < goal + 1e-5).toBe(true);
        },
      ),
    );
  });
});

describe('a sum of squares', () => {
  it('keeps its precision over a million small numbers', () => {
    const length = 1 << 20;
    const at = wasm.heap.allocate(length);
    wasm.heap.f32.fill(1e-3, at / 4, at / 4 + length);
    expect(wasm.sumSquares(length, at) / (length * 1e-6)).toBeCloseTo(1, 6);
  });
});
