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

/** Fewer bytes are read again about as soon as they are looked up. */
const WORTH_KEEPING = 64 << 10;
/** What was written since may be read differently later: the end of a file of some formats counts once nobody goes on with it. */
const AT_REST_MS = 60_000;
/** Answers that are kept of a run, so that reports of several kinds can take turns. */
const MOST_OF_A_RUN = 4;
/** Bytes of the file, and characters of one line of it. */
const LARGEST = 16 << 20;
const LONGEST = 256 << 10;

/** `key`: what was asked, of which files, by which build of the program. */
type Entry = { readonly run: string; readonly key: string; readonly answer: unknown };

/**
 * What reports have taken from the metrics of a sweep's runs, kept in a file beside them, so that the next report need not read
 * a gigabyte for two numbers a run.
 *
 * An answer counts for exactly the files that it was taken from (`RunMetrics.identity`), the question, and this build of the
 * program. A damaged line is as good as none. Where the file cannot be written, each report reads all.
 */
export class ReportCache {
  readonly #directory: string;
  /** Of earlier reports, by key. */
  readonly #known: ReadonlyMap<string, Entry>;
  readonly #used: Entry[] = [];
  #hasNew = false;

  constructor(sweepDirectory: string) {
    this.#directory = sweepDirectory;
    this.#known = new Map(entriesIn(this.#path).map((entry) => [entry.key, entry]));
  }

  /**
   * The answer to a question about the metrics of a run that has ended: of an earlier report, or else what `read` gives.
   *
   * @param question All that the answer depends on, beside the metrics.
   * @param read Reads the metrics. What it gives must be JSON, in which numbers may be NaN or infinite.
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
    // Of what was written while it was read the answer may have a part.
    if (known === undefined && metrics.identity()?.text !== identity.text) return answer;
    this.#used.push({ run, key, answer });
    this.#hasNew ||= known === undefined;
    return answer;
  }

  /** Writes what is new, if that is possible. Of two reports at once the answers of one may be lost. */
  save(): void {
    if (!this.#hasNew) return;
    try {
      // Nobody wants files of others in a sweep, which could not be replaced.
      if (statSync(this.#directory).uid === (geteuid?.() ?? 0)) writeWhole(this.#path, this.#text());
    } catch {
      // It is read-only, or the disk is full.
    }
  }

  get #path(): string {
    return join(this.#directory, sweepFiles.reportCache);
  }

  /** The answers of this report, then older ones of the same runs. */
  #text(): string {
    const runs = groupBy(this.#used, ({ run }) => run);
    const used = new Set(this.#used.map(({ key }) => key));
    for (const entry of this.#known.values()) if (!used.has(entry.key)) runs.get(entry.run)?.push(entry);
    const lines = [...runs.values()].flatMap((entries) => entries.slice(0, MOST_OF_A_RUN).map(lineOf));
    let left = LARGEST;
    return lines.filter((line) => line.length < LONGEST && (left -= Buffer.byteLength(line)) >= 0).join('');
  }
}

/** Another build may take something else from the same files. */
function build(): string {
  const { size, mtimeMs } = statSync(fileURLToPath(import.meta.url));
  return `${packageJson.version} ${size} ${mtimeMs}`;
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

/** The checksum stands first: a digit that was changed would be a wrong result. */
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
    // Nothing that was written here.
    return [];
  }
}

function sumOf(text: string): string {
  const bytes = Buffer.from(text);
  return crc32c(bytes, 0, bytes.length).toString(16).padStart(8, '0');
}

/** JSON has no NaN and no infinity. No answer has an object like this one. */
function withoutInfinities(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? { notFinite: String(value) } : value;
}

function withInfinities(_key: string, value: unknown): unknown {
  const { notFinite } = (value ?? {}) as { readonly notFinite?: unknown };
  return typeof notFinite === 'string' ? Number(notFinite) : value;
}
