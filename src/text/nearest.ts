/**
 * The candidate that was most likely meant: the closest, or one with these initials (`lr`: `learning_rate`); null: there is none. Case
 * does not count.
 */
export function nearest(word: string, candidates: readonly string[]): string | null {
  if (word.length > longest) return null;
  const close = closest(word, candidates);
  return close ?? candidates.find((candidate) => initialsOf(candidate) === word.toLowerCase()) ?? null;
}

function closest(word: string, candidates: readonly string[]): string | null {
  const limit = 1 + Math.floor(word.length / 4);
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    // The difference in length is a lower bound of the distance; a word may be as long as a command line.
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < (best?.distance ?? Infinity)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** The first letters of a name of several words; null: it has one. */
function initialsOf(name: string): string | null {
  const words = name.toLowerCase().split(/[-_]/);
  return words.length < 2 ? null : words.map((word) => word.charAt(0)).join('');
}

/** Length limit in characters. A longer word is no typing mistake, and the comparison takes quadratic time. */
const longest = 100;

/** `Did you mean …?`, or a list of the candidates when none is close and there are few. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const close = nearest(word, candidates);
  if (close !== null) return `Did you mean \`${close}\`?`;
  if (candidates.length === 0) return 'There are none.';
  const shown = candidates.slice(0, 12).map((candidate) => `\`${candidate}\``);
  return `Known: ${shown.join(', ')}${candidates.length > shown.length ? ', …' : ''}.`;
}

/**
 * Edit distance with insertions, deletions, replacements and swaps of neighbours. No library is used, as the small ones count a
 * swap, the most common typing mistake in a short word, as two edits.
 */
function editDistance(left: string, right: string): number {
  let before: number[] = [];
  let above = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1;
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current[column] = Math.min(
        above[column]! + 1,
        current[column - 1]! + 1,
        above[column - 1]! + same,
        swapped ? before[column - 2]! + 1 : Infinity,
      );
    }
    before = above;
    above = current;
  }
  return above[right.length]!;
}
