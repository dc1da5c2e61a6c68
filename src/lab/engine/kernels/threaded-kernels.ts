import type { Kernels } from './kernels.js';
import { productScratch } from './matrices.js';
import { readOuterProduct, readProduct, readRotation, readSpans, type Span, spanSize } from './records.js';
import type { Piece, ThreadPool } from './thread-pool.js';
import type { SharedHeap, ThreadedName } from './thread-protocol.js';
import { Workspace } from './workspace.js';

/** Multiplications below which waking a thread takes longer than computing them here. */
const LEAST_WORK = 2 ** 18;
/** Multiplications that an exponential with its division counts as. */
const EXPONENTIAL = 16;

/** Kernels of an instance of the module; each instance needs `packingBytes` of scratch. */
export type Compiled = Kernels & { packingBytes(): number };

type Options = {
  readonly pool: ThreadPool;
  readonly module: WebAssembly.Module;
  /** 2 or more, this one included. */
  readonly threads: number;
  /** Multiplications from which a call is cut. Tests set it to 0. */
  readonly leastWork?: number | undefined;
};

/**
 * Kernels on shared memory whose large calls are computed in pieces, one on each thread.
 *
 * Calls are cut only between rows, or columns of weights, that are independent: each number is computed by one thread,
 * from the same numbers in the same order as on a single thread. So the bits are the same for any number of threads,
 * and no gradients have to be summed over threads.
 */
export function threadedKernels(own: Compiled, options: Options): Kernels {
  const { module, pool, threads, leastWork = LEAST_WORK } = options;
  const { heap } = own;
  const packingBytes = own.packingBytes();
  const packing = { at: heap.allocate(((threads - 1) * packingBytes) / 4), bytes: packingBytes };
  const shared: SharedHeap = { id: pool.register(heap), module, memory: heap.memory, packing };
  const scratch = new Scratch(own, threads);
  const kernels = own as Readonly<Record<ThreadedName, (this: void, ...args: number[]) => unknown>>;
  const pay = (work: number): boolean => work >= leastWork;
  const run = (name: ThreadedName, pieces: readonly Piece[]): void => {
    const here = kernels[name];
    if (pieces.length === 1) here(...pieces[0]!);
    else pool.run(name, shared, pieces, here);
  };
  /** Numbers 0 … count, in as many pieces as there are threads, each but the last a multiple of `step`. */
  const cut = (count: number, step: number, piece: (from: number, count: number, index: number) => Piece): Piece[] => {
    const size = Math.ceil(count / threads / step) * step;
    const pieces: Piece[] = [];
    for (let from = 0; from < count; from += size)
      pieces.push(piece(from, Math.min(size, count - from), pieces.length));
    return pieces;
  };
  return {
    ...own,
    ...products({ own, run, cut, pay, scratch }),
    ...rowKernels({ own, run, cut, pay, scratch }),
    ...attentionKernels({ own, run, cut, pay, scratch }, threads),
    adam(count, weights, gradient, m, v, settings) {
      if (!pay(count)) return own.adam(count, weights, gradient, m, v, settings);
      // Summed in one order, whatever the number of threads.
      const squares = own.sumSquares(count, gradient);
      const at = (from: number): number[] => [weights, gradient, m, v].map((address) => address + from * 4);
      run(
        'adam',
        cut(count, 16, (from, some) => [some, ...at(from), settings]),
      );
      return squares;
    },
  };
}

/** Shared tools of the kernels below. */
type Tools = {
  readonly own: Kernels;
  readonly run: (name: ThreadedName, pieces: readonly Piece[]) => void;
  readonly cut: (
    count: number,
    step: number,
    piece: (from: number, count: number, index: number) => Piece,
  ) => readonly Piece[];
  readonly pay: (work: number) => boolean;
  readonly scratch: Scratch;
};

type Products = 'gemm' | 'addProduct' | 'packRows' | 'packColumns';

