/**
 * How well typed text matches a text; null: it does not. The letters must occur in order; gaps are allowed.
 *
 * A letter scores more at the start of a word than within it, most at the start of the text, and more directly after the previous
 * letter than after a gap. If two texts match equally well, the shorter one wins. Texts that begin with all of the typed text come
 * first.
 */
export function fuzzyScore(typed: string, text: string): number | null {
  const wanted = [...typed.toLowerCase().replace(/\s+/g, '')];
  if (wanted.length === 0) return 0;
  const letters = text.toLowerCase();
  let best: (number | null)[] = Array.from({ length: letters.length }, () => null);
  for (const [place, letter] of wanted.entries()) best = nextRow(letters, letter, place === 0 ? null : best);
  const found = best.filter((score) => score !== null);
  if (found.length === 0) return null;
  const whole = letters.startsWith(wanted.join('')) ? wholeValue : 0;
  return whole + Math.max(...found) - letters.length / 100;
}

/** Best scores of the letters so far, by position of the last one. `before`: scores without it; null: it is the first letter. */
function nextRow(letters: string, letter: string, before: readonly (number | null)[] | null): (number | null)[] {
  // The best score of a previous letter that is not directly before the present one.
  let far = -Infinity;
  return Array.from(letters, (candidate, at) => {
    const near = before?.[at - 1] ?? -Infinity;
    const start = startValue(letters, at);
    const best = before === null ? start : Math.max(near + Math.max(start, adjacentValue), far + start - gapCost);
    far = Math.max(far, near);
    return candidate === letter && best > -Infinity ? best : null;
  });
}

const adjacentValue = 6;
const gapCost = 1;
/** Higher than the total score of any text's letters. */
const wholeValue = 1e6;

function startValue(letters: string, at: number): number {
  if (at === 0) return 10;
  return /[^a-z0-9]/.test(letters[at - 1]!) ? 8 : 1;
}

/** Items that match, best first; equal matches keep their order. */
export function ranked<Item>(typed: string, items: readonly Item[], scoreOf: (item: Item) => number | null): Item[] {
  return items
    .map((item) => ({ item, score: scoreOf(item) }))
    .filter((each): each is { item: Item; score: number } => each.score !== null)
    .sort((a, b) => b.score - a.score)
    .map(({ item }) => item);
}
