import { UserError } from '../../../base/user-error.js';
import { type Rng, rng } from '../../rng.js';
import type { Generated, Sampling, SeededPrompt } from '../engine.js';
import { Cursor, Workspace } from '../kernels/workspace.js';
import { checkTokens } from './batch.js';
import type { DecodingMemory } from './decoding-memory.js';
import { Decoding } from './decoding.js';
import { type Cache, cacheSize, type Inference, type Part, tokensOfStep } from './inference.js';
import { checkSampling, distributions, draw } from './sampling.js';
import { partsOf, type Steps } from './steps.js';

/** Prompt tokens computed in one pass: enough to keep the kernels busy, few enough to keep their activations near. */
const ROWS_AT_ONCE = 1024;
/** Floats of keys, values and scores for sequences that grow at the same time; others wait their turn. */
const FLOATS_AT_ONCE = 2 ** 26;

/** Scores of all tokens that a call may draw, up to which its sequences are kept for later calls. */
const MOST_KEPT_SCORES = 2 ** 20;

/** A sequence that grows. `index`: index of its prompt. */
type Sequence = {
  readonly index: number;
  readonly prompt: Int32Array;
  readonly random: Rng;
  /** New tokens it may have. */
  readonly room: number;
  readonly tokens: number[];
  readonly logprobs: number[];
  /** null when they equal `logprobs`. */
  readonly samplingLogprobs: number[] | null;
  ended: Generated['ended'] | null;
};

/** A sequence, and the part of a pass after which it draws. */
type Drawer = { readonly sequence: Sequence; readonly row: number };

/** The parts that a pass computes, and the sequences that draw from it, in the order of the prompts. */
type Step = { readonly parts: readonly Part[]; readonly drawers: readonly Drawer[] };

/** Addresses of a wave's rows and of its scratch. */
type WaveBuffers = { readonly cache: Cache; readonly tempered: number; readonly scratch: number };

/** Continues prompts until each has ended. */
export class Generation {
  readonly #inference: Inference;
  readonly #memory: DecodingMemory;
  readonly #space: Workspace;

  /**
   * @param memory Keeps the activations of short answers to one prompt: for the next turn, and for training on them.
   */
  constructor(inference: Inference, memory: DecodingMemory) {
    this.#inference = inference;
    this.#memory = memory;
    this.#space = new Workspace(inference.model.kernels.heap);
  }

  *generate(prompts: readonly SeededPrompt[], sampling: Sampling, stream?: Rng): Steps<Generated[]> {
    const { model } = this.#inference;
    const { shape } = model;
    checkSampling(model, sampling);
    const root = this.#rootOf(prompts, sampling);
    const isAsDrawn = root !== null && sampling.temperature === 1;
    // A loop instead of `map`, whose arrays change kind once it is optimised: code optimised for the first kind would
    // be thrown away.
    const sequences: Sequence[] = [];
    prompts.forEach(({ tokens: prompt, seed }, index) => {
      // Neighbours usually share their prompt, so it is checked once.
      if (prompt !== prompts[index - 1]?.tokens) checkTokens(shape, prompt, 'A prompt');
      checkPrompt(shape.context, prompt.length, seed);
      const random = stream ?? rng(seed, 'generate');
      const room = Math.min(sampling.maxTokens, shape.context - prompt.length);
      const ended = room === 0 ? 'length' : null;
      const samplingLogprobs = isAsDrawn ? null : [];
      sequences.push({ index, prompt, random, room, tokens: [], logprobs: [], samplingLogprobs, ended });
    });
    yield* model.parameters.packForward();
    if (root !== null) yield* this.#runKept(root, sequences, sampling);
    else yield* this.#runAll(sequences, sampling);
    const results: Generated[] = [];
    for (const sequence of sequences) results.push(result(sequence));
    return results;
  }

