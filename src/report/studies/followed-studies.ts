import { Memoized } from '../../base/memo.js';
import { counted } from '../../text/numbers.js';
import { paperOf } from '../paper.js';
import { type FoundStudy, readStudies, studyFiles } from './found-studies.js';
import { studyLines } from './study-tables.js';

/** Limit on the lines for a window, which lays all of them out. */
const MOST_LINES = 500;

/** The studies of one sweep as text, read again when one of their files has changed. */
export class FollowedStudies {
  readonly #ascii: boolean;
  #stamps = '';
  #lines: (width: number) => string[] = () => [];

  constructor(ascii: boolean) {
    this.#ascii = ascii;
  }

  /** Lays them out for a width; none: no lines. The same function while nothing has changed. */
  async read(...[directory, runs, pause]: Parameters<typeof studyFiles>): Promise<(width: number) => string[]> {
    const files = await studyFiles(directory, runs, pause);
    const stamps = JSON.stringify(files);
    if (stamps === this.#stamps) return this.#lines;
    const { studies } = await readStudies(files, pause);
    this.#stamps = stamps;
    const laid = new Memoized<string[]>();
    this.#lines = (width) => laid.value([width], () => this.#layOut(studies, width));
    return this.#lines;
  }

  #layOut(studies: readonly FoundStudy[], width: number): string[] {
    const lines = studyLines(studies, paperOf({ width, ascii: this.#ascii })).slice(1);
    const rest = lines.length - MOST_LINES;
    return rest <= 0 ? lines : [...lines.slice(0, MOST_LINES), `${counted(rest, 'more line')}: memrl-tui report`];
  }
}
