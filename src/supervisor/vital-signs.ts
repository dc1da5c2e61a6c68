import { statSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import type { PlannedRun } from '../spec/planned-run.js';
import { compileStopRule } from '../spec/stop-rule.js';
import { MetricLog } from '../store/metric-log.js';
import { spark } from '../store/spark.js';
import type { Vitals } from './run-view.js';

/** A run is stalled after this much silence, and after so many times its usual pause between rows. */
const SILENCE_MS = 60_000;
const USUAL_PAUSES = 20;
/** Key of our own lab and of the tinker-cookbook layout: the share that is done, 0..1. */
const DONE_SHARE = 'progress/done_frac';

type Row = Readonly<Record<string, number>>;

/** Who compares a run with its siblings. `judge` gives the rule by which it should end now, or null. `note`: every new row. */
export type Jury = {
  restart: () => void;
  remember: (row: Row) => void;
  note: (row: Row) => void;
  judge: (row: Row) => string | null;
};

const noJury: Jury = {
  restart: () => undefined,
  remember: () => undefined,
  note: () => undefined,
  judge: () => null,
};

/** Follows the metrics of one attempt of one run: what they say, and when a rule says to end it. Times: ms, any zero. */
export class VitalSigns {
  readonly #run: PlannedRun;
  readonly #since: number;
  readonly #path: string;
  readonly #log: MetricLog;
  readonly #jury: Jury;
  /** What is being read was there before this attempt: it has been judged, or never will be. */
  #isHistory: boolean;
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
    this.#isHistory = history;
    jury.restart();
    this.#since = since;
    this.#lastRow = since;
    this.#ruleHolds = ruleOf(run);
    this.#path = join(run.directory, runFiles.metrics);
    this.#log = new MetricLog(this.#path, {
      onRow: (row) => this.#takeRow(row),
      onRestart: () => {
        this.#ruleHolds = ruleOf(run);
        jury.restart();
      },
    });
  }

  /** The rule that the rows so far have met, or null. */
  get ruleMet(): string | null {
    return this.#ruleMet ? (this.#run.stopWhen?.when ?? null) : this.#verdict;
  }

  /** Reads what is new; true when something was. A file that has not changed costs one look at its size and time. */
  refresh(now: number): boolean {
    const stamp = stampOf(this.#path);
    if (stamp === this.#stamp) return false;
    this.#stamp = stamp;
    const rows = this.#rows;
    let changed = this.#log.refresh();
    while (this.#log.more) changed = this.#log.refresh() || changed;
    if (this.#rows !== rows) this.#lastRow = now;
    this.#isHistory = false;
    return changed;
  }

  /** Whether there has been no row for much longer than usual. */
  isSilent(now: number): boolean {
    if (this.#rows < 2) return false;
    const pause = (this.#lastRow - this.#since) / this.#rows;
    return now - this.#lastRow > Math.max(SILENCE_MS, USUAL_PAUSES * pause);
  }

  vitals(now: number): Vitals {
    const metrics = this.#log.last();
    const progress = this.#progress(metrics);
    if (progress !== null) this.#start ??= { at: now, progress };
    return {
      metrics,
      progress,
      etaSeconds: progress === null ? null : this.#eta(now, progress),
      spark: this.#spark(),
      health: this.#health(metrics, now),
    };
  }

  #takeRow(row: Row): void {
    this.#rows += 1;
    this.#ruleMet = this.#ruleHolds(row);
    if (this.#isHistory) return this.#jury.remember(row);
    this.#jury.note(row);
    this.#verdict ??= this.#jury.judge(row);
  }

  #progress(metrics: Vitals['metrics']): number | null {
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
  #health(metrics: Vitals['metrics'], now: number): Vitals['health'] {
    const matters = (key: string) => this.#run.metrics.show.includes(key) || /loss/i.test(key);
    if (Object.entries(metrics).some(([key, value]) => value === null && matters(key))) return 'nan';
    return this.isSilent(now) ? 'stalled' : 'ok';
  }
}

/** Differs when the file may hold something new. Null: there is none. */
function stampOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.ino} ${stat.size} ${stat.mtimeMs}`;
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
