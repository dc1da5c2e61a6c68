/** Which end of a metric is good; null: that is unknown. */
export type Goal = 'minimize' | 'maximize' | null;

/** One entry of a ranking; `value` null: it has none; `isBroken`: some of its runs ended with NaN or an infinity. */
export type Ranked = { readonly value: number | null; readonly isBroken: boolean };

/**
 * Indices from the best to the worst, or from the highest value where the goal is unknown. Entries with broken runs come after
 * those without, and entries without a value last.
 */
export function bestFirst(all: readonly Ranked[], goal: Goal): number[] {
  const sign = goal === 'minimize' ? 1 : -1;
  return [...all.keys()].sort((a, b) => {
    const [one, other] = [all[a]!, all[b]!];
    return tierOf(one) - tierOf(other) || sign * ((one.value ?? 0) - (other.value ?? 0)) || a - b;
  });
}

/**
 * Indices of the best entries; none where the goal is unknown, or nothing differs from them.
 *
 * @param textOf Formats a value as the table does: values with the same text are equally good.
 */
export function bestOnes(all: readonly Ranked[], goal: Goal, textOf: (value: number) => string): ReadonlySet<number> {
  const first = all[bestFirst(all, goal)[0] ?? -1];
  const known = all.filter(({ value }) => value !== null).length;
  if (goal === null || known < 2 || first === undefined || first.value === null) return new Set();
  const best = textOf(first.value);
  const isBest = (text: string): boolean => text === best || Number(text) === Number(best);
  const isSame = (one: Ranked) => one.value !== null && tierOf(one) === tierOf(first) && isBest(textOf(one.value));
  return new Set([...all.keys()].filter((index) => isSame(all[index]!)));
}

function tierOf({ value, isBroken }: Ranked): number {
  return value === null ? 2 : Number(isBroken);
}
