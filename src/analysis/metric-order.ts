/**
 * Which metric stands for a run where nobody has chosen one, and in which order metrics stand beside each other: the same in
 * the window, in `ls`, in reports and in exports.
 */

/** What a sweep file says of the metrics of its runs. `show`: which to show, the first of them first. `x`: the axis of charts. */
export type MetricsToShow = { readonly show: readonly string[]; readonly x: string };

/** Columns of a table, when the sweep does not say which metrics to show. */
const MOST = 4;
/** Counters and clocks: they say how far a run is, not how well it did. */
const bookkeeping =
  /(^|\/)(_?step|global_step|_?runtime|_?timestamp|batch|epoch|iter(ation)?|done_frac|episodes|examples)$|^(time|timing|progress|theory|perf)\//i;
const results = /loss|reward|return|acc|score|bits|correct|success|perplexity|(^|[/_.])(f1|auc|bleu|mse|mae)/i;

/**
 * What the sweep shows, as it has them; then results, other numbers, and what only counts. Those alike stay in the order in
 * which they were written.
 */
export function inMetricOrder(written: Iterable<string>, choice: MetricsToShow): string[] {
  const rank = (key: string) => rankOf(key, choice);
  return [...written]
    .map((key) => ({ key, rank: rank(key) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ key }) => key);
}

/** The metrics that are worth a column each: those the sweep shows that were written, or else the first few that do not only count. */
export function shownMetrics(written: Iterable<string>, choice: MetricsToShow): string[] {
  const inOrder = inMetricOrder(written, choice);
  const asked = inOrder.filter((key) => choice.show.includes(key));
  return asked.length > 0 ? asked : inOrder.filter((key) => !isCounter(key, choice)).slice(0, MOST);
}

/** The metric that stands for a run: what the sweep shows first, written or not; or else the first worth a column; null: none. */
export function defaultMetric(written: Iterable<string>, choice: MetricsToShow): string | null {
  return choice.show[0] ?? shownMetrics(written, choice)[0] ?? null;
}

function rankOf(key: string, choice: MetricsToShow): number {
  const asked = choice.show.indexOf(key);
  if (asked >= 0) return asked;
  const rank = isCounter(key, choice) ? 2 : results.test(key) ? 0 : 1;
  return choice.show.length + rank;
}

function isCounter(key: string, { x }: MetricsToShow): boolean {
  return key === x || bookkeeping.test(key);
}
