import { dirname, join } from 'node:path';
import { declaredFields, type ShownDeclared, shownDeclared } from '../analysis/declared-parameters.js';
import { inMetricOrder, type MetricsToShow, standingAmong } from '../analysis/metric-order.js';
import type { Finding } from '../analysis/health/finding.js';
import { boundedAnnotation } from '../base/annotation.js';
import { RunId } from '../base/ids.js';
import type { RunSummary } from '../client/fleet.js';
import { readAnnotation } from '../files/run-directory/supervisor-notes.js';
import { readRunRecord } from '../files/run-directory/run-record-file.js';
import { statRegular } from '../files/regular-file.js';
import { failureAtEnd } from '../logs/failure-line.js';
import { foundLog } from '../logs/log-file.js';
import { lastLines } from '../logs/log-source.js';
import { smallBounds } from '../metrics/curve.js';
import { nanWords } from '../metrics/line.js';
import { openMetrics, type RunMetrics } from '../metrics/run-metrics.js';
import { declaredFacts, declaringIn } from '../metrics/tree/declared-facts.js';
import type { FoundFacts } from '../metrics/tree/setting-files.js';
import { readFoundFacts } from '../metrics/tree/found-facts.js';
import type { FoundRun } from '../metrics/tree/find-runs.js';
import { ownKind } from '../metrics/tree/run-kinds.js';
import { countingIn } from '../runs/sweep-outline.js';
import { readRun } from '../runs/read-runs.js';
import { redactShapes } from '../text/redaction.js';
import type { RowHead } from './rows.js';

/** Whoever has written nothing for so long has ended, where nothing says so, ms. */
const QUIET_MS = 5 * 60_000;
/** The same of a run whose writer says that it goes on, as an epoch may take long. */
const LOST_MS = 30 * 60_000;
/** Key of our own lab and of the tinker-cookbook: the share that is done, 0 to 1. */
const DONE_SHARE = 'progress/done_frac';
/** Bytes read in one part, some ms of work. */
const PART_BYTES = 256 << 10;
/** Files by which it is seen that a run goes on. */
const MOST_PATHS = 4;
/** Lines at the end of a log in which a failure is looked for. */
const LOG_LINES = 400;

/** A run of this program, as its own record has it. */
type OwnRun = Pick<RowHead, 'name' | 'group' | 'subgroup' | 'parameters'> & { readonly sweep: string };

type Vitals = Pick<RunSummary, 'metrics' | 'counting' | 'spark' | 'progress'>;
const nothing: Vitals = { metrics: {}, counting: [], spark: [], progress: null };

/** One run that was found: what its files say of it, and its metrics as far as they have been read. */
export class ViewedRun {
  readonly found: FoundRun;
  /** Null: another program wrote it. */
  readonly own: OwnRun | null;
  #facts: FoundFacts;
  /** Grows with everything that is found out. */
  #revision = 0;
  readonly #argv: readonly string[];
  readonly #attempt: number;
  #metrics: RunMetrics | null = null;
  #vitals = nothing;
  #written: RunMetrics['written'] = null;
  #paths: readonly string[] = [];
  #seen = '';
  #warning: string | null = null;
  /** What the program of a run of ours has declared. */
  #declared: ShownDeclared | undefined;
  #failure: string | null = null;
  #isRead = false;

  constructor(found: FoundRun) {
    this.found = found;
    const known = found.kind === ownKind ? ownRun(found.directory) : null;
    this.own = known?.own ?? null;
    this.#facts = known?.facts ?? readFoundFacts(found);
    this.#argv = known?.argv ?? [];
    this.#attempt = known?.attempt ?? 1;
    this.#written = writtenBy(found);
  }

