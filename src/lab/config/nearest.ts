/** The known word nearest to what was written, or null when none is near enough to be meant. */
export function nearest(written: string, known: readonly string[]): string | null {
  let best: { word: string; distance: number } | null = null;
  for (const word of known) {
    const distance = editDistance(written.toLowerCase(), word.toLowerCase());
    if (distance < (best?.distance ?? Infinity)) best = { word, distance };
  }
  return best !== null && best.distance <= Math.max(1, Math.floor(written.length / 3)) ? best.word : null;
}

/** Insertions, deletions and replacements that turn one word into the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row.push(Math.min(replaced, above[j]! + 1, row[j - 1]! + 1));
    }
  }
  return row[b.length]!;
}
