/**
 * Where the lines of a log begin, told from any stretch of its bytes.
 *
 * A line may be longer than memory (a progress bar writes one line for hours). It is broken into pieces at multiples of
 * `PIECE` that have no newline in the `PIECE` bytes before them. So whoever reads from the start, from the end or from
 * the middle sees the same pieces, and looks back `PIECE` bytes at most.
 */
export const PIECE = 16 << 10;

const NEWLINE = 10;
const RETURN = 13;

/**
 * Offsets in the log at which a line or piece begins, or would begin: all of those in `(base, base + bytes.length]`
 * that the bytes are enough to tell. Ascending.
 *
 * @param base Offset of the first of the bytes: a beginning, or any place; then breaks closer to it than `PIECE` are not told.
 */
export function beginnings(bytes: Buffer, base: number): number[] {
  const found: number[] = [];
  let start = base;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) {
    pushBreaks(found, start, base + at + 1);
    start = base + at + 1;
    found.push(start);
  }
  pushBreaks(found, start, base + bytes.length + 1);
  return found;
}

/** The breaks of a line that begins at `start`, before `stop`. */
function pushBreaks(found: number[], start: number, stop: number): void {
  for (let at = Math.ceil((start + PIECE) / PIECE) * PIECE; at < stop; at += PIECE) found.push(at);
}

/** Whether what is printed here goes back to the start of its row: it overwrites what its line said before. */
export function overwrites(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(RETURN); at >= 0; at = bytes.indexOf(RETURN, at + 1)) {
    const next = bytes[at + 1];
    if (next !== undefined && next !== NEWLINE && next !== RETURN) return true;
  }
  return false;
}

export function endsLine(bytes: Buffer): boolean {
  return bytes.at(-1) === NEWLINE;
}
