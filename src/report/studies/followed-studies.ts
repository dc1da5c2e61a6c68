import { Memoized } from '../../base/memo.js';
import { studyLimits } from '../../contract/study.js';
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
  /** Stamps by path of files that have nothing to show here, such as lines for the charts of a run: most runs may have one. */
  readonly #silent = new Map<string, string>();
  #lines: (width: number) => string[] = () => [];

  constructor(ascii: boolean) {
    this.#ascii = ascii;
  }

  /** Lays them out for a width; none: no lines. The same function while nothing has changed. */
  async read(...[directory, runs, pause]: Parameters<typeof studyFiles>): Promise<(width: number) => string[]> {
    const files = await studyFiles(directory, runs, pause);
    const stamps = JSON.stringify(files);
    if (stamps === this.#stamps) return this.#lines;
    const shown = files.filter(({ path, stamp }) => this.#silent.get(path) !== stamp);
    const { studies } = await readStudies(shown, pause);
    this.#stamps = stamps;
    this.#noteSilent(shown, studies);
    const laid = new Memoized<string[]>();
    this.#lines = (width) => laid.value([width], () => this.#layOut(studies, width));
    return this.#lines;
  }

  #noteSilent(read: Awaited<ReturnType<typeof studyFiles>>, studies: readonly FoundStudy[]): void {
    // Beyond the limit they were not read.
    if (studies.length > studyLimits.studies) return;
    const told = new Set(studies.map(({ file }) => file));
    for (const { file, path, stamp } of read) if (!told.has(file)) this.#silent.set(path, stamp);
  }

  #layOut(studies: readonly FoundStudy[], width: number): string[] {
    const lines = studyLines(studies, paperOf({ width, ascii: this.#ascii })).slice(1);
    const rest = lines.length - MOST_LINES;
    return rest <= 0 ? lines : [...lines.slice(0, MOST_LINES), `${counted(rest, 'more line')}: memrl-tui report`];
  }
}
