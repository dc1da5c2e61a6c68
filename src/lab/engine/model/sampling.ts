import { UserError } from '../../../base/user-error.js';
import type { Sampling } from '../engine.js';
import { checkToken } from './batch.js';
import type { Model } from './model.js';

/** At lower temperatures, scores divided by the temperature would overflow single precision. */
const LOWEST_TEMPERATURE = 1e-6;

/** Rows of unnormalised scores, and scratch of the same size for the distributions to draw from. */
type ScoreRows = {
  readonly count: number;
  readonly scores: number;
  readonly tempered: number;
  /** A number per row. */
  readonly entropies: number;
  /** Scratch for one row. */
  readonly scratch: number;
};

/** Log-probabilities, row by row: the model's own, and those to draw from. They may be the same. */
type Distributions = { readonly own: number; readonly drawn: number };

type Draw = { readonly token: number; readonly logprob: number; readonly samplingLogprob: number };

/**
 * Turns the scores into log-probabilities, in place, and computes those that `sampling` draws from.
 *
 * @param seen The tokens before each row's next one.
 */
export function distributions(
  model: Model,
  sampling: Sampling,
  rows: ScoreRows,
  seen: (row: number) => Iterable<number>,
): Distributions {
  const { scores, tempered } = rows;
  const isCut = cuts(model, sampling);
  const isOther = changeScores(model, sampling, rows, seen);
  if (isOther) normalise(model, rows, tempered);
  normalise(model, rows, scores);
  if (isCut) {
    if (!isOther) copyScores(model, rows);
    keepLikeliest(model, sampling, rows);
  }
  return { own: scores, drawn: isOther || isCut ? tempered : scores };
}

/**
 * Writes the scores to draw from beside the model's own.
 * @returns false, and writes nothing, when they are the same.
 */
function changeScores(
  model: Model,
  { temperature, repetitionPenalty: penalty = 1 }: Sampling,
  rows: ScoreRows,
  seen: (row: number) => Iterable<number>,
): boolean {
  const isTempered = temperature !== 0 && temperature !== 1;
  if (!isTempered && penalty === 1) return false;
  copyScores(model, rows);
  if (penalty !== 1) penalise(model, rows, penalty, seen);
  if (isTempered) model.kernels.scale(rows.count * model.widths.scores, rows.tempered, 1 / temperature);
  return true;
}

/** Applies the penalty once for each token, however often it was seen. */
function penalise(
  { kernels, widths }: Model,
  { count, tempered }: ScoreRows,
  penalty: number,
  seen: (row: number) => Iterable<number>,
): void {
  const { f32 } = kernels.heap;
  for (let row = 0; row < count; row++) {
    const start = tempered / 4 + row * widths.scores;
    for (const token of new Set(seen(row))) {
      const score = f32[start + token]!;
      f32[start + token] = score > 0 ? score / penalty : score * penalty;
    }
  }
}

/** Whether top-k or top-p can remove tokens. The likeliest token always stays. */
function cuts({ shape }: Model, { temperature, topK = shape.vocabulary, topP = 1 }: Sampling): boolean {
  return temperature > 0 && (topK < shape.vocabulary || topP < 1);
}

function copyScores({ kernels, widths }: Model, { count, scores, tempered }: ScoreRows): void {
  kernels.copy(count * widths.scores, scores, tempered);
}

function normalise({ kernels, shape, widths }: Model, { count, entropies }: ScoreRows, at: number): void {
  kernels.logSoftmax(count, shape.vocabulary, widths.scores, at, entropies);
}

function keepLikeliest(model: Model, { topK = model.shape.vocabulary, topP = 1 }: Sampling, rows: ScoreRows): void {
  const { kernels, widths } = model;
  for (let row = 0; row < rows.count; row++) {
    kernels.keepLikeliest(widths.scores, rows.tempered + row * widths.scores * 4, topK, topP, rows.scratch);
  }
}

/** Draws a token of a row by inverse CDF. @param uniform In [0, 1). */
export function draw(
  { kernels, shape, widths }: Model,
  { own, drawn }: Distributions,
  row: number,
  { temperature, uniform, scratch }: { temperature: number; uniform: number; scratch: number },
): Draw {
  const at = drawn + row * widths.scores * 4;
  const inverse = temperature === 0 ? Infinity : 1;
  const token = kernels.sample(shape.vocabulary, widths.scores, at, uniform, inverse, scratch);
  const { f32 } = kernels.heap;
  const samplingLogprob = temperature === 0 ? 0 : f32[at / 4 + token]!;
  return { token, logprob: f32[own / 4 + row * widths.scores + token]!, samplingLogprob };
}

/** Throws a UserError that names the setting with which no token can be drawn. */
export function checkSampling(
  model: Pick<Model, 'shape'>,
  { maxTokens, temperature, topK, topP = 1, repetitionPenalty = 1, stop = [] }: Sampling,
): void {
  checkWhole('maxTokens', maxTokens);
  if (temperature !== 0) checkTemperature(temperature, ', or 0 for the likeliest token');
  if (topK !== undefined) checkWhole('topK', topK);
  if (!(topP > 0 && topP <= 1)) {
    throw new UserError(`\`topP\` is ${topP}.`, 'Use a number above 0, at most 1; 1 keeps every token.');
  }
  checkPenalty(repetitionPenalty);
  for (const token of stop) checkToken(model.shape, token, '`stop`');
}

function checkPenalty(penalty: number): void {
  if (penalty > 0 && penalty < Infinity) return;
  throw new UserError(`\`repetitionPenalty\` is ${penalty}.`, 'Use a number above 0; 1 is no penalty.');
}

function checkWhole(name: string, value: number): void {
  if (Number.isSafeInteger(value) && value >= 1) return;
  throw new UserError(`\`${name}\` is ${value}.`, `Give \`${name}\` as a whole number from 1 up.`);
}

/** @param instead What else may be used: ", or 0 …". */
export function checkTemperature(temperature: number, instead = ''): void {
  if (temperature >= LOWEST_TEMPERATURE && temperature < Infinity) return;
  throw new UserError(
    `The temperature ${temperature} is not a number from ${LOWEST_TEMPERATURE} up.`,
    `Use 1 for the model's own probabilities${instead}.`,
  );
}
