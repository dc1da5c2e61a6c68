import { inWords, isSettingName, isSystemMetric } from '../contract/metric-names.js';

/**
 * Which metric is shown for a run by default, and the order of metrics: the same in the window, in `ls`, in reports and in exports.
 * In this order:
 *
 * 1. what the sweep file shows (`metrics.show`), in its order;
 * 2. what it evaluates runs by: the objective (`metric`), then the metrics of `stop_when`;
 * 3. results by their names: rewards, returns, scores, accuracies, bits, losses; of each kind those of an evaluation first, then
 * those without a data set in their name, then those of training; accuracies of training follow the losses of an evaluation;
 * 4. other numbers, then those that describe how training goes (entropies, norms, lengths, shares of what was clipped);
 * 5. settings and sizes (the learning rate, a count of parameters), then what only counts or tells the time;
 * 6. what the run uses of the machine (`system/…`), which never stands for a run.
 *
 * Metrics that are alike stay in the order in which they were written.
 */

/**
 * What a sweep file says of the metrics of its runs. `show`: which to show, in this order. `x`: the axis of charts. `judgedBy`:
 * names of the metrics that decide over runs, as the objective or an expression writes them (`eval_loss` for `eval/loss`).
 */
export type MetricsToShow = {
  readonly show: readonly string[];
  readonly x: string;
  readonly judgedBy?: readonly string[] | undefined;
};

/** Number of metric columns in a table, when the sweep does not say which to show. */
const MOST = 4;
/** A series with at least so many values that rises by a constant step is a counter. */
const LEAST_COUNTED = 4;
/** Metrics that are checked, at most, until one is found that is no counter. */
const MOST_COUNTING = 8;

/** Kinds of results, the most telling first. Short words stand alone; long ones may be part of a word (`valloss`). */
const results: readonly RegExp[] = [
  /reward|\b(ep)?rew(mean)?\b|\beprewmean\b/,
  /\breturns?\b|episode_?return|\b(ep)?ret\b/,
  /score|success|solved|\bwin\b|\bpass\b|\b(f1|auc|auroc|bleu|rouge|iou|map\d*|elo|reward|dice|psnr|ssim|r2)\b/,
  /accuracy|correct|\bacc\b|acc$|top_?[15]\b|\bacc@\d/,
  /\bbits\b/,
  /loss|perplexity|\b(ppl|nll|bpb|bpc|mse|mae|rmse|wer|cer|err|error|cost|xent|cross entropy|objective|fid|l[12])\b/,
];
/** The first kind of results of which those in training only tell how well data are fitted: accuracies. */
const firstFitted = results.findIndex((result) => result.test('accuracy'));
/** A code length is a loss, unlike the bits that a model has learnt. */
const bitsPerSymbol = /\bbits per (byte|char|character|dim|dimension|token|word|pixel)\b/;
/** Terms of the objective of reinforcement learning: they do not fall as a policy gets better. */
const ofPolicies = /\b(policy|actor|critic|value|surrogate|pg|vf|qf|aux)\b.*\bloss/;
/** A name with one of these words describes a result, or only contains its name: `reward_std`, `loss_scale`. */
const besides = /\b(std|stddev|var|variance|scale|coef|coeff|coefficient|weight|norm|threshold|baseline|target)s?\b/;
/** Metrics that describe how training goes, not how good the model is: `entropy_loss`, `grad_norm`. */
const descriptions =
  /\bentropy\b(?<!cross entropy)|\b(norms?|gnorm|grads?|gradient|kl|clip\w*|mem|memory|\w*mem|len|length|mfu|t?flops|gpu|cpu|utilization|power|weights?|size)\b/;
const ofEvaluation = /\b(eval|evaluation|val|valid|validate|validation|test|dev|heldout)\b/;
const ofTraining = /\b(train|training|optim)\b/;
/** Counters and clocks: they say how far a run is, or how fast, not how well it did. */
const counters =
  /(^|[/_.-])(_?(global_?|env_?|train_?|num_?|n_?|total_?)*(steps?|iter|iters|iterations?|batch|batch_idx|batches|epochs?|updates?|episodes?|trials?|examples?|samples?|tokens?|frames?|timesteps?|rows?)|count|counter|index|idx|done_frac|progress)(_?(seen|done|total|count|processed))?$/;
const clocks =
  /(^|[/_.-])(_?runtime|_?timestamp|time|wall_?time|elapsed|duration|seconds?|secs?|ms|eta|fps|sps|wps|tps|dt|throughput|it_per_s|(tok|tokens|it|samples|steps|words|images|img)\/s(ec)?|ms\/batch|[a-z]+_per_(sec|second|s))(_?(s|ms|sec|seconds|elapsed|total))?$|^(time|timing|progress|theory|limit|perf)\//;

