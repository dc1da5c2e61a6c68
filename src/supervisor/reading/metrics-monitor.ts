import { OwnPace } from '../../analysis/forecast/own-pace.js';
import { levelsOf } from '../../analysis/health/divergence.js';
import { type Ending, endingOf, type Judged, judgedMetric } from '../../analysis/health/ending.js';
import { notFiniteAmong } from '../../analysis/health/finding.js';
import { countingAmong, inMetricOrder, type MetricsToShow, standingAmong } from '../../analysis/metric-order.js';
import { smallBounds } from '../../metrics/bounded-series.js';
import { openMetrics, type PartRead, type RunMetrics } from '../../metrics/run-metrics.js';
import { patternFault } from '../../text/pattern.js';
import { judgesOf, type MonitoredMetrics } from '../publish/run-view.js';
import { countedProgress, type Limit, limitsOf } from './counted-progress.js';
import { type JudgedLevels, newBusy, type ReadRun } from './reading-messages.js';
import { TimedRule } from './timed-rule.js';

/** Read in one part, bytes; some 2.5 ms of work. */
const PART_BYTES = 128 << 10;
/** Key of our own lab and of the tinker-cookbook layout: the share that is done, 0..1. */
const DONE_SHARE = 'progress/done_frac';
/** The levels of a series are worked out anew when it has grown by this share, which is one of its levels. */
const GROWTH = 1 / 32;

type Row = Readonly<Record<string, number>>;

/** Who compares a run with its siblings. `judge` gives the rule by which it should end now, or null. `note`: every new row. */
export type MetricsCallbacks = {
  restart: () => void;
  remember: (row: Row) => void;
  note: (row: Row) => void;
  judge: (row: Row) => string | null;
};

const noCallbacks: MetricsCallbacks = {
  restart: () => undefined,
  remember: () => undefined,
  note: () => undefined,
  judge: () => null,
};

/** Follows the metrics of one attempt of one run: what they say, and when a rule says to end it. Times: ms, any zero. */
export class MetricsMonitor {
  readonly #run: ReadRun;
  readonly #pace: OwnPace;
  readonly #metrics: RunMetrics;
  readonly #callbacks: MetricsCallbacks;
  #verdict: string | null = null;
  readonly #rule: TimedRule;
  readonly #oddPatterns: readonly string[];
  #ruleMet = false;
  #rows = 0;
  #standingMetric: string | null = null;
  #levels: ({ rows: number } & JudgedLevels) | null = null;
  readonly #shown: MetricsToShow;
  readonly #limits: readonly Limit[];
  /** What may stand for the run, the likely first, and of how many metrics that was found. */
  #ranked: { keys: number; inOrder: readonly string[] } = { keys: 0, inOrder: [] };

