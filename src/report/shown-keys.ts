/** Columns of a generic table, when the sweep does not say which metrics to show. */
const MOST = 4;
/** Counters and clocks: they say how far a run is, not how well it did. */
const bookkeeping =
  /(^|\/)(_?step|global_step|_?runtime|_?timestamp|batch|epoch|iter(ation)?|done_frac|episodes|examples)$|^(time|timing|progress|theory|perf)\//i;
const results = /loss|reward|return|acc|score|bits|correct|success|perplexity|(^|[/_.])(f1|auc|bleu|mse|mae)/i;

/** The metrics worth a column: those asked for that exist, or else results before other numbers, in file order. */
export function shownKeys(asked: readonly string[], known: readonly string[]): string[] {
  const wanted = asked.filter((key) => known.includes(key));
  if (wanted.length > 0) return wanted;
  const candidates = known.filter((key) => !bookkeeping.test(key));
  return [...candidates.filter((key) => results.test(key)), ...candidates.filter((key) => !results.test(key))].slice(
    0,
    MOST,
  );
}
