/** The candidate that a person most likely meant, or null if none is close. Case does not count. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > longest) return null;
  const limit = 1 + Math.floor(word.length / 4);
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    // So many letters would have to be inserted or deleted at least; a word may be as long as a command line.
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && distance < (best?.distance ?? Infinity)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** Characters. A longer word is no misspelt one, and to compare it takes as long as it is, squared. */
const longest = 100;

/** `Did you mean …?`, or a list of what there is when nothing is close and the list is short. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const close = nearest(word, candidates);
  if (close !== null) return `Did you mean \`${close}\`?`;
  if (candidates.length === 0) return 'There are none.';
  const shown = candidates.slice(0, 12).map((candidate) => `\`${candidate}\``);
  return `Known: ${shown.join(', ')}${candidates.length > shown.length ? ', …' : ''}.`;
}

/**
 * Letters to insert, delete, replace, or swap with their neighbour. By hand for the last: in a short word two swapped letters are
 * the usual slip, and the small libraries count them as two.
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