/** Cut by rows of A, by columns of the left factor, and by panels of 8 columns. */
function products({ own, run, cut, pay, scratch }: Tools): Pick<Kernels, Products> {
  const { heap } = own;
  return {
    gemm(product, rows, a, c, accumulate) {
      const { columns, depth, aRow, cRow } = readProduct(heap, product);
      if (rows <= 4 || !pay(rows * columns * depth)) return own.gemm(product, rows, a, c, accumulate);
      run(
        'gemm',
        cut(rows, 4, (row, some) => [product, some, a + row * aRow * 4, c + row * cRow * 4, accumulate]),
      );
    },
    addProduct(outer, rows, left, right, target, packed) {
      const { leftWidth, leftRow, rightWidth } = readOuterProduct(heap, outer);
      if (!pay(rows * leftWidth * rightWidth)) return own.addProduct(outer, rows, left, right, target, packed);
      const room = scratch.floats(productScratch(rightWidth));
      run(
        'addProduct',
        cut(leftWidth, 4, (from, some, index) => {
          const record = scratch.outer(index, [some, leftRow, rightWidth]);
          const to = target + from * rightWidth * 4;
          return [record, rows, left + from * 4, right, to, index === 0 ? packed : room(index)];
        }),
      );
    },
    packRows(depth, columns, from, stride, to) {
      if (!pay(depth * columns)) return own.packRows(depth, columns, from, stride, to);
      run(
        'packRows',
        cut(columns, 8, (first, some) => [depth, some, from + first * 4, stride, to + first * depth * 4]),
      );
    },
    packColumns(depth, columns, from, stride, to) {
      if (!pay(depth * columns)) return own.packColumns(depth, columns, from, stride, to);
      run(
        'packColumns',
        cut(columns, 8, (first, some) => [depth, some, from + first * stride * 4, stride, to + first * depth * 4]),
      );
    },
  };
}

type RowKernels = 'rmsNorm' | 'rope' | 'swiglu' | 'swigluBackward' | 'logSoftmax' | 'logSoftmaxBackward';

/** Kernels whose rows are independent. */
function rowKernels({ own, run, cut, pay }: Tools): Pick<Kernels, RowKernels> {
  const { heap } = own;
  return {
    rmsNorm(rows, width, x, w, y, scale, epsilon) {
      if (!pay(rows * width * 4)) return own.rmsNorm(rows, width, x, w, y, scale, epsilon);
      run(
        'rmsNorm',
        cut(rows, 4, (row, some) => {
          const skip = row * width * 4;
          return [some, width, x + skip, w, y + skip, scale + row * 4, epsilon];
        }),
      );
    },
    rope(rotation, rows, x, positions, direction) {
      const { heads, headWidth, row: stride } = readRotation(heap, rotation);
      if (!pay(rows * heads * headWidth * 4)) return own.rope(rotation, rows, x, positions, direction);
      run(
        'rope',
        cut(rows, 4, (row, some) => [rotation, some, x + row * stride * 4, positions + row * 4, direction]),
      );
    },
    swiglu(rows, width, gateUp, y) {
      if (!pay(rows * width * EXPONENTIAL)) return own.swiglu(rows, width, gateUp, y);
      run(
        'swiglu',
        cut(rows, 4, (row, some) => [some, width, gateUp + row * width * 8, y + row * width * 4]),
      );
    },
    swigluBackward(rows, width, dy, gateUp, dGateUp) {
      if (!pay(rows * width * EXPONENTIAL)) return own.swigluBackward(rows, width, dy, gateUp, dGateUp);
      run(
        'swigluBackward',
        cut(rows, 4, (row, some) => {
          const skip = row * width * 4;
          return [some, width, dy + skip, gateUp + 2 * skip, dGateUp + 2 * skip];
        }),
      );
    },
    logSoftmax(rows, vocabulary, stride, scores, entropies) {
      if (!pay(rows * stride * EXPONENTIAL)) return own.logSoftmax(rows, vocabulary, stride, scores, entropies);
      run(
        'logSoftmax',
        cut(rows, 1, (row, some) => [some, vocabulary, stride, scores + row * stride * 4, entropies + row * 4]),
      );
    },
    logSoftmaxBackward(rows, stride, logprobs, entropies, dLogprobs, dEntropies, dScores) {
      if (!pay(rows * stride * EXPONENTIAL)) {
        return own.logSoftmaxBackward(rows, stride, logprobs, entropies, dLogprobs, dEntropies, dScores);
      }
      run(
        'logSoftmaxBackward',
        cut(rows, 1, (row, some) => {
          const skip = row * stride * 4;
          const perRow = [entropies, dLogprobs, dEntropies].map((address) => address + row * 4);
          return [some, stride, logprobs + skip, ...perRow, dScores + skip];
        }),
      );
    },
  };
}

