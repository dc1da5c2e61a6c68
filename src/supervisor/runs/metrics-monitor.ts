import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { LONGEST_LINE } from '../../files/followed-file.js';
import { statRegular } from '../../files/regular-file.js';
import { spark } from '../../metrics/downsample.js';
import { MetricLog } from '../../metrics/metric-log.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { compileStopRule } from '../../spec/policy/stop-rule.js';
import type { MonitoredMetrics } from '../publish/run-view.js';

/** A run is stalled after this much silence, and after so many times its usual pause between rows. */
const SILENCE_MS = 60_000;
const USUAL_PAUSES = 20;
/** Read in one part, bytes; some 2.5 ms of work. */
const PART_BYTES = 128 << 10;
/**
 * What is kept of each series here, where only the last value and a small picture of it are told. A run that makes up as many
 * keys as it may (2000) takes 80 MB with that, and a usual one half a megabyte.
 */
const bounds = { older: 2048, exact: 256 };
/** Key of our own lab and of the tinker-cookbook layout: the share that is done, 0..1. */
const DONE_SHARE = 'progress/done_frac';

type Row = Readonly<Record<string, number>>;

/** Who compares a run with its siblings. `judge` gives the rule by which it should end now, or null. `note`: every new row. */
export type MetricsCallbacks = {
  restart: () => void;
  remember: (row: Row) => void;
  note: (row: Row) => void;
  judge: (row: Row) => string | null;
};

const noJury: MetricsCallbacks = {
  restart: () => undefined,
  remember: () => undefined,
  note: () => undefined,
  judge: () => null,
};

/** What reading a part came to. `changed`: something new was read. `more`: a further part could be read at once. */
export type PartRead = { changed: boolean; bytes: number; more: boolean };

/** Follows the metrics of one attempt of one run: what they say, and when a rule says to end it. Times: ms, any zero. */
export class MetricsMonitor {
  readonly #run: PlannedRun;
  readonly #since: number;
  readonly #path: string;
  readonly #log: MetricLog;
  readonly #jury: MetricsCallbacks;
  /** Bytes of the file that were there before this attempt: they have been judged, or never will be. Null: not looked yet. */
  #history: number | null;
  /** Whether the part that is just being read is of those. */
  #readsHistory = false;
  #verdict: string | null = null;
  #stamp: string | null = null;
  #ruleHolds: (row: Row) => boolean;
  #ruleMet = false;
  #lastRow: number;
  #rows = 0;
  /** Where this attempt took up: a resumed run does not start at zero. */
  #start: { at: number; progress: number } | null = null;

