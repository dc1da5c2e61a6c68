import { closeSync, readdirSync, unlinkSync, writeSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import * as z from 'zod';
import { groupBy } from '../../base/group-by.js';
import { sweepOf } from '../../base/ids.js';
import { Parameters } from '../../base/scalar.js';
import { ailments } from '../../base/run-words.js';
import { buildOf, hashOf, keptLine, keptValues, LARGEST_FILE, LONGEST_LINE } from '../../files/kept/kept-lines.js';
import { makeFolder } from '../../files/make-folder.js';
import { openForAppending, statRegular } from '../../files/regular-file.js';
import { writeWhole } from '../../files/whole-file.js';
import type { Detection } from '../../metrics/detection.js';
import { decidingPaths, identityOf, stateOf } from '../../metrics/source.js';
import { declaredFacts, nothingDeclared } from '../../metrics/tree/declared-facts.js';
import type { MonitoredMetrics } from '../publish/run-view.js';
import type { ReaderNews, ReadRun } from './reading-messages.js';
import { lastUsage } from './usage-file.js';

/** To be raised when a summary gets another form or meaning without a new build. */
const VERSION = 1;
/** Delay in which summaries are collected before they are written, ms: nothing may have changed in their files meanwhile. */
const WRITE_MS = 1000;
/** A file is shortened when it has this many times as many lines as runs. */
const MOST_LINES_A_RUN = 3;
const ENDING = '.cache';

/** Any number, also an infinite one. */
const Value = z.custom<number>((value) => typeof value === 'number');
const EndingOfOne = z.object({
  ...{ metric: z.string(), better: z.union([z.literal(1), z.literal(-1)]) },
  ...{ start: Value, best: Value, end: Value, earlier: Value, noise: Value },
  ...{ first: Value, last: Value, peak: Value, tail: Value },
});

const EndedVitals = z.object({
  ...{ progress: Value.nullable(), metrics: z.record(z.string(), Value.nullable()), best: Value.nullable() },
  ...{ counting: z.array(z.string()), spark: z.array(Value.nullable()), step: Value.nullable() },
  notFinite: z.array(z.string()).readonly(),
  exceeded: z.object({ word: z.enum(ailments), reason: z.string() }).nullable(),
  unwritten: z.object({ words: z.string(), isCertain: z.boolean() }).nullable(),
});
export type EndedVitals = z.infer<typeof EndedVitals>;

/**
 * What the files of a run that has ended say, without what is read anew at little cost. `vitals` null: they have no rows. `passed`: see
 * `EarlyStops`; null: it has no such rule.
 */
const EndedSummary = z.object({
  vitals: EndedVitals.nullable(),
  rows: z.int(),
  objective: z.object({ min: Value, max: Value, last: Value }).nullable(),
  hindrance: z.string().nullable(),
  ending: EndingOfOne.extend({ loss: EndingOfOne.exactOptional() }).nullable(),
  passed: z.array(Value).readonly().nullable(),
  declaring: z.object({ paths: z.array(z.string()).readonly(), configs: z.array(Parameters).readonly() }),
});
export type EndedSummary = z.infer<typeof EndedSummary>;

/**
 * A line of a file. `key`: identifies the plan of the run, the content of its sources, and the build of the program. `look`: paths whose
 * state tells without a search that the sources are the same, and that state; null: a search is needed.
 */
const Entry = z.object({
  ...{ run: z.string(), key: z.string(), summary: z.unknown() },
  look: z.object({ paths: z.array(z.string()), state: z.string() }).nullable(),
});
type Entry = z.infer<typeof Entry>;
type Waiting = {
  readonly run: ReadRun;
  readonly detection: Detection;
  readonly identity: string;
  readonly summary: EndedSummary;
};

/**
 * Summaries of runs that have ended, so that what was read to its end is not read again: in a file for each sweep, in a folder of the
 * supervisor.
 *
 * A summary is valid for exactly the files that it was made of, the plan of its run, and this build of the program. Whatever cannot be
 * read or written is left out: such a run is read anew.
 */
export class EndedSummaries {
  /** Null: nothing is kept. */
  readonly #folder: string | null;
  /** By sweep, then by run: those that nobody has asked for yet. */
  readonly #known = new Map<string, Map<string, Entry>>();
  readonly #writeMs: number;
  readonly #build: string;
  #waiting: Waiting[] = [];
  #writing: NodeJS.Timeout | null = null;
  #isFolderReady = false;

  constructor(folder: string | null, writeMs = WRITE_MS) {
    this.#folder = folder;
    this.#writeMs = writeMs;
    this.#build = folder === null ? '' : buildOf(import.meta.url);
  }

  /** The summary of a run, where a look at its files and folders shows that it is valid; null: they have to be searched. */
  atOnce(run: ReadRun): EndedSummary | null {
    const known = this.#entryOf(run);
    if (known === undefined || known.look === null) return null;
    const { paths, state } = known.look;
    const isSame = hashOf([this.#planOf(run), stateOf(paths.map((path) => resolve(run.directory, path)))]) === state;
    return isSame ? this.#summaryOf(known) : null;
  }

  /** The summary of a run whose folders have been searched; null: it has to be read. */
  of(run: ReadRun, detection: Detection): EndedSummary | null {
    const known = this.#entryOf(run);
    if (known === undefined) return null;
    const identity = identityOf(detection.sources);
    const summary = this.#summaryOf(known);
    if (identity === null || this.#keyOf(run, identity.text) !== known.key) return null;
    // With the state of its folders as it is now.
    if (summary !== null) this.keep(run, detection, identity.text, summary);
    return summary;
  }

  /** Keeps a summary, if the files are still the same a moment later. @param identity That of the sources before their last read. */
  keep(run: ReadRun, detection: Detection, identity: string, summary: EndedSummary): void {
    if (this.#folder === null) return;
    this.#waiting.push({ run, detection, identity, summary });
    this.#writing ??= setTimeout(() => this.#write(), this.#writeMs).unref();
  }

  close(): void {
    if (this.#writing !== null) clearTimeout(this.#writing);
  }

  #write(): void {
    this.#writing = null;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const [sweep, members] of groupBy(waiting, ({ run }) => run.sweep)) {
      try {
        this.#prepareFolder();
        append(this.#pathOf(sweep), members.map((each) => this.#lineOf(each)).join(''));
      } catch {
        // The disk is full: the next supervisor reads these runs.
      }
    }
  }

  /** Empty: the files have changed meanwhile, or it would be too long. */
  #lineOf({ run, detection, identity, summary }: Waiting): string {
    do detection.look();
    while (detection.more);
    const paths = decidingPaths(detection);
    const state = paths && stateOf(paths);
    if (identityOf(detection.sources)?.text !== identity) return '';
    const short = (path: string) => (path.startsWith(`${run.directory}/`) ? relative(run.directory, path) : path);
    const look = state && { paths: paths.map(short), state: hashOf([this.#planOf(run), state]) };
    const line = keptLine({ run: run.id, key: this.#keyOf(run, identity), look: look || null, summary });
    return line.length <= LONGEST_LINE ? line : '';
  }

  #keyOf(run: ReadRun, identity: string): string {
    return hashOf([this.#planOf(run), identity]);
  }

  #planOf(run: ReadRun): unknown {
    return [VERSION, this.#build, inOrder(run)];
  }

  #pathOf(sweep: string): string {
    return join(this.#folder!, sweep + ENDING);
  }

  #entryOf({ id, sweep, ruleFault }: ReadRun): Entry | undefined {
    // A rule that is switched off is told by whoever reads.
    if (this.#folder === null || ruleFault !== undefined) return undefined;
    const known = this.#known.get(sweep) ?? readKnown(this.#pathOf(sweep));
    this.#known.set(sweep, known);
    return known.get(id);
  }

  /** It is asked for once. */
  #summaryOf({ run, summary }: Entry): EndedSummary | null {
    this.#known.get(sweepOf(run))?.delete(run);
    return EndedSummary.safeParse(summary).data ?? null;
  }

  /** Makes the folder, and removes the files of sweeps whose directories are gone. */
  #prepareFolder(): void {
    if (this.#isFolderReady) return;
    this.#isFolderReady = true;
    const runs = dirname(dirname(this.#folder!));
    makeFolder(this.#folder!, 0o700, runs);
    for (const name of readdirSync(this.#folder!)) {
      const sweep = name.slice(0, -ENDING.length);
      if (statRegular(join(runs, sweep)).kind === 'absent') unlinkSync(join(this.#folder!, name));
    }
  }
}

/** What a reader would tell of a past run, had it read the run to its end. */
export function newsOf(
  { vitals, hindrance, objective, rows, ending, declaring }: EndedSummary,
  { ticket, run: { directory } }: { readonly ticket: number; readonly run: ReadRun },
): ReaderNews[] {
  const hindered: ReaderNews[] = hindrance === null ? [] : [{ type: 'hindered', ticket, words: hindrance }];
  const read: ReaderNews = { type: 'read', ticket, ending };
  if (vitals === null) return [...hindered, read];
  const metrics = { ...vitals.metrics, ...lastUsage(directory) };
  const facts = declaredFacts(directory, declaring);
  const declared = JSON.stringify(facts) === JSON.stringify(nothingDeclared) ? undefined : facts;
  const told = { vitals: { ...endedVitals(vitals), metrics, declared }, objective, rule: null, rows };
  return [...hindered, { type: 'told', ticket, ...told, isUpToDate: true, judged: null }, read];
}

/** Without what is known of a run only while it is up: its pace, and whether a metric may still come. */
export function endedVitals<Vitals extends Pick<MonitoredMetrics, 'unwritten'>>(vitals: Vitals) {
  const unwritten = vitals.unwritten == null ? null : { ...vitals.unwritten, isCertain: true };
  return { ...vitals, unwritten, ...{ toBudget: null, used: null, movement: null } };
}

/** The last line of each run. A file with many earlier ones is written anew without them. */
function readKnown(path: string): Map<string, Entry> {
  const values = keptValues(path);
  const known = new Map<string, Entry>();
  for (const value of values) {
    const { data } = Entry.safeParse(value);
    if (data !== undefined) known.set(data.run, data);
  }
  if (values.length <= MOST_LINES_A_RUN * known.size) return known;
  try {
    writeWhole(path, [...known.values()].map(keptLine).join(''), { mode: 0o600 });
  } catch {
    // The disk is full: the file stays as it is.
  }
  return known;
}

/** Appends whole lines; a file that has grown too large, or is none, is replaced. */
function append(path: string, lines: string): void {
  const opened = openForAppending(path);
  if (opened.kind !== 'file') return writeWhole(path, lines, { mode: 0o600 });
  try {
    // A line that was torn before ends here.
    if (opened.stat.size + lines.length < LARGEST_FILE) writeSync(opened.descriptor, `\n${lines}`);
    else writeWhole(path, lines, { mode: 0o600 });
  } finally {
    closeSync(opened.descriptor);
  }
}

/** Plain data with the keys of its maps sorted: a plan that was read from its file has them in another order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, inOrder(inner)]));
}