  /** The prefix from which all sequences can grow in the memory of decoders; null when they cannot. */
  #rootOf(prompts: readonly SeededPrompt[], sampling: Sampling): Int32Array | null {
    const { shape, widths } = this.#inference.model;
    const { temperature, maxTokens, topK = shape.vocabulary, topP = 1, repetitionPenalty = 1 } = sampling;
    const isPlain = topK >= shape.vocabulary && topP === 1 && repetitionPenalty === 1;
    const isShort = prompts.length * maxTokens * widths.scores <= MOST_KEPT_SCORES;
    // At other temperatures the scores would not have the bits of `forward`.
    if (!isPlain || !isShort || (temperature !== 0 && temperature !== 1)) return null;
    return this.#memory.rootOf(prompts.map(({ tokens }) => tokens));
  }

  *#runKept(root: Int32Array, sequences: readonly Sequence[], sampling: Sampling): Steps<void> {
    const { temperature } = sampling;
    const nothing: readonly number[] = [];
    const decoding = new Decoding(this.#inference, this.#memory, root, sequences.length);
    yield* decoding.begin();
    if (sequences.some(({ prompt }) => prompt.length > root.length))
      yield* decoding.advanceByParts(sequences.map(({ prompt }) => [...prompt.subarray(root.length)]));
    for (;;) {
      for (const sequence of sequences) {
        if (sequence.ended !== null) continue;
        const token = decoding.draw(sequence.index, sequence.random.next(), temperature);
        const logprob = decoding.logprobOf(sequence.index, token);
        append(sequence, { token, logprob, samplingLogprob: temperature === 0 ? 0 : logprob }, sampling);
      }
      if (sequences.every(({ ended }) => ended !== null)) return;
      const next: (readonly number[])[] = [];
      for (const { ended, tokens } of sequences) next.push(ended === null ? [tokens[tokens.length - 1]!] : nothing);
      decoding.advance(next);
      yield;
    }
  }

  *#runAll(sequences: readonly Sequence[], sampling: Sampling): Steps<void> {
    const { model } = this.#inference;
    const { shape, widths } = model;
    const perSequence = 3 * widths.scores + 16 * shape.width;
    const cost = { perRow: cacheSize(model, 1), perSequence, most: FLOATS_AT_ONCE };
    const open = sequences.filter(({ ended }) => ended === null);
    for (const wave of plan(open, cost)) yield* this.#run(wave, sampling);
  }

  *#run({ families, rows }: Wave<Sequence>, sampling: Sampling): Steps<void> {
    const atOnce = Math.min(ROWS_AT_ONCE, tokensOfStep(this.#inference.model));
    const reading = passes(families, atOnce);
    const growing = families.reduce((sum, { own }) => sum + own.length, 0);
    const most = Math.max(growing, ...reading.map((pass) => pass.length));
    const room = this.#roomFor(rows, most);
    for (const pass of reading) {
      const drawers = pass.flatMap(({ sequences }, row) => sequences.map((sequence) => ({ sequence, row })));
      drawers.sort((a, b) => a.sequence.index - b.sequence.index);
      const parts = pass.map(promptPart);
      // A prompt that is longer than a step is alone in its pass.
      if (parts.length === 1) yield* this.#readBeginning(parts, atOnce, room);
      this.#step({ parts, drawers }, sampling, room);
      yield;
    }
    let live = families.flatMap(rowsOf).sort((a, b) => a.sequence.index - b.sequence.index);
    for (;;) {
      live = live.filter(({ sequence }) => sequence.ended === null);
      if (live.length === 0) return;
      const drawers = live.map(({ sequence }, row) => ({ sequence, row }));
      this.#step({ parts: live.map(lastToken), drawers }, sampling, room);
      yield;
    }
  }

  /** Computes all of a prompt but its end, which stays in `parts`. */
  *#readBeginning(parts: Part[], most: number, { cache }: WaveBuffers): Steps<void> {
    const { copyOf, ...last } = parts[0]!;
    const { tokens, ownBefore } = last;
    const pieces = partsOf({ first: 0, rows: tokens.length }, most).map(({ first, rows }): Part => {
      const part = {
        ...last,
        tokens: Array.from(tokens).slice(first, first + rows),
        ownBefore: ownBefore + first,
      };
      return first === 0 && copyOf !== undefined ? { ...part, copyOf } : part;
    });
    for (const piece of pieces.slice(0, -1)) {
      this.#inference.run(cache, [piece]);
      yield;
    }
    parts[0] = pieces.at(-1)!;
  }

  /** Runs the parts through the model, and draws the next token of each sequence in `drawers`. */
  #step({ parts, drawers }: Step, sampling: Sampling, room: WaveBuffers): void {
    const { model } = this.#inference;
    const rows = { count: parts.length, ...room, ...this.#inference.run(room.cache, parts) };
    const seen = (row: number) => seenBy(drawers.find((drawer) => drawer.row === row)!.sequence);
    const from = distributions(model, sampling, rows, seen);
    const { temperature } = sampling;
    for (const { sequence, row } of drawers) {
      const uniform = sequence.random.next();
      append(sequence, draw(model, from, row, { temperature, uniform, scratch: room.scratch }), sampling);
    }
  }

  /** @param most Rows of scores at a time. */
  #roomFor(rows: number, most: number): WaveBuffers {
    const { model } = this.#inference;
    const lay = (cursor: Cursor) => ({
      scratch: cursor.take(model.widths.scores),
      tempered: cursor.take(most * model.widths.scores),
      cache: { at: cursor.take(cacheSize(model, rows)), rows },
    });
    const measure = new Cursor(0);
    lay(measure);
    return lay(new Cursor(this.#space.reserve(measure.taken)));
  }
}

