import { cpuUsage } from 'node:process';
import { OwnPace } from '../../analysis/forecast/own-pace.js';
import { levelsOf } from '../../analysis/health/divergence.js';
import { type Ending, endingOf, type Judged, judgedMetric } from '../../analysis/health/ending.js';
import { notFiniteAmong } from '../../analysis/health/finding.js';
import { exceededLimit } from '../../analysis/health/limits.js';
import {
  countingAmong,
  inMetricOrder,
  lossAmong,
  type MetricsToShow,
  standingAmong,
} from '../../analysis/metric-order.js';
import { smallBounds } from '../../metrics/curve.js';
import type { Detection } from '../../metrics/detection.js';
import { nanWords } from '../../metrics/line.js';
import { openMetrics, type PartRead, type RunMetrics } from '../../metrics/run-metrics.js';
import { type DeclaredFacts, declaredFacts, declaringIn, nothingDeclared } from '../../metrics/tree/declared-facts.js';
import { compileStopRule } from '../../spec/policy/stop-rule.js';
import { patternFault } from '../../text/pattern.js';
import type { MonitoredMetrics, Unwritten } from '../publish/run-view.js';
import { judgesOf } from '../publish/sweep-view.js';
import { countedProgress, type Limit, limitsOf } from './counted-progress.js';
import { type EndedSummary, type EndedVitals, endedVitals } from './ended-summaries.js';
import {
  type Busy,
  type JudgedLevels,
  type NamedLevels,
  newBusy,
  type ReadRun,
  ruleIsOff,
} from './reading-messages.js';
import { askedMetrics, unwrittenAmong } from './unwritten-metrics.js';

/** Bytes read in one part; some 2.5 ms of work. */
const PART_BYTES = 128 << 10;
/** Key of our own lab and of the tinker-cookbook: the share that is done, 0 to 1. */
const DONE_SHARE = 'progress/done_frac';
/** The levels of a series are computed again when it has grown by this share, which is one of its levels. */
const GROWTH = 1 / 32;

type Row = Readonly<Record<string, number>>;

/** A summary of a run without what its rows came to; see `RowJudges`. */
export type EndedFacts = Omit<EndedSummary, 'vitals' | 'objective' | 'passed'> & {
  readonly vitals: Omit<EndedVitals, 'best'> | null;
};

/**
 * Compare a run with its siblings. `judge` returns the rule by which it should end now, or null. `note` is called for every new
 * row.
 */
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

