/** Evaluation of a model in each mode of its adapters: reward, hacking and collapse. */
import { mean } from '../../analysis/statistics.js';
import type { Task } from '../environments/environment.js';
import type { Completion } from '../rewards/completion.js';
import type { RewardFunction } from '../rewards/registry.js';
import { completionOf, shareOf, type Detector, type RewardedEnvironment, type Scores } from '../rewards/scores.js';
import { rng } from '../rng.js';
import { rollOut, type Player, type Rollout, type RolloutOptions } from '../rollouts/rollouts.js';
import type { Row } from '../run/metrics-file.js';
import { inEachMode, type Mode } from '../service/dual-adapters.js';
import type { EngineService } from '../service/engine-service.js';
import { collapseOf, type Collapse } from './collapse.js';
import { diversityOf, type Diversity } from './diversity.js';
import { driftOf, type Drift, type DriftLimits, type SampleLogprobs, type ReferenceLogprobs } from './drift.js';

/** Tasks and measures of an evaluation. */
export type ModeEvaluation = RewardedEnvironment & {
  /** Each is played once. */
  readonly tasks: readonly Task[];
  readonly sampling: RolloutOptions['sampling'];
  /** More rewards to measure, which are not trained on. */
  readonly others: readonly RewardFunction[];
  readonly hackDetector: Detector | null;
  /** Seed of the sampling; small-rl's by default. */
  readonly seed?: number;
  readonly reference?: ModeReference;
};

/** References of the samples, as far as they are known. */
export type ModeReference = {
  /**
   * Samples of the model before the training for the same tasks, with which signs of collapse are compared. Null when
   * unknown.
   */
  readonly before: ScoredCompletions | null;
  /** Models that score the samples, and the limits; null when the model before the training is unknown. */
  readonly drift: {
    readonly limits: DriftLimits;
    readonly read: (groups: readonly (readonly Rollout[])[]) => Promise<ReferenceLogprobs>;
  } | null;
};

/** Completions and their rewards. `scores`: one for each completion, by the name of the reward. */
export type ScoredCompletions = {
  readonly completions: readonly Completion[];
  readonly scores: Readonly<Record<string, readonly number[]>>;
  /** Share of the completions that hack; null when there is no detector. */
  readonly hackFrequency: number | null;
};

/** The result of one mode. */
export type ModeResult = ScoredCompletions & {
  readonly mode: Mode['name'];
  readonly diversity: Diversity;
  readonly collapse: Collapse;
  /** Null without a reference. */
  readonly drift: Drift | null;
};

/** small-rl's seed: all modes draw the same numbers, so that they differ by their adapters alone. */
export const evaluationSeed = 42;

/** Evaluates each mode of the adapters, and leaves the model as it was. */
export async function evaluateModes(service: EngineService, evaluation: ModeEvaluation): Promise<ModeResult[]> {
  return inEachMode(service.engine, (mode) => evaluateMode(service, evaluation, mode));
}

/** Evaluates the mode that the model is in. */
export async function evaluateMode(
  service: Player['service'],
  evaluation: ModeEvaluation,
  { name }: Mode,
): Promise<ModeResult> {
  const groups = await playTasks(service, evaluation);
  const earned = await earnedBy(groups, evaluation);
  const texts = textsOf(earned);
  const { before = null, drift = null } = evaluation.reference ?? {};
  const own = before === null ? [] : textsOf(before);
  const spread = { diversity: diversityOf(texts), collapse: collapseOf(texts, own) };
  return { mode: name, ...earned, ...spread, drift: await driftFrom(drift, groups) };
}

/** Samples the tasks and computes their rewards. */
export async function earnedBy(
  groups: readonly (readonly Rollout[])[],
  { scoring, others, hackDetector, seed = evaluationSeed }: ModeEvaluation,
): Promise<ScoredCompletions> {
  const completions = groups.flat().map(completionOf);
  const scores = scoring.scoresOf(groups);
  const named = await scoresByName(scoring.name, scores, completions, others);
  const hacks = hackDetector?.flags(completions, scores, rng(seed, 'hacks/0')) ?? null;
  return { completions, scores: named, hackFrequency: hacks === null ? null : shareOf(hacks) };
}