/** Sequences that draw from one row have the same tokens: none yet, or there is only one sequence. */
function* seenBy({ prompt, tokens }: Sequence): Generator<number> {
  yield* prompt;
  yield* tokens;
}

/** The part of a prompt that the prompt before it does not share. */
function promptPart({ prompt, row, common, copyOf }: FamilyRows<Sequence>): Part {
  const part = { tokens: prompt.subarray(common), shared: 0, sharedRows: 0, own: row, ownBefore: common };
  return common > 0 ? { ...part, copyOf } : part;
}

/** A sequence with the rows it sees. */
type SequenceRows = Pick<Part, 'shared' | 'sharedRows' | 'own'> & { readonly sequence: Sequence };

function rowsOf({ prompt, row, sequences, own }: FamilyRows<Sequence>): SequenceRows[] {
  return sequences.map((sequence, index) => ({
    sequence,
    shared: row,
    sharedRows: prompt.length,
    own: own[index]!,
  }));
}

function lastToken({ sequence: { tokens }, shared, sharedRows, own }: SequenceRows): Part {
  return { tokens: [tokens[tokens.length - 1]!], shared, sharedRows, own, ownBefore: tokens.length - 1 };
}

function append(sequence: Sequence, drawn: ReturnType<typeof draw>, { stop = [], ends }: Sampling): void {
  sequence.tokens.push(drawn.token);
  sequence.logprobs.push(drawn.logprob);
  sequence.samplingLogprobs?.push(drawn.samplingLogprob);
  if (stop.includes(drawn.token) || ends?.(sequence.tokens) === true) sequence.ended = 'stop';
  else if (sequence.tokens.length === sequence.room) sequence.ended = 'length';
}

function result({ tokens, logprobs: own, samplingLogprobs: drawn, ended }: Sequence): Generated {
  const logprobs = new Float32Array(own);
  const samplingLogprobs = drawn === null ? logprobs : new Float32Array(drawn);
  return { tokens: new Int32Array(tokens), logprobs, samplingLogprobs, ended: ended! };
}

export function checkPrompt(context: number, length: number, seed: number): void {
  if (length > context) {
    throw new UserError(
      `A prompt of ${length} tokens is longer than the model's context, ${context}.`,
      `Shorten the prompt, or make the model with \`context\` ${length} or more.`,
    );
  }
  if (Number.isSafeInteger(seed)) return;
  throw new UserError(`The seed ${seed} of a sequence is not a whole number.`, 'Use whole numbers as seeds.');
}

/** A sequence that will grow by at most `room` tokens. */
type Growing = { readonly prompt: Int32Array; readonly room: number };