/** Cut between spans: forward anywhere, backward where no rows of keys are seen from both sides. */
function attentionKernels(
  { own, run, pay, scratch }: Tools,
  threads: number,
): Pick<Kernels, 'attention' | 'attentionBackward'> {
  const { heap } = own;
  const width = (shape: number): number => heap.i32[shape / 4]! * heap.i32[shape / 4 + 2]!;
  return {
    attention(shape, spans, count, q, keys, p, out) {
      const all = readSpans(heap, spans, count);
      if (!pay(2 * width(shape) * sum(all))) return own.attention(shape, spans, count, q, keys, p, out);
      run(
        'attention',
        shares(all, threads, () => true).map(([first, some]) => {
          return [shape, spans + first * spanSize * 4, some, q, keys, p, out];
        }),
      );
    },
    attentionBackward(shape, spans, count, q, keys, p, dOut, dq, dKeys, dP) {
      const all = readSpans(heap, spans, count);
      if (!pay(4 * width(shape) * sum(all))) {
        return own.attentionBackward(shape, spans, count, q, keys, p, dOut, dq, dKeys, dP);
      }
      const room = scratch.floats(Math.max(...all.map(({ queries, pRow }) => queries * pRow)));
      run(
        'attentionBackward',
        shares(all, threads, ({ sharedRows }) => sharedRows === 0).map(([first, some], index) => {
          const row = index === 0 ? dP : room(index);
          return [shape, spans + first * spanSize * 4, some, q, keys, p, dOut, dq, dKeys, row];
        }),
      );
    },
  };
}

/** Pairs of a query and a key that it sees. */
function pairs({ queries, sharedRows, ownBefore }: Span): number {
  return queries * (sharedRows + ownBefore + (queries + 1) / 2);
}

function sum(spans: readonly Span[]): number {
  return spans.reduce((all, span) => all + pairs(span), 0);
}

/** Shares of about the same work: the first span of each, and how many. @param mayBegin Whether a share may begin with it. */
function shares(spans: readonly Span[], threads: number, mayBegin: (span: Span) => boolean): [number, number][] {
  const goal = sum(spans) / threads;
  const starts = [0];
  let work = 0;
  spans.forEach((span, index) => {
    if (index > 0 && work >= goal * starts.length - 1e-6 && starts.length < threads && mayBegin(span))
      starts.push(index);
    work += pairs(span);
  });
  return starts.map((start, share) => [start, (starts[share + 1] ?? spans.length) - start]);
}

/** Scratch for each thread but the first, and a record for each. */
class Scratch {
  readonly #kernels: Kernels;
  readonly #threads: number;
  readonly #space: Workspace;
  readonly #records: number;

  constructor(kernels: Kernels, threads: number) {
    this.#kernels = kernels;
    this.#threads = threads;
    this.#space = new Workspace(kernels.heap);
    this.#records = kernels.heap.allocate(16 * threads);
  }

  /** Returns the address of `count` floats for each thread but the first, by its number. */
  floats(count: number): (thread: number) => number {
    const aligned = Math.ceil(count / 16) * 16;
    const at = this.#space.reserve(aligned * (this.#threads - 1));
    return (thread) => at + (thread - 1) * aligned * 4;
  }

  outer(thread: number, values: readonly number[]): number {
    const at = this.#records + thread * 64;
    this.#kernels.heap.i32.set(values, at / 4);
    return at;
  }
}
