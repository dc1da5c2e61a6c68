import { UserError } from '../../../base/user-error.js';
import type { Floats, ModelShape, PromptGroup } from '../engine.js';
import type { Span } from '../kernels/records.js';

/**
 * Prompt groups as rows of a matrix. Each prompt has its rows once; each continuation has a row for every token but
 * its last, which predicts nothing. A head row is a row whose next token is scored: the last row of a prompt, for the
 * first token of all its continuations, and every row of a continuation.
 */
export type Batch = {
  readonly tokens: readonly number[];
  readonly positions: readonly number[];
  /** A prompt, or a continuation that sees its prompt: each sees rows of this batch. */
  readonly segments: readonly Span[];
  readonly headRows: readonly number[];
  /** The tokens that are scored, and for each the head row (its index in `headRows`) that predicts it. */
  readonly targets: readonly number[];
  readonly targetHeads: readonly number[];
  /** Floats of attention probabilities of one layer. */
  readonly probabilities: number;
  /** Floats of probabilities of one head of one segment, at most. */
  readonly largestHead: number;
};

/** Throws a UserError when a group is empty, too long for the model, or has a token outside the vocabulary. */
export function layOutBatch(shape: ModelShape, groups: readonly PromptGroup[]): Batch {
  if (groups.length === 0) throw new UserError('A batch has no prompt groups.', 'Give at least one group.');
  const batch = new BatchBuilder(shape.heads);
  for (const group of groups) {
    checkGroup(shape, group);
    batch.addGroup(group);
  }
  return batch;
}

function checkGroup(shape: ModelShape, { prompt, continuations, targets }: PromptGroup): void {
  checkTokens(shape, prompt, 'A prompt');
  if (continuations.length === 0) {
    throw new UserError('A prompt group has no continuations.', 'Give each prompt at least one continuation.');
  }
  continuations.forEach((continuation, index) => {
    checkTokens(shape, continuation, 'A continuation');
    checkTargets(shape, continuation, targets?.[index] ?? null);
    const length = prompt.length + continuation.length;
    if (length <= shape.context) return;
    throw new UserError(
      `A sequence of ${length} tokens is longer than the model's context, ${shape.context}.`,
      `Shorten the sequence, or make the model with \`context\` ${length} or more.`,
    );
  });
}

function checkTargets(shape: ModelShape, tokens: Int32Array, targets: Int32Array | null): void {
  if (targets === null) return;
  checkTokens(shape, targets, 'The targets of a continuation');
  if (targets.length % tokens.length === 0) return;
  throw new UserError(
    `A continuation of ${tokens.length} tokens has ${targets.length} targets.`,
    'Give as many targets for each of its tokens.',
  );
}

class BatchBuilder implements Batch {
  readonly tokens: number[] = [];
  readonly positions: number[] = [];
  readonly segments: Span[] = [];
  readonly headRows: number[] = [];
  readonly targets: number[] = [];
  readonly targetHeads: number[] = [];
  probabilities = 0;
  largestHead = 0;
  readonly #heads: number;

  constructor(heads: number) {
    this.#heads = heads;
  }

  addGroup({ prompt, continuations, targets }: PromptGroup): void {
    const first = this.tokens.length;
    this.#addRows(prompt, prompt.length, 0);
    this.#addSegment(first, prompt.length, first, 0);
    const promptHead = this.headRows.push(this.tokens.length - 1) - 1;
    continuations.forEach((continuation, index) => {
      const heads = this.#addContinuation(continuation, first, prompt.length);
      this.#addTargets(targets?.[index] ?? continuation, [promptHead, ...heads]);
    });
  }

  /** Adds the rows of a continuation. @returns their head rows. */
  #addContinuation(tokens: Int32Array, sharedRow: number, sharedRows: number): number[] {
    const row = this.tokens.length;
    const rows = tokens.length - 1;
    this.#addRows(tokens, rows, sharedRows);
    if (rows > 0) this.#addSegment(row, rows, sharedRow, sharedRows);
    return Array.from({ length: rows }, (_, index) => this.headRows.push(row + index) - 1);
  }

  /** Adds the tokens that are scored, as many for each head. */
  #addTargets(targets: Int32Array, heads: readonly number[]): void {
    const each = targets.length / heads.length;
    targets.forEach((target, index) => {
      this.targets.push(target);
      this.targetHeads.push(heads[Math.floor(index / each)]!);
    });
  }

  #addRows(tokens: Int32Array, count: number, position: number): void {
    for (let i = 0; i < count; i++) {
      this.tokens.push(tokens[i]!);
      this.positions.push(position + i);
    }
  }

  #addSegment(row: number, rows: number, sharedRow: number, sharedRows: number): void {
    const pRow = Math.ceil((sharedRows + rows) / 4) * 4;
    const keys = { shared: sharedRow, sharedRows, own: row, ownBefore: 0 };
    this.segments.push({ queries: rows, row, ...keys, p: this.probabilities, pRow });
    this.probabilities += this.#heads * rows * pRow;
    this.largestHead = Math.max(this.largestHead, rows * pRow);
  }
}

/** Throws a UserError when there is no token, or one that the vocabulary does not have. `what`: "A prompt". */
export function checkTokens(shape: ModelShape, tokens: ArrayLike<number>, what: string): void {
  if (tokens.length === 0) throw new UserError(`${what} has no tokens.`, 'Give at least one token.');
  for (let i = 0; i < tokens.length; i++) checkToken(shape, tokens[i]!, what);
}

export function checkToken({ vocabulary }: ModelShape, token: number, what: string): void {
  if (Number.isInteger(token) && token >= 0 && token < vocabulary) return;
  throw new UserError(
    `${what} contains ${token}, which is not a token of this model.`,
    `Use whole numbers from 0 to ${vocabulary - 1}, or a model with a larger vocabulary.`,
  );
}

/** Throws a UserError unless there is one of these numbers (`dLogprob`) for each token that was scored. */
export function checkScores(name: string, values: Floats, { targets }: Pick<Batch, 'targets'>): void {
  if (values.length === targets.length) return;
  throw new UserError(
    `\`${name}\` has ${values.length} numbers, but the last forward pass scored ${targets.length} tokens.`,
    'Give one number per continuation token of the last forward pass, in its order.',
  );
}