  /** @param hasPast Whether the rows of the first look are old ones, which no verdict is passed on. */
  constructor(run: ReadRun, since: number, callbacks = noCallbacks, { hasPast = false, busy = newBusy() } = {}) {
    this.#run = run;
    this.#shown = { show: run.metrics.show, x: run.metrics.x, judgedBy: judgesOf(run) };
    this.#limits = limitsOf(run.parameters);
    this.#callbacks = callbacks;
    callbacks.restart();
    this.#pace = new OwnPace(since);
    this.#rule = new TimedRule(run, busy);
    const isJudged = run.stopWhen !== null || run.objective !== null;
    const row = isJudged ? (values: Row, isPast: boolean) => this.#takeRow(values, isPast) : null;
    const listener = { row, restart: () => this.#restart() };
    const { folders = [], patterns = {} } = run.metrics;
    this.#oddPatterns = oddPatterns(patterns);
    this.#metrics = openMetrics(run.directory, { listener, keep: smallBounds, hasPast, places: { folders, patterns } });
  }

  /** Where the run writes them, or will. */
  get paths(): string[] {
    return this.#metrics.paths;
  }

  /** The rule that the rows so far have met, or null. Rows of before this attempt alone meet none until all are read. */
  get ruleMet(): string | null {
    if (this.#metrics.isInPast) return null;
    return this.#ruleMet ? (this.#run.stopWhen?.when ?? null) : this.#verdict;
  }

  /** Whether rows of before this attempt, or this supervisor, are still being read. */
  get isInPast(): boolean {
    return this.#metrics.isInPast;
  }

  /** The run should have ended by this rule already. */
  condemn(rule: string): void {
    this.#verdict ??= rule;
  }

  /** What of the metrics cannot be read or judged, in words; null: nothing. */
  get hindrance(): string | null {
    const all = [this.#rule.fault, ...this.#oddPatterns, this.#metrics.obstacle].filter((words) => words !== null);
    return all.length === 0 ? null : all.join('; ');
  }

  /** The run has ended: what it wrote last may be in files that it has only just made. */
  look(): void {
    this.#metrics.look();
  }

  /** Reads a part of what is new, at most so many bytes. */
  refresh(maxBytes = PART_BYTES): PartRead {
    const { rows } = this.#metrics;
    const read = this.#metrics.refresh(maxBytes);
    // Rows that replace others are rows, too.
    this.#rows += Math.max(this.#metrics.rows - rows, read.changed ? 1 : 0);
    return read;
  }

  /** Rows read so far, those that replaced others included. */
  get rows(): number {
    return this.#rows;
  }

  /** Whether all that the run had written at the last look has been read. */
  get isUpToDate(): boolean {
    return !this.#metrics.more && !this.#metrics.isInPast;
  }

  /** The metric by which it is seen whether the run diverges, and its levels so far; null: there is none. */
  judged(): JudgedLevels | null {
    const judged = this.#judged;
    return judged === null ? null : this.#levelsOf(judged.metric, judged.better);
  }

  /** How that metric ended, if this is all of it; null: there is none, or it ended as NaN. */
  ending(): Ending | null {
    const judged = this.#judged;
    return judged === null ? null : endingOf(judged, this.#metrics.series(judged.metric).y);
  }

  get #judged(): Judged | null {
    return judgedMetric(this.#run.objective, this.#standingMetric);
  }

  /** What it says, beside what whoever is told of its rows makes of them. */
  vitals(now: number): Omit<MonitoredMetrics, 'best'> {
    const metrics = this.#metrics.last();
    const { progress, stated } = this.#position(metrics, now);
    const { standing, counting } = this.#standing();
    this.#standingMetric = standing;
    // Rows of before, while they are still being read, would make a pace out of how fast we read.
    const isBehind = !this.isUpToDate;
    if (!isBehind) this.#pace.note(progress, this.#rows, now);
    return {
      metrics,
      progress,
      toBudget: stated ?? this.#pace.toBudget(progress),
      used: this.#pace.used,
      movement: this.#pace.movement,
      counting,
      spark: standing === null ? [] : this.#metrics.spark(standing),
      step: standing === null ? null : (this.#metrics.series(standing).x.at(-1) ?? null),
      notFinite: notFiniteAmong(metrics, { show: this.#run.metrics.show, judged: this.#judged?.metric }),
    };
  }

  #restart(): void {
    this.#rule.restart();
    this.#ranked = { keys: 0, inOrder: [] };
    this.#levels = null;
    this.#callbacks.restart();
  }

  #levelsOf(name: string, better: 1 | -1): JudgedLevels {
    const known = this.#levels;
    const isKnown = known?.name === name && known.levels !== null;
    const isFresh = isKnown && this.#rows - known.rows <= known.rows * GROWTH;
    if (!isFresh) this.#levels = { rows: this.#rows, name, levels: levelsOf(this.#metrics.series(name), better) };
    return this.#levels!;
  }

  #takeRow(row: Row, isPast: boolean): void {
    this.#ruleMet = this.#rule.isMetBy(row);
    if (isPast) return this.#callbacks.remember(row);
    this.#callbacks.note(row);
    this.#verdict ??= this.#callbacks.judge(row);
  }

  /**
   * How far it is: as a metric says that is made for it, else by a counter that a parameter limits, else by a progress bar, which
   * may know what is left.
   */
  #position(metrics: MonitoredMetrics['metrics'], now: number) {
    const counted = this.#progress(metrics) ?? countedProgress(this.#metrics, this.#limits);
    if (counted !== null) return { progress: counted, stated: null };
    const { share = null, etaSeconds = null } = this.#metrics.progress ?? {};
    return {
      progress: share,
      stated: etaSeconds === null ? null : { seconds: etaSeconds, at: now, error: this.#pace.error },
    };
  }

  #progress(metrics: MonitoredMetrics['metrics']): number | null {
    const wanted = this.#run.metrics.progress;
    const value = metrics[wanted?.key ?? DONE_SHARE];
    if (value === null || value === undefined) return null;
    return Math.min(1, Math.max(0, value / (wanted?.total ?? 1)));
  }

  /** The metric that stands for the run, and those before it that only count. */
  #standing(): { standing: string | null; counting: string[] } {
    const written = this.#inOrder();
    const counting = countingAmong(written, this.#shown, (key) => this.#metrics.series(key).y);
    return { standing: standingAmong(written, this.#shown, new Set(counting)), counting };
  }

  /** Ordered anew when there are more metrics than before. */
  #inOrder(): readonly string[] {
    const keys = this.#metrics.keys();
    if (keys.length !== this.#ranked.keys) {
      this.#ranked = { keys: keys.length, inOrder: inMetricOrder(keys, this.#shown) };
    }
    return this.#ranked.inOrder;
  }
}

/** Patterns of an older version of this program may be no patterns any more, and find nothing. */
function oddPatterns(patterns: Readonly<Record<string, string>>): string[] {
  return Object.entries(patterns).flatMap(([key, pattern]) => {
    const fault = patternFault(pattern);
    return fault === null ? [] : [`the pattern of ${key} finds nothing: ${fault}`];
  });
}