/** A prompt, the sequences that follow it, and how many of its first tokens are copied from the family before it. */
type Family<S> = { readonly prompt: Int32Array; readonly sequences: readonly S[]; readonly common: number };

/** A family and its rows of the cache: those of its prompt, of the prompt it copies from, and of each sequence. */
export type FamilyRows<S> = Family<S> & {
  readonly row: number;
  readonly copyOf: number;
  readonly own: readonly number[];
};

/** Families that grow side by side, and how many rows of cache they take. */
type Wave<S> = { readonly families: readonly FamilyRows<S>[]; readonly rows: number };

/**
 * Groups sequences by prompt, and cuts the whole into waves of bounded size; a large family may be in several, each
 * with the prompt anew. Prompts are in lexical order, so that prompts with a common prefix are neighbours.
 *
 * @param most Limit of a wave's cost: `perRow` for each row of cache and `perSequence` for each sequence. A sequence
 * that is too large is a wave of its own.
 */
export function plan<S extends Growing>(
  sequences: readonly S[],
  cost: { readonly perRow: number; readonly perSequence: number; readonly most: number },
): Wave<S>[] {
  const waves: S[][] = [];
  let left = 0;
  for (const alike of byPrompt(sequences)) {
    let isNew = true;
    for (const sequence of alike) {
      const own = cost.perSequence + cost.perRow * sequence.room;
      const withPrompt = own + cost.perRow * sequence.prompt.length;
      if (waves.length === 0 || (isNew ? withPrompt : own) > left) {
        waves.push([]);
        left = cost.most;
        isNew = true;
      }
      waves.at(-1)!.push(sequence);
      left -= isNew ? withPrompt : own;
      isNew = false;
    }
  }
  return waves.map((wave) => place(families(wave)));
}

/** Families whose prompts are computed together: as many as fit in `rows` tokens, at least one. */
export function passes<S>(placed: readonly FamilyRows<S>[], rows: number): FamilyRows<S>[][] {
  const all: FamilyRows<S>[][] = [];
  let taken = Infinity;
  for (const family of placed) {
    const unseen = family.prompt.length - family.common;
    if (taken + unseen > rows) {
      all.push([]);
      taken = 0;
    }
    all.at(-1)!.push(family);
    taken += unseen;
  }
  return all;
}

/** Sequences of one prompt, in their order, prompt by prompt. */
function byPrompt<S extends Growing>(sequences: readonly S[]): S[][] {
  const known = new Map<string, S[]>();
  for (const sequence of sequences) {
    const key = sequence.prompt.join();
    const alike = known.get(key);
    if (alike === undefined) known.set(key, [sequence]);
    else alike.push(sequence);
  }
  return [...known.values()].sort((a, b) => compare(a[0]!.prompt, b[0]!.prompt));
}

/** @param wave Prompt by prompt. */
function families<S extends Growing>(wave: readonly S[]): Family<S>[] {
  return byPrompt(wave).map((sequences, index, all) => {
    const { prompt } = sequences[0]!;
    const before = all[index - 1]?.[0]!.prompt ?? new Int32Array(0);
    // Never the whole prompt: of two with a common prefix the shorter comes first.
    return { prompt, sequences, common: sameTokens(before, prompt) };
  });
}

function place<S extends Growing>(wave: readonly Family<S>[]): Wave<S> {
  let rows = 0;
  let copyOf = 0;
  const take = (count: number): number => {
    rows += count;
    return rows - count;
  };
  const placed = wave.map((family) => {
    const row = take(family.prompt.length);
    // The last token of a sequence is never fed back.
    const whole = { ...family, row, copyOf, own: family.sequences.map(({ room }) => take(room - 1)) };
    copyOf = row;
    return whole;
  });
  return { families: placed, rows };
}

function compare(a: Int32Array, b: Int32Array): number {
  const same = sameTokens(a, b);
  return same === Math.min(a.length, b.length) ? a.length - b.length : a[same]! - b[same]!;
}

function sameTokens(a: Int32Array, b: Int32Array): number {
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  return same;
}