/** Follows the metrics of one attempt of one run: their values, and when a rule ends it. Times: ms, any zero. */
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
  readonly #isPast: boolean;
  /** Whether rows that were read are not there any more. */
  #hasRestarted = false;
  #standingMetric: string | null = null;
  /**
   * What its program has declared, as it was told last; the number of rows from which on the files are asked again; and whether
   * anything was read since.
   */
  #declared = { text: JSON.stringify(nothingDeclared), at: 0, isCurrent: true };
  readonly #levels = new Map<string, { rows: number } & NamedLevels>();
  readonly #shown: MetricsToShow;
  readonly #limits: readonly Limit[];
  readonly #asked: ReturnType<typeof askedMetrics>;
  /** Metrics in order of preference as the run's default, and the number of metrics when that was determined. */
  #ranked: { keys: number; inOrder: readonly string[] } = { keys: 0, inOrder: [] };

  /**
   * @param hasPast Whether the rows of the first look are old, so that the run is not judged by them. @param isPast Whether it has
   * ended, so that no rule is applied.
   */
  constructor(
    run: ReadRun,
    since: number,
    callbacks = noCallbacks,
    { hasPast = false, isPast = false, busy = newBusy() } = {},
  ) {
    this.#run = run;
    this.#isPast = isPast;
    this.#shown = { show: run.metrics.show, x: run.metrics.x, judgedBy: judgesOf(run) };
    this.#limits = limitsOf(run.parameters);
    this.#asked = askedMetrics(run);
    this.#callbacks = callbacks;
    callbacks.restart();
    this.#pace = new OwnPace(since);
    const ruled = isPast ? { ...run, stopWhen: null } : run;
    this.#rule = new TimedRule(ruled, busy);
    const row = isJudgedByRows(ruled) ? (values: Row, isOld: boolean) => this.#takeRow(values, isOld) : null;
    const listener = { row, restart: () => this.#restart() };
    const { folders = [], patterns = {} } = run.metrics;
    this.#oddPatterns = oddPatterns(patterns);
    const places = { folders, patterns };
    // The run is not judged by what the supervisor itself has sampled, which says nothing of whether it writes.
    this.#metrics = openMetrics(run.directory, {
      listener,
      keep: smallBounds,
      hasPast,
      places,
      hasUsage: false,
    });
  }

  /** Paths where the run writes metrics, or will. */
  get paths(): string[] {
    return this.#metrics.paths;
  }

  /** The rule that the rows so far have met, or null. Rows from before this attempt count only after all have been read. */
  get ruleMet(): string | null {
    if (this.#metrics.isInPast) return null;
    return this.#ruleMet ? (this.#run.stopWhen?.when ?? null) : this.#verdict;
  }

  /** Whether rows from before this attempt, or this supervisor, are still being read. */
  get isInPast(): boolean {
    return this.#metrics.isInPast;
  }

  /** Sets the rule by which the run should have ended already. */
  condemn(rule: string): void {
    this.#verdict ??= rule;
  }

  /** Which metrics are not readable or cannot be judged, in words; null: none. */
  get hindrance(): string | null {
    const metric = this.#judged?.metric;
    const gaps = metric === undefined ? null : nanWords(metric, this.#metrics.series(metric));
    const all = [this.#rule.fault, ...this.#oddPatterns, this.#metrics.obstacle, gaps].filter((each) => each !== null);
    return all.length === 0 ? null : all.join('; ');
  }

  /** Searches for files again after the run's end, as its last rows may be in new ones. */
  look(): void {
    this.#declared.at = 0;
    this.#metrics.look();
  }

  /** Its sources, once all of its folders have been searched. */
  found(): Detection {
    const { detection } = this.#metrics;
    while (detection.more) this.#metrics.look();
    return detection;
  }

  /** Reads a part of what is new, at most so many bytes. */
  refresh(maxBytes = PART_BYTES): PartRead {
    const { rows } = this.#metrics;
    const read = this.#metrics.refresh(maxBytes);
    // Rows that replace others count, too.
    this.#rows += Math.max(this.#metrics.rows - rows, read.changed ? 1 : 0);
    if (read.changed) this.#declared.isCurrent = false;
    return read;
  }

  /** Number of rows read so far, including those that replaced others. */
  get rows(): number {
    return this.#rows;
  }

  /** Whether all that the run had written at the last look has been read. */
  get isUpToDate(): boolean {
    return !this.#metrics.more && !this.#metrics.isInPast;
  }

  /** The metric that decides whether the run diverges, and its loss if that is another, with their levels so far; null: there is none. */
  judged(): JudgedLevels | null {
    const judged = this.#judged;
    if (judged === null) return null;
    const loss = lossAmong(this.#inOrder());
    const beside = loss === null || loss === judged.metric ? null : this.#levelsOf(loss, -1);
    return { ...this.#levelsOf(judged.metric, judged.better), loss: beside };
  }

  /** The summary of that metric at the run's end; null: there is none, or it ended as NaN. */
  ending(): Ending | null {
    return endingOf(this.#judged, lossAmong(this.#inOrder()), (metric) => this.#metrics.series(metric).y);
  }

  get #judged(): Judged | null {
    return judgedMetric(this.#run.objective, this.#standingMetric);
  }

  /** The present values of the metrics, without results of the callbacks. */
  vitals(now: number): Omit<MonitoredMetrics, 'best'> {
    const metrics = this.#metrics.last(this.#asked.map(({ name }) => name));
    const { progress, stated } = this.#position(metrics, now);
    const { standing, counting } = this.#standing();
    this.#standingMetric = standing;
    // While old rows are still being read, their pace would be that of reading.
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
      unwritten: this.#unwritten(Object.keys(metrics)),
      declared: this.#newlyDeclared(),
      notFinite: notFiniteAmong(metrics, { show: this.#run.metrics.show, judged: this.#judged?.metric }),
      exceeded: exceededLimit(Object.keys(metrics), (name) => this.#metrics.series(name)),
    };
  }

  /**
   * What another reading of all files of the run would tell, now that it has ended; null: that may be something else. Of an objective
   * others know.
   */
  ended(now: number): EndedFacts | null {
    const isOfThisReading = this.#hasRestarted || this.#verdict !== null || this.#rule.fault !== null;
    const { more, told } = this.#metrics;
    const isWhole = !more && told.every(({ reader }) => !reader.isHindered && !reader.isWaiting);
    if ((isOfThisReading && !this.#isPast) || !isWhole) return null;
    const vitals = endedVitals(this.vitals(now));
    const { progress, metrics, counting, spark, step, notFinite, unwritten, exceeded = null } = vitals;
    const present = { progress, metrics, counting, spark, step, notFinite, unwritten, exceeded };
    return {
      vitals: this.#rows === 0 ? null : present,
      ...{ rows: this.#rows, hindrance: this.hindrance, ending: this.ending() },
      declaring: declaringIn(told),
    };
  }

  #unwritten(written: readonly string[]): Unwritten | null {
    if (this.#asked.length === 0) return null;
    return unwrittenAmong(this.#asked, written, this.#rows, (name) => this.#metrics.among(name));
  }

  /** What its program has declared since it was asked last; undefined: nothing new. It is asked again when there are twice as many rows. */
  #newlyDeclared(): DeclaredFacts | undefined {
    if (this.#rows < this.#declared.at) return undefined;
    const facts = declaredFacts(this.#run.directory, declaringIn(this.#metrics.told));
    const text = JSON.stringify(facts);
    const isNew = text !== this.#declared.text;
    this.#declared = { text, at: 2 * this.#rows + 1, isCurrent: true };
    return isNew ? facts : undefined;
  }

  /** Whether the program may have declared something that it was not asked for yet. */
  get isUnasked(): boolean {
    return !this.#declared.isCurrent;
  }

  #restart(): void {
    this.#hasRestarted ||= this.#rows > 0;
    this.#rule.restart();
    this.#ranked = { keys: 0, inOrder: [] };
    this.#levels.clear();
    this.#callbacks.restart();
  }

  #levelsOf(name: string, better: 1 | -1): NamedLevels {
    const known = this.#levels.get(name);
    const isKnown = known !== undefined && known.levels !== null;
    if (isKnown && this.#rows - known.rows <= known.rows * GROWTH) return known;
    const fresh = { rows: this.#rows, name, levels: levelsOf(this.#metrics.series(name), better) };
    this.#levels.set(name, fresh);
    return fresh;
  }

  #takeRow(row: Row, isPast: boolean): void {
    this.#ruleMet = this.#rule.isMetBy(row);
    if (isPast) return this.#callbacks.remember(row);
    this.#callbacks.note(row);
    this.#verdict ??= this.#callbacks.judge(row);
  }

  /**
   * Progress of the run: by a metric made for it, else by a counter that a parameter limits, else by a progress bar, which may also
   * know the time left.
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

  /** The metric that is shown by default, and the counters before it. */
  #standing(): { standing: string | null; counting: string[] } {
    const written = this.#inOrder();
    const counting = countingAmong(written, this.#shown, this.#metrics);
    return { standing: standingAmong(written, this.#shown, new Set(counting)), counting };
  }

  /** The metrics in order; sorted again when there are more than before. */
  #inOrder(): readonly string[] {
    const keys = this.#metrics.keys();
    if (keys.length !== this.#ranked.keys) {
      this.#ranked = { keys: keys.length, inOrder: inMetricOrder(keys, this.#shown) };
    }
    return this.#ranked.inOrder;
  }
}

function isJudgedByRows({ stopWhen, objective }: ReadRun): boolean {
  return stopWhen !== null || objective !== null;
}

/** Patterns that this version cannot compile, though an older one accepted them; they match nothing. */
function oddPatterns(patterns: Readonly<Record<string, string>>): string[] {
  return Object.entries(patterns).flatMap(([key, pattern]) => {
    const fault = patternFault(pattern);
    return fault === null ? [] : [`the pattern of ${key} finds nothing: ${fault}`];
  });
}

/** Limit on what a run's rule computes: a constant part, and a part per row, in ms. A typical rule takes some 2 µs per row. */
const ALLOWED_MS = 1000;
const ALLOWED_ROW_MS = 0.25;

/** The stop rule of one run. It is switched off when it takes too long, or is not a valid expression. */
export class TimedRule {
  readonly #run: ReadRun;
  readonly #busy: Busy;
  #isMetBy: ((row: Row) => boolean) | null;
  #leftMs = ALLOWED_MS;
  /** Why it is not applied, in words; null: it is, or there is none. */
  fault: string | null;

  /** @param busy Shows that a rule is being evaluated, as the thread cannot interrupt one that never returns. */
  constructor(run: ReadRun, busy: Busy) {
    this.#run = run;
    this.#busy = busy;
    this.fault = run.ruleFault ?? null;
    this.#isMetBy = this.#compiled();
  }

  /** Starts over, as rows come again from the first. */
  restart(): void {
    if (this.fault === null) this.#isMetBy = this.#compiled();
  }

  isMetBy(row: Row): boolean {
    return this.#isMetBy !== null && this.#timed(() => this.#isMetBy!(row), false);
  }

  #compiled(): ((row: Row) => boolean) | null {
    const { stopWhen, parameters } = this.#run;
    if (stopWhen === null || this.fault !== null) return null;
    return this.#timed(() => compileStopRule(stopWhen, parameters), null);
  }

  #timed<Result>(work: () => Result, otherwise: Result): Result {
    const [begun, used] = [performance.now(), cpuUsage()];
    this.#busy[1] = 1;
    try {
      return work();
    } catch (error) {
      // Invalid rules are refused when sweep files are parsed, but an older version of this program may have accepted it.
      this.#switchOff(ruleIsOff(this.#run, error instanceof Error ? error.message : String(error)));
      return otherwise;
    } finally {
      this.#busy[1] = 0;
      const ms = performance.now() - begun;
      if (ms > ALLOWED_ROW_MS) this.#leftMs -= Math.max(0, Math.min(ms, computedMs(used)) - ALLOWED_ROW_MS);
      if (this.#leftMs < 0) this.#switchOff(ruleIsOff(this.#run, 'it takes too long'));
    }
  }

  #switchOff(fault: string): void {
    this.#isMetBy = null;
    this.fault ??= fault;
  }
}

/** What this process computed since then, ms: a busy machine gives the rest of the time to others, which is no fault of a rule. */
function computedMs(before: NodeJS.CpuUsage): number {
  const { user, system } = cpuUsage(before);
  return (user + system) / 1000;
}