function textsOf({ completions }: ScoredCompletions): string[] {
  return completions.map(({ text }) => text);
}

async function driftFrom(
  reference: ModeReference['drift'],
  groups: readonly (readonly Rollout[])[],
): Promise<Drift | null> {
  return reference === null
    ? null
    : driftOf(groups.flat().map(ownReading), await reference.read(groups), reference.limits);
}

/** Log-probabilities of the tokens that the model itself generated. */
function ownReading({ logprobs, turnOf }: Rollout): SampleLogprobs[number] {
  return logprobs.filter((_, token) => turnOf[token]! >= 0);
}

/** Number of rollouts of each task, and the name of the random stream. */
type Playing = { readonly copies: number; readonly stream: string };
const once: Playing = { copies: 1, stream: 'evaluation' };

/** Plays each task, once by default, with the model as it is. The random numbers are the same each time. */
export function playTasks(
  service: Player['service'],
  evaluation: Pick<ModeEvaluation, 'environment' | 'tasks' | 'sampling' | 'seed'>,
  { copies, stream }: Playing = once,
): Promise<Rollout[][]> {
  const { environment, tasks, sampling, seed = evaluationSeed } = evaluation;
  return rollOut({ service, environment }, tasks, { copies, sampling, streams: 'own' }, rng(seed, stream));
}

async function scoresByName(
  name: string,
  { plain, components }: Scores,
  completions: readonly Completion[],
  others: readonly RewardFunction[],
): Promise<Record<string, readonly number[]>> {
  const parts = components.length > 1 ? components.map(({ id, scores }) => [id, scores] as const) : [];
  const more: [string, number[]][] = [];
  for (const other of others) more.push([other.name, await other.score(completions)]);
  return Object.fromEntries([[name, plain], ...parts, ...more]);
}

/** The results as small-rl's columns: `routing_eval/retain_only/happy_binary`. */
export function modesRow(results: readonly ModeResult[]): Row {
  const entries = results.flatMap(
    ({ mode, scores, hackFrequency, diversity: { uniqueSamples, averageJaccard }, collapse }) => [
      ...Object.entries(scores).map(([name, values]): [string, number | null] => [`${mode}/${name}`, mean(values)]),
      [`${mode}/hack_freq`, hackFrequency] as [string, number | null],
      [`${mode}/unique`, uniqueSamples] as [string, number],
      [`${mode}/jaccard`, averageJaccard] as [string, number],
      [`${mode}/collapse_flags`, collapse.flags.length] as [string, number],
    ],
  );
  const measured = entries.filter(([, value]) => value !== null);
  return Object.fromEntries(measured.map(([name, value]) => [`routing_eval/${name}`, value]));
}

/** The results as lines, one for each mode. */
export function modesLines(results: readonly ModeResult[]): string[] {
  return results.map(({ mode, scores, hackFrequency, diversity: { uniqueSamples, averageJaccard }, ...rest }) => {
    const figures = Object.entries(scores).map(([name, values]) => `${name}=${figure(values)}`);
    const hacks = hackFrequency === null ? [] : [`hack_freq=${hackFrequency.toFixed(3)}`];
    const spread = [`unique=${uniqueSamples}/${rest.completions.length}`, `jaccard=${averageJaccard.toFixed(3)}`];
    const kinds = [...new Set(rest.collapse.flags.map(({ kind }) => kind))].map((kind) => `!${kind}`);
    return `  ${mode.padEnd(15)}${[...figures, ...hacks, ...spread, ...kinds].join(' ')}`;
  });
}

function figure(values: readonly number[]): string {
  return (mean(values) ?? Number.NaN).toFixed(3);
}