  /** @param history Whether the rows of the first look are old ones, which no verdict is passed on. */
  constructor(run: PlannedRun, since: number, jury = noJury, history = false) {
    this.#run = run;
    this.#jury = jury;
    this.#history = history ? null : 0;
    jury.restart();
    this.#since = since;
    this.#lastRow = since;
    this.#ruleHolds = ruleOf(run);
    this.#path = join(run.directory, runFiles.metrics);
    const isJudged = run.stopWhen !== null || run.objective !== null;
    const onRow = isJudged ? (row: Row) => this.#takeRow(row) : null;
    const listener = { onRow, onRestart: () => this.#restart() };
    this.#log = new MetricLog(this.#path, listener, bounds);
  }

  /** The rule that the rows so far have met, or null. Rows of before this attempt alone meet none until all are read. */
  get ruleMet(): string | null {
    if (this.#isHistory) return null;
    return this.#ruleMet ? (this.#run.stopWhen?.when ?? null) : this.#verdict;
  }

  /** What of the file could not be read, in words; null: nothing. */
  get hindrance(): string | null {
    const { obstacle, skipped } = this.#log;
    if (obstacle !== null) return `${runFiles.metrics} cannot be read: ${obstacle}`;
    if (skipped === 0) return null;
    const [lines, are, were] = skipped === 1 ? ['line', 'is', 'was'] : ['lines', 'are', 'were'];
    return `${skipped} ${lines} of ${runFiles.metrics} ${are} longer than ${LONGEST_LINE >> 10} kB and ${were} left out`;
  }

  /** Reads a part of what is new, at most so many bytes. A file that has not changed costs one look at its size and time. */
  refresh(now: number, maxBytes = PART_BYTES): PartRead {
    if (!this.#log.more && !this.#looksNew()) return { changed: false, bytes: 0, more: false };
    const { rows } = this.#log;
    const read = this.#isHistory ? this.#readHistory(maxBytes) : this.#read(maxBytes);
    // Rows that replace others are rows, too.
    const added = Math.max(this.#log.rows - rows, read.changed ? 1 : 0);
    if (added > 0) this.#lastRow = now;
    this.#rows += added;
    return { ...read, more: this.#log.more };
  }

  /** Reads no further than what was there at first. */
  #readHistory(maxBytes: number): Omit<PartRead, 'more'> {
    const left = (this.#history ?? 0) - this.#log.offset;
    this.#readsHistory = true;
    const read = this.#read(Math.min(maxBytes, left));
    this.#readsHistory = false;
    // Its last line is torn: whoever completes it writes it now.
    const isTorn = left <= maxBytes && read.bytes === 0 && this.#log.obstacle === null;
    if (isTorn && this.#history !== null) this.#history = 0;
    return read;
  }

  #read(maxBytes: number): Omit<PartRead, 'more'> {
    const { offset } = this.#log;
    const changed = this.#log.refresh(maxBytes);
    return { changed, bytes: Math.max(0, this.#log.offset - offset) };
  }

  /** Whether there has been no row for much longer than usual. */
  isSilent(now: number): boolean {
    if (this.#rows < 2) return false;
    const pause = (this.#lastRow - this.#since) / this.#rows;
    return now - this.#lastRow > Math.max(SILENCE_MS, USUAL_PAUSES * pause);
  }

  vitals(now: number): MonitoredMetrics {
    const metrics = this.#log.last();
    const progress = this.#progress(metrics);
    // Rows of before, while they are still being read, would make a pace out of how fast we read.
    const isBehind = this.#log.more || this.#isHistory;
    if (progress !== null && !isBehind) this.#start ??= { at: now, progress };
    return {
      metrics,
      progress,
      etaSeconds: progress === null || this.#start === null ? null : this.#eta(now, progress),
      spark: this.#spark(),
      health: this.#health(metrics, now),
    };
  }

  get #isHistory(): boolean {
    return this.#history === null || this.#log.offset < this.#history;
  }

  /** Whether the file may hold something new. */
  #looksNew(): boolean {
    const there = statRegular(this.#path);
    if (there.kind !== 'unreadable') this.#history ??= there.kind === 'file' ? there.stat.size : 0;
    const stamp = stampOf(there);
    // What hindered the last look may have gone by.
    if (stamp === this.#stamp && this.#log.obstacle === null) return false;
    this.#stamp = stamp;
    return true;
  }

  #restart(): void {
    this.#ruleHolds = ruleOf(this.#run);
    this.#history = 0;
    this.#readsHistory = false;
    this.#jury.restart();
  }

  #takeRow(row: Row): void {
    this.#ruleMet = this.#ruleHolds(row);
    if (this.#readsHistory) return this.#jury.remember(row);
    this.#jury.note(row);
    this.#verdict ??= this.#jury.judge(row);
  }

  #progress(metrics: MonitoredMetrics['metrics']): number | null {
    const wanted = this.#run.metrics.progress;
    const value = metrics[wanted?.key ?? DONE_SHARE];
    if (value === null || value === undefined) return null;
    return Math.min(1, Math.max(0, value / (wanted?.total ?? 1)));
  }

  #eta(now: number, progress: number): number | null {
    const { at, progress: first } = this.#start!;
    // Until a second reading there is only the start of the process to go by.
    const [from, base] = progress > first ? [at, first] : [this.#since, 0];
    const rate = (progress - base) / (now - from);
    return rate > 0 ? Math.round((1 - progress) / rate / 1000) : null;
  }

  #spark(): (number | null)[] {
    const keys = this.#log.keys();
    const key = this.#run.metrics.show.find((shown) => keys.includes(shown));
    return key === undefined ? [] : spark(this.#log.series(key).y);
  }

  /** A metric that is not a number matters where it is shown, or is a loss. */
  #health(metrics: MonitoredMetrics['metrics'], now: number): MonitoredMetrics['health'] {
    const matters = (key: string) => this.#run.metrics.show.includes(key) || /loss/i.test(key);
    if (Object.entries(metrics).some(([key, value]) => value === null && matters(key))) return 'nan';
    return this.isSilent(now) ? 'stalled' : 'ok';
  }
}

/** Differs when the file may hold something new. Null: there is none. */
function stampOf(there: ReturnType<typeof statRegular>): string | null {
  if (there.kind === 'file') return `${there.stat.ino} ${there.stat.size} ${there.stat.mtimeMs}`;
  return there.kind === 'absent' ? null : there.reason;
}

function ruleOf({ stopWhen, parameters }: PlannedRun): (row: Row) => boolean {
  if (stopWhen === null) return () => false;
  try {
    return compileStopRule(stopWhen, parameters);
  } catch {
    // Refused where sweep files are read; an older version of this program may have let it through.
    return () => false;
  }
}
