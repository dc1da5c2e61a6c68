import { paperOf } from '../paper.js';
import { readStudies, studyFiles } from './found-studies.js';
import { studyLines } from './study-lines.js';

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
    const studies = readStudies(files);
    this.#stamps = stamps;
    this.#lines = (width) => studyLines(studies, paperOf({ width, ascii: this.#ascii })).slice(1);
    return this.#lines;
  }
}
