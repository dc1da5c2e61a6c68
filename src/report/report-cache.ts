import { statSync } from 'node:fs';
import { join } from 'node:path';
import { geteuid } from 'node:process';
import { groupBy } from '../base/group-by.js';
import { sweepFiles } from '../contract/files.js';
import { buildOf, hashOf, keptLine, keptValues, LONGEST_LINE } from '../files/kept/kept-lines.js';
import { writeWhole } from '../files/whole-file.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** Size in bytes below which files are read again almost as fast as they are looked up. */
const WORTH_KEEPING = 64 << 10;
/** Files that were written to more recently are not cached, as some formats count an incomplete last row after a while, ms. */
const AT_REST_MS = 60_000;
/** Limit on the stored values of a run, so that several kinds of reports can alternate. */
const MOST_OF_A_RUN = 4;
/** Size limit of the file in bytes. */
const LARGEST = 16 << 20;

/** `key`: identifies the question, the files, and the build of the program. */
type Entry = { readonly run: string; readonly key: string; readonly answer: unknown };

/**
 * Values that reports have computed from the metrics of a sweep's runs, in a file beside them, so that the next report need not
 * read a gigabyte for two numbers per run.
 *
 * A value is valid for exactly the files that it was computed from (`RunMetrics.identity`), the question, and this build of the
 * program. A damaged line is ignored. If the file cannot be written, each report reads everything.
 */
export class ReportCache {
  readonly #directory: string;
  /** Values of earlier reports, by key. */
  readonly #known: ReadonlyMap<string, Entry>;
  readonly #used: Entry[] = [];
  #hasNew = false;

  constructor(sweepDirectory: string) {
    this.#directory = sweepDirectory;
    this.#known = new Map(entriesIn(this.#path).map((entry) => [entry.key, entry]));
  }

  /**
   * The answer to a question about the metrics of an ended run: a stored one, or else the result of `read`.
   *
   * @param question Everything that the answer depends on, besides the metrics.
   * @param read Reads the metrics. Its result must be JSON, in which numbers may be NaN or infinite.
   */
  async answer<Answer>(
    run: string,
    { metrics, question }: { metrics: RunMetrics; question: unknown },
    read: () => Promise<Answer>,
  ): Promise<Answer> {
    const identity = metrics.identity();
    const isNew = identity === null || Date.now() - identity.writtenAt < AT_REST_MS;
    if (isNew || identity.bytes < WORTH_KEEPING) return read();
    const key = hashOf([buildOf(import.meta.url), identity.text, question]);
    const known = this.#known.get(key);
    const answer = known === undefined ? await read() : (known.answer as Answer);
    // The files changed while they were read, so the answer may contain a part of the change.
    if (known === undefined && metrics.identity()?.text !== identity.text) return answer;
    this.#used.push({ run, key, answer });
    this.#hasNew ||= known === undefined;
    return answer;
  }

  /** Writes new values, if possible. If two reports run at once, the values of one may be lost. */
  save(): void {
    if (!this.#hasNew) return;
    try {
      // In another user's sweep no file is created, as that user could not replace it.
      if (statSync(this.#directory).uid === (geteuid?.() ?? 0)) writeWhole(this.#path, this.#text());
    } catch {
      // The folder is read-only, or the disk is full.
    }
  }

  get #path(): string {
    return join(this.#directory, sweepFiles.reportCache);
  }

  /** The values of this report, then older ones of the same runs. */
  #text(): string {
    const runs = groupBy(this.#used, ({ run }) => run);
    const used = new Set(this.#used.map(({ key }) => key));
    for (const entry of this.#known.values()) if (!used.has(entry.key)) runs.get(entry.run)?.push(entry);
    const lines = [...runs.values()].flatMap((entries) => entries.slice(0, MOST_OF_A_RUN).map(lineOf));
    let left = LARGEST;
    return lines.filter((line) => line.length < LONGEST_LINE && (left -= Buffer.byteLength(line)) >= 0).join('');
  }
}

function lineOf({ run, key, answer }: Entry): string {
  return keptLine([run, key, answer]);
}

function entriesIn(path: string): Entry[] {
  return keptValues(path, LARGEST).flatMap((value) => {
    const [run, key, answer] = Array.isArray(value) ? (value as unknown[]) : [];
    return typeof run === 'string' && typeof key === 'string' ? [{ run, key, answer }] : [];
  });
}