const nothingCounts: ReadonlySet<string> = new Set();

/**
 * All metrics that were written, in the order above.
 *
 * @param counting Metrics that are counters by their values, as `isCounting` finds.
 */
export function inMetricOrder(
  written: Iterable<string>,
  choice: MetricsToShow,
  counting: ReadonlySet<string> = nothingCounts,
): string[] {
  return [...written]
    .map((key) => ({ key, rank: rankOf(key, choice, counting) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ key }) => key);
}

/**
 * The metrics that are shown as columns: those of `show` that were written, or else the first few that are no counters. Where there
 * are only counters, the first of them.
 */
export function shownMetrics(
  written: Iterable<string>,
  choice: MetricsToShow,
  counting: ReadonlySet<string> = nothingCounts,
): string[] {
  const inOrder = inMetricOrder(written, choice, counting);
  const asked = inOrder.filter((key) => choice.show.includes(key));
  if (asked.length > 0) return asked;
  const telling = inOrder.filter((key) => !isCounter(key, choice, counting)).slice(0, MOST);
  return telling.length > 0 ? telling : inOrder.filter((key) => !isSystemMetric(key)).slice(0, 1);
}

/**
 * The metric that is shown for a run by default: the first of `show`, written or not; or else the first column; null: there is
 * none.
 */
export function defaultMetric(
  written: Iterable<string>,
  choice: MetricsToShow,
  counting: ReadonlySet<string> = nothingCounts,
): string | null {
  return choice.show[0] ?? shownMetrics(written, choice, counting)[0] ?? null;
}

/** The metric that is shown for a run, among metrics in their order: the first that is no counter, if there is one. */
export function standingAmong(
  inOrder: readonly string[],
  choice: MetricsToShow,
  counting: ReadonlySet<string>,
): string | null {
  const ofRun = inOrder.filter((key) => !isSystemMetric(key) || choice.show.includes(key));
  return ofRun.find((key) => !isCounter(key, choice, counting)) ?? ofRun[0] ?? null;
}

/** Whether a metric is a count, a time or a setting rather than a result. A metric that the sweep file asks for is a result. */
export function isCounter(key: string, choice: MetricsToShow, counting: ReadonlySet<string> = nothingCounts): boolean {
  return !choice.show.includes(key) && placeOf(key, choice, counting) >= Place.setting;
}

/**
 * Which direction of a metric is better, by its name: less of a loss or an error, more of any other result; null: the name tells
 * nothing.
 */
export function goalByName(key: string): 'minimize' | 'maximize' | null {
  if (isSystemMetric(key)) return null;
  const words = inWords(key);
  const isOther = besides.test(words) || descriptions.test(words) || ofPolicies.test(words);
  if (isOther || isCountByName(key.toLowerCase())) return null;
  const kind = results.findIndex((result) => result.test(words));
  if (kind < 0) return null;
  return kind === results.length - 1 || bitsPerSymbol.test(words) ? 'minimize' : 'maximize';
}

/**
 * Which direction of a metric is better; null: unknown. Where the sweep has an objective, only that one has a direction, since
 * another metric, such as a loss, may then say nothing of quality; else names decide.
 */
export function goalOf(
  metric: string,
  objective: { readonly name: string; readonly goal: 'minimize' | 'maximize' } | null | undefined,
): 'minimize' | 'maximize' | null {
  if (objective) return objective.name === metric ? objective.goal : null;
  return goalByName(metric);
}

/** A metric's name in a heading. A counter, which is shown only where nothing better exists, is marked as such. */
export function metricHeading(key: string, choice: MetricsToShow, counting?: ReadonlySet<string>): string {
  return isCounter(key, choice, counting) ? `${key} (counter)` : key;
}

/** Whether values, oldest first, rise by a constant step: 1, 2, 3 …, or 64, 128, 192 … */
export function isCounting(values: ArrayLike<number>): boolean {
  if (values.length < LEAST_COUNTED) return false;
  const step = values[1]! - values[0]!;
  if (!(step > 0)) return false;
  for (let at = 2; at < values.length; at++) {
    const off = Math.abs(values[at]! - values[at - 1]! - step);
    if (!(off <= 1e-9 * Math.abs(values[at]!))) return false;
  }
  return true;
}

/**
 * The counters among the metrics that could be shown by default, by their values: metrics are checked until one is found that is no
 * counter. A result by its name, or a metric that the sweep evaluates runs by, is never a counter, whatever its values: an accuracy
 * may rise by a constant step for a while.
 *
 * @param inOrder As `inMetricOrder` returns them.
 * @param metrics Returns the values of a metric, oldest first, and whether the program wants it to be shown only where it is asked
 * for: then it stands behind the others like a counter.
 */
