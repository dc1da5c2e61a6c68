import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { geteuid } from 'node:process';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import { groupBy } from '../base/group-by.js';
import { crc32c } from '../contract/crc32c.js';
import { sweepFiles } from '../contract/files.js';
import { readRegular } from '../files/regular-file.js';
import { writeWhole } from '../files/whole-file.js';
import type { RunMetrics } from '../metrics/run-metrics.js';

/** Size in bytes below which files are read again almost as fast as they are looked up. */
const WORTH_KEEPING = 64 << 10;
/** Files that were written to more recently are not cached, as some formats count an incomplete last row after a while, ms. */
const AT_REST_MS = 60_000;
/** Limit on the stored values of a run, so that several kinds of reports can alternate. */
const MOST_OF_A_RUN = 4;
/** Size limit of the file in bytes, and of a line in characters. */
const LARGEST = 16 << 20;
const LONGEST = 256 << 10;

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
    const key = hashOf([build(), identity.text, question]);
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
    return lines.filter((line) => line.length < LONGEST && (left -= Buffer.byteLength(line)) >= 0).join('');
  }
}

/** Identifies the build, as another one may compute other values from the same files. */
function build(): string {
  const { size, mtimeMs } = statSync(fileURLToPath(import.meta.url));
  return `${packageJson.version} ${size} ${mtimeMs}`;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

/** A line begins with a checksum, as a damaged digit would be a wrong result. */
function lineOf({ run, key, answer }: Entry): string {
  const json = JSON.stringify([run, key, answer], withoutInfinities);
  return `${sumOf(json)} ${json}\n`;
}

function entriesIn(path: string): Entry[] {
  const read = readRegular(path, LARGEST, { noLink: true });
  return read.kind === 'text' ? read.text.split('\n').flatMap(entryIn) : [];
}

function entryIn(line: string): Entry[] {
  const json = line.slice(line.indexOf(' ') + 1);
  if (line !== `${sumOf(json)} ${json}`) return [];
  try {
    const [run, key, answer] = JSON.parse(json, withInfinities) as [string, string, unknown];
    return [{ run, key, answer }];
  } catch {
    // The line is damaged or foreign.
    return [];
  }
}

function sumOf(text: string): string {
  const bytes = Buffer.from(text);
  return crc32c(bytes, 0, bytes.length).toString(16).padStart(8, '0');
}

/** JSON has no NaN and no infinities, so they are stored as objects of a form that no answer contains. */
function withoutInfinities(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? { notFinite: String(value) } : value;
}

function withInfinities(_key: string, value: unknown): unknown {
  const { notFinite } = (value ?? {}) as { readonly notFinite?: unknown };
  return typeof notFinite === 'string' ? Number(notFinite) : value;
}
