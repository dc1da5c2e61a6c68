import { FollowedFile } from './followed-file.js';

/** `restarted`: the file was truncated, replaced or rewritten, and `lines` begin at its start again. */
export type TailRead = { restarted: boolean; lines: string[]; more: boolean };

/** Enough for any tick; a long file is read over several. */
const MEGABYTE = 1 << 20;

/**
 * Reads the lines added to a file since the last call. One instance follows one file.
 *
 * Only whole lines are given: a torn last line, or a character cut in its middle, waits for its rest. A file that
 * is not there yet gives no lines. Call again while `more` is true to catch up with a long file.
 */
export class Tail {
  readonly #file: FollowedFile;

  constructor(path: string) {
    this.#file = new FollowedFile(path);
  }

  /** @param maxBytes Most bytes to read in this call; exceeded only by a line longer than that. */
  read(maxBytes = MEGABYTE): TailRead {
    const { restarted, bytes, more } = this.#file.read(maxBytes);
    if (bytes.length === 0) return { restarted, lines: [], more };
    const lines = bytes.toString('utf8', 0, bytes.length - 1).split('\n');
    return { restarted, lines: lines.map(withoutReturn), more };
  }
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
