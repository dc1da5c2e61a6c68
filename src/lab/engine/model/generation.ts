import { UserError } from '../../../base/user-error.js';
import { type Rng, rng } from '../../rng.js';
import type { Generated, Sampling, SeededPrompt } from '../engine.js';
import { Cursor, Workspace } from '../kernels/workspace.js';
import { checkTokens } from './batch.js';
import { type Cache, cacheSize, type Inference, type Part } from './inference.js';
import { passes, type Placed, plan, type Wave } from './prompt-families.js';
import { checkSampling, distributions, draw } from './sampling.js';

/** Prompt tokens computed in one pass: enough to keep the kernels busy, few enough to keep their activations near. */
const ROWS_AT_ONCE = 1024;
/** Floats of keys, values and scores for sequences that grow at the same time; others wait their turn. */
const FLOATS_AT_ONCE = 2 ** 26;

/** A sequence that grows. */
type Sequence = {
  readonly prompt: Int32Array;
  readonly random: Rng;
  /** Tokens it may have. */
  readonly room: number;
  readonly tokens: number[];
  readonly logprobs: number[];
  readonly samplingLogprobs: number[];
  ended: Generated['ended'] | null;
};

/** What a pass computes, and for each part the sequences that draw what follows it. */
type Step = { readonly parts: readonly Part[]; readonly drawers: readonly (readonly Sequence[])[] };

/** Where a wave's rows are, and what it draws with. */
type Room = { readonly cache: Cache; readonly tempered: number; readonly scratch: number };

/** Continues prompts until each has ended. */
export class Generation {
  readonly #inference: Inference;
  readonly #space: Workspace;

  constructor(inference: Inference) {
    this.#inference = inference;
    this.#space = new Workspace(inference.model.kernels.heap);
  }

  generate(prompts: readonly SeededPrompt[], sampling: Sampling): Generated[] {
    const { model } = this.#inference;
    const { shape, widths } = model;
    checkSampling(model, sampling);
    for (const { tokens, seed } of prompts) {
      checkTokens(shape, tokens, 'A prompt');
      checkPrompt(shape.context, tokens.length, seed);
    }
    const sequences = prompts.map((prompt) =>
      begin(prompt, Math.min(sampling.maxTokens, shape.context - prompt.tokens.length)),
    );
    const perSequence = 3 * widths.scores + 16 * shape.width;
    const cost = { perRow: cacheSize(model, 1), perSequence, most: FLOATS_AT_ONCE };
    const open = sequences.filter(({ ended }) => ended === null);
    for (const wave of plan(open, cost)) this.#run(wave, sampling);
    return sequences.map(result);
  }

  #run({ families, rows }: Wave<Sequence>, sampling: Sampling): void {
    const reading = passes(families, ROWS_AT_ONCE);
    const growing = families.reduce((sum, { own }) => sum + own.length, 0);
    const most = Math.max(growing, ...reading.map((pass) => pass.length));
    const room = this.#roomFor(rows, most);
    for (const pass of reading) {
      const drawers = pass.map(({ sequences }) => sequences);
      this.#step({ parts: pass.map(promptPart), drawers }, sampling, room);
    }
    let live = families.flatMap(rowsOf);
    for (;;) {
      live = live.filter(({ sequence }) => sequence.ended === null);
      if (live.length === 0) return;
      this.#step({ parts: live.map(lastToken), drawers: live.map(({ sequence }) => [sequence]) }, sampling, room);
    }
  }

  /** Computes the parts and draws what follows each. */
  #step({ parts, drawers }: Step, sampling: Sampling, room: Room): void {
    const { model } = this.#inference;
    const rows = { count: parts.length, ...room, ...this.#inference.run(room.cache, parts) };
    const from = distributions(model, sampling, rows, (row) => seenBy(drawers[row]![0]!));
    const { temperature, stop = [] } = sampling;
    drawers.forEach((sequences, row) => {
      for (const sequence of sequences) {
        const uniform = sequence.random.next();
        append(sequence, draw(model, from, row, { temperature, uniform, scratch: room.scratch }), stop);
      }
    });
  }

  /** @param most Rows of scores at a time. */
  #roomFor(rows: number, most: number): Room {
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

function begin({ tokens: prompt, seed }: SeededPrompt, room: number): Sequence {
  const nothing = { tokens: [], logprobs: [], samplingLogprobs: [] };
  return { prompt, random: rng(seed, 'generate'), room, ...nothing, ended: room === 0 ? 'length' : null };
}

/** Sequences that draw from one row have all said the same: nothing yet, or there is one of them. */
function* seenBy({ prompt, tokens }: Sequence): Generator<number> {
  yield* prompt;
  yield* tokens;
}

/** What of a prompt the one before it does not have. */
function promptPart({ prompt, row, common, copyOf }: Placed<Sequence>): Part {
  const part = { tokens: prompt.subarray(common), shared: 0, sharedRows: 0, own: row, ownBefore: common };
  return common > 0 ? { ...part, copyOf } : part;
}

/** A sequence with the rows it sees. */
type Live = Pick<Part, 'shared' | 'sharedRows' | 'own'> & { readonly sequence: Sequence };

function rowsOf({ prompt, row, sequences, own }: Placed<Sequence>): Live[] {
  return sequences.map((sequence, index) => ({
    sequence,
    shared: row,
    sharedRows: prompt.length,
    own: own[index]!,
  }));
}

function lastToken({ sequence: { tokens }, shared, sharedRows, own }: Live): Part {
  return { tokens: [tokens[tokens.length - 1]!], shared, sharedRows, own, ownBefore: tokens.length - 1 };
}

function append(sequence: Sequence, drawn: ReturnType<typeof draw>, stop: readonly number[]): void {
  sequence.tokens.push(drawn.token);
  sequence.logprobs.push(drawn.logprob);
  sequence.samplingLogprobs.push(drawn.samplingLogprob);
  if (stop.includes(drawn.token)) sequence.ended = 'stop';
  else if (sequence.tokens.length === sequence.room) sequence.ended = 'length';
}

function result({ tokens, logprobs, samplingLogprobs, ended }: Sequence): Generated {
  return {
    tokens: Int32Array.from(tokens),
    logprobs: Float32Array.from(logprobs),
    samplingLogprobs: Float32Array.from(samplingLogprobs),
    ended: ended!,
  };
}

export function checkPrompt(context: number, length: number, seed: number): void {
  if (length > context) {
    throw new UserError(
      `A prompt of ${length} tokens is longer than the model's context, ${context}.`,
      `Shorten the prompt, or make the model with \`context\` ${length} or more.`,
    );
  }
  if (Number.isSafeInteger(seed)) return;
  throw new UserError(`A sequence has the seed ${seed}.`, 'Use whole numbers as seeds.');
}