export function countingAmong(
  inOrder: readonly string[],
  choice: MetricsToShow,
  metrics: {
    series: (key: string) => { readonly y: ArrayLike<number> };
    sourceOf: (key: string) => { reader: { declared?: { isHidden: (key: string) => boolean } } } | undefined;
  },
): string[] {
  const asked = new Set([...choice.show, ...(choice.judgedBy ?? [])]);
  const hidden = inOrder.filter(
    (key) => !asked.has(key) && metrics.sourceOf(key)?.reader.declared?.isHidden(key) === true,
  );
  return [
    ...hidden,
    ...countersAmong(
      inOrder.filter((key) => !hidden.includes(key)),
      choice,
      metrics,
    ),
  ];
}

function countersAmong(
  inOrder: readonly string[],
  choice: MetricsToShow,
  metrics: Pick<Parameters<typeof countingAmong>[2], 'series'>,
): string[] {
  const counting: string[] = [];
  const valuesOf = (key: string) => metrics.series(key).y;
  for (const key of inOrder) {
    if (!isCountingOne(key, choice, valuesOf) || counting.push(key) === MOST_COUNTING) break;
  }
  return counting;
}

/** Whether one metric is a counter, by the same rule. */
export function isCountingOne(
  key: string,
  choice: MetricsToShow,
  valuesOf: (key: string) => ArrayLike<number>,
): boolean {
  const isCandidate = !choice.show.includes(key) && placeOf(key, choice, nothingCounts) === Place.other;
  return isCandidate && isCounting(valuesOf(key));
}

/** The names in an expression that may be metrics: `eval_loss` and `for_ever` of `eval_loss < 2 && for_ever`. */
export function namesIn(expression: string): string[] {
  const texts = /"[^"]*"|'[^']*'/g;
  return [...new Set(expression.replace(texts, '').match(/[A-Za-z_][A-Za-z0-9_]*(?![A-Za-z0-9_]*\s*\()/g) ?? [])];
}

/** Ranks of the kinds of metrics, behind those of `show`. */
const Place = {
  judged: 0,
  result: 100,
  other: 200,
  description: 250,
  setting: 300,
  counter: 301,
  system: 302,
} as const;

function rankOf(key: string, choice: MetricsToShow, counting: ReadonlySet<string>): number {
  const asked = choice.show.indexOf(key);
  return asked >= 0 ? asked : choice.show.length + placeOf(key, choice, counting);
}

function placeOf(key: string, choice: MetricsToShow, counting: ReadonlySet<string>): number {
  // Runs may be stopped by their steps; that does not make a counter a result.
  const isCount = counting.has(key) || isCountByName(key.toLowerCase());
  if (key === choice.x || (isCount && !isSystemMetric(key))) return Place.counter;
  const judged = (choice.judgedBy ?? []).findIndex((name) => name === key || name === identifier(key));
  if (judged < 0 && isSystemMetric(key)) return Place.system;
  return judged < 0 ? placeByName(inWords(key)) : Place.judged + Math.min(judged, Place.result - 1);
}

function isCountByName(name: string): boolean {
  return counters.test(name) || clocks.test(name);
}

function placeByName(words: string): number {
  const isDescription = descriptions.test(words);
  const kind = besides.test(words) || isDescription ? -1 : results.findIndex((result) => result.test(words));
  if (kind >= 0) return Place.result + rankOfResult(kind, splitOf(words));
  if (isSettingName(words)) return Place.setting;
  return isDescription ? Place.description : Place.other;
}

/** How well a model does on what it is trained on says less than any evaluation, except where it learns from rewards. */
function rankOfResult(kind: number, split: number): number {
  const isFitted = split === 2 && kind >= firstFitted && kind < results.length - 1;
  return isFitted ? 3 * (results.length - 1) + kind / results.length : 3 * kind + split;
}

function splitOf(words: string): number {
  return ofEvaluation.test(words) ? 0 : ofTraining.test(words) ? 2 : 1;
}

/** The first loss among metrics in their order, but for terms of the objective of a policy, which need not fall; null: there is none. */
export function lossAmong(inOrder: readonly string[]): string | null {
  return inOrder.find((key) => !isCountByName(key.toLowerCase()) && isLoss(inWords(key))) ?? null;
}

function isLoss(words: string): boolean {
  if (ofPolicies.test(words) || besides.test(words) || descriptions.test(words)) return false;
  return results.findIndex((result) => result.test(words)) === results.length - 1;
}

/** The name of a metric as an expression has to write it. */
export function identifier(key: string): string {
  return key.replace(/[^A-Za-z0-9_]/g, '_');
}
