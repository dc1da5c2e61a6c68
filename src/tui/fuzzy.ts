/**
 * How well what was typed stands for a text; null: it does not. The letters must come in their order, gaps are allowed.
 *
 * A letter is worth more at the start of a word than within it, most at the start of the text, and more directly after
 * the letter before it than after a gap; of two texts that are matched alike the shorter one is meant.
 */
export function fuzzyScore(typed: string, text: string): number | null {
  const wanted = [...typed.toLowerCase().replace(/\s+/g, '')];
  if (wanted.length === 0) return 0;
  const letters = text.toLowerCase();
  let best: (number | null)[] = Array.from({ length: letters.length }, () => null);
  for (const [place, letter] of wanted.entries()) best = nextRow(letters, letter, place === 0 ? null : best);
  const found = best.filter((score) => score !== null);
  return found.length === 0 ? null : Math.max(...found) - letters.length / 100;
}

/** Best scores of the letters so far, by where the last of them stands. `before`: the same without it; null: it is the first. */
function nextRow(letters: string, letter: string, before: readonly (number | null)[] | null): (number | null)[] {
  let ahead: number | null = null;
  return Array.from(letters, (candidate, at) => {
    const adjacent = before?.[at - 1] ?? null;
    const reached: number | null = ahead;
    if (adjacent !== null) ahead = Math.max(ahead ?? -Infinity, adjacent);
    if (candidate !== letter) return null;
    const own = startValue(letters, at);
    if (before === null) return own;
    const after = adjacent === null ? null : adjacent + Math.max(own, adjacentValue);
    const gap = reached === null ? null : reached + own - gapCost;
    return after === null ? gap : Math.max(after, gap ?? -Infinity);
  });
}

const adjacentValue = 6;
const gapCost = 1;

function startValue(letters: string, at: number): number {
  if (at === 0) return 10;
  return /[^a-z0-9]/.test(letters[at - 1]!) ? 8 : 1;
}

/** What matches, the best first; what matches alike stays in its order. */
export function ranked<Item>(typed: string, items: readonly Item[], scoreOf: (item: Item) => number | null): Item[] {
  return items
    .map((item) => ({ item, score: scoreOf(item) }))
    .filter((each): each is { item: Item; score: number } => each.score !== null)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}