  get facts(): FoundFacts {
    return this.#facts;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Reads again what the files of a run say that is being written; true if they say something else. */
  ask(): boolean {
    if (this.own !== null || this.#metrics === null) return false;
    const facts = readFoundFacts(this.found);
    if (JSON.stringify(facts) === JSON.stringify(this.#facts)) return false;
    this.#facts = facts;
    this.#revision += 1;
    return true;
  }

  /** Whether its metrics have been read once. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Reads a part of its metrics; true while there is more. @param look Shown all of them, whenever they have changed. */
  read(choice: MetricsToShow, now: number, look: (metrics: RunMetrics) => void): boolean {
    const metrics = (this.#metrics ??= openMetrics(this.found.directory, { keep: smallBounds }));
    const { changed, more } = metrics.refresh(PART_BYTES);
    if (more) return true;
    if (changed || !this.#isRead) {
      this.#take(metrics, choice);
      look(metrics);
    }
    this.#isRead = true;
    if (this.stateAt(now) !== 'running') this.#letGo(metrics);
    return false;
  }

  /** The metrics, while they are held; null: the run has ended, and they have been let go of. */
  get metrics(): RunMetrics | null {
    return this.#metrics;
  }

  /** Whether there may be something new in the files of a run that had ended. */
  hasGrown(): boolean {
    return this.#metrics === null && this.#isRead && this.#look() !== this.#seen;
  }

  stateAt(now: number): RunSummary['state'] {
    if (this.#facts.state !== null && this.#facts.state !== 'running') return this.#facts.state;
    const quietMs = this.#written === null ? Infinity : now - this.#written.to;
    // Its writer says how a run ends: one that is quiet, and does not, has lost its process.
    if (this.#facts.state === 'running') return quietMs > LOST_MS ? 'lost' : 'running';
    if (quietMs <= QUIET_MS) return 'running';
    return this.#failure === null ? 'done' : 'failed';
  }

  /** The row of the run. @param mark What is wrong with how it ended; undefined: nothing. */
  row(sweep: string, head: RowHead, mark: Finding | undefined, now: number): RunSummary {
    const state = this.stateAt(now);
    const { name, group, subgroup, parameters } = head;
    return {
      ...{ id: RunId.parse(`${sweep}/${name}`), sweep, group, subgroup, name },
      ...{ directory: this.found.directory, parameters, argv: [...this.#argv], attempt: this.#attempt },
      ...this.#lifeIn(state),
      ...{ slot: null, gpus: [], pid: null, killAt: null, retryAt: null, priority: 0, gpuMemory: null },
      ...{ warning: this.#warning, etaSeconds: null, ...this.#vitals },
      progress: state === 'done' ? 1 : this.#vitals.progress,
      ...{ health: mark?.word ?? 'ok', healthReason: mark?.reason ?? null },
      ...(this.own === null
        ? { annotation: notedIn(this.#facts) }
        : declaredFields(this.#declared, readAnnotation(this.found.directory))),
    };
  }

  #lifeIn(state: RunSummary['state']): Pick<RunSummary, 'state' | 'reason' | 'exit' | 'startedAt' | 'endedAt'> {
    const { startedAt, endedAt, reason } = this.#facts;
    const isFailed = state === 'failed';
    const { from, to } = (state === 'queued' ? null : this.#written) ?? { from: null, to: null };
    return {
      ...{ state, reason: isFailed ? (this.#failure ?? reason) : null },
      exit: isFailed ? { class: 'failed', code: null, signal: null } : null,
      ...{ startedAt: startedAt ?? from, endedAt: state === 'running' ? null : (endedAt ?? to) },
    };
  }

  #take(metrics: RunMetrics, choice: MetricsToShow): void {
    this.#revision += 1;
    const counting = countingIn(metrics, choice);
    const standing = standingAmong(inMetricOrder(metrics.keys(), choice), choice, new Set(counting));
    const last = metrics.last();
    const share = last[DONE_SHARE] ?? metrics.progress?.share ?? null;
    this.#vitals = {
      metrics: last,
      counting,
      spark: standing === null ? [] : metrics.spark(standing),
      progress: share,
    };
    this.#declared = this.#declaredIn(metrics);
    this.#written = metrics.written;
    const gaps = standing === null ? null : nanWords(standing, metrics.series(standing));
    this.#warning =
      [metrics.obstacle, gaps, this.#declared?.differing ?? null].filter((words) => words !== null).join('; ') || null;
    this.#failure = this.#failureInLog();
  }

  #declaredIn({ told }: RunMetrics): ShownDeclared | undefined {
    if (this.own === null) return undefined;
    return shownDeclared(declaredFacts(this.found.directory, declaringIn(told)), this.own, redactShapes);
  }

  /** An exception says more than the exit code, or the word, that a writer has kept. */
  #failureInLog(): string | null {
    const { state } = this.#facts;
    return state === null || state === 'failed' ? failureIn(foundLog(this.found.directory)) : null;
  }

  #letGo(metrics: RunMetrics): void {
    this.#paths = metrics.paths.slice(-MOST_PATHS);
    this.#seen = this.#look();
    this.#metrics = null;
  }

  #look(): string {
    return this.#paths
      .map((path) => statRegular(path))
      .map((there) => (there.kind === 'file' ? `${there.stat.size} ${there.stat.mtimeMs}` : there.kind))
      .join();
  }
}

/** The tags and the note that the program gave a run; null: none. */
function notedIn({ tags, note }: FoundFacts): RunSummary['annotation'] {
  return boundedAnnotation({ starred: false, tags: [...tags], note });
}

/** What the record of a run of this program says; null: there is none that can be read. */
function ownRun(directory: string) {
  const [run, record] = [readRun(directory), readRunRecord(directory)];
  if (run === null || record === null) return null;
  const { name, group, subgroup = null, parameters } = run;
  const { number, ...last } = record.attempts.at(-1) ?? { number: 0, startedAt: null, endedAt: null };
  const facts: FoundFacts = {
    ...{ parameters, name, group, reason: null },
    state: run.state === 'running' ? null : (run.state as FoundFacts['state']),
    ...{ startedAt: last.startedAt, endedAt: last.endedAt, tags: [], note: null },
  };
  const own: OwnRun = { name, group, subgroup, parameters, sweep: record.sweep };
  return { own, facts, argv: record.argv, attempt: number };
}

/** When the files that lie in the folder of a run were written, by some of them, until its metrics have been read. */
function writtenBy({ directory, files }: FoundRun): RunMetrics['written'] {
  const stats = files.slice(-MOST_PATHS).flatMap((name) => {
    const there = statRegular(join(directory, name));
    return there.kind === 'file' ? [there.stat] : [];
  });
  if (stats.length === 0) return null;
  const [from, to] = [stats.map(({ birthtimeMs }) => birthtimeMs), stats.map(({ mtimeMs }) => mtimeMs)];
  return { from: Math.min(...from), to: Math.max(...to) };
}

/** The exception that ended a program, by the end of its log; null: it shows none. */
function failureIn(log: string): string | null {
  return failureAtEnd(lastLines(log, LOG_LINES))?.line ?? null;
}

/** Folder of the sweep that a run of this program is of. */
export function sweepFolder({ found }: ViewedRun): string {
  return dirname(found.directory);
}
