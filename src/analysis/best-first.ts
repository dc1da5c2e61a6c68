/** Which end of a metric is good; null: nobody says. */
export type Goal = 'minimize' | 'maximize' | null;

/** What is ranked: its value, null where it has none; `isBroken`: some of its runs came to no number. */
export type Ranked = { readonly value: number | null; readonly isBroken: boolean };

/**
 * Positions from the best to the worst, or from the highest where nobody says which end is good. What has broken runs comes
 * after all that has none, and what has no value last.
 */
export function bestFirst(all: readonly Ranked[], goal: Goal): number[] {
  const sign = goal === 'minimize' ? 1 : -1;
  return [...all.keys()].sort((a, b) => {
    const [one, other] = [all[a]!, all[b]!];
    return tierOf(one) - tierOf(other) || sign * ((one.value ?? 0) - (other.value ?? 0)) || a - b;
  });
}

/**
 * Positions of the best; none where nobody says which end is good, or there is nothing beside it.
 *
 * @param textOf A value as the table writes it: what looks the same is as good, `2` and `2.00` too.
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
