import type { Fleet, FleetStatus, RunSummary as ToldRun } from '../../client/fleet.js';
import type { MetricsReport } from '../../metrics/describe-sources.js';
import type { Clock } from '../../metrics/filing.js';
import type { LogSource } from '../../logs/log-source.js';
import type { UsageReading as Reading } from '../../files/disk/disk-usage.js';
import type { readRunRecord } from '../../files/run-record-file.js';

export type { Ack, FleetStatus, GroupSummary, RunWord, RequestedSlots, SweepSummary } from '../../client/fleet.js';

/** A run as the supervisor tells it. */
export type RunSummary = ToldRun & {
  /**
   * What the window has read off its curve of the chosen metric, by words as `parseRunValue` has them; a value that is not
   * there is not known, or the run has none. Absent: nothing is asked.
   */
  readonly curveValues?: Readonly<Record<string, number>>;
};

export type RunId = RunSummary['id'];

export type GpuSummary = FleetStatus['gpus'][number];

/** What the window needs of the connection to the supervisor; tests give their own. */
export type FleetPort = Pick<
  Fleet,
  'sweeps' | 'runs' | 'status' | 'connection' | 'subscribe' | 'version' | 'act' | 'request'
>;

/** One metric over a run; `x` grows, gaps are NaN in `y`. Both have the same length and are not changed afterwards. */
export type Series = { readonly x: Float64Array; readonly y: Float64Array };

/** The metrics a run has written so far. */
export type MetricReader = {
  /** Reads what was added since the last call, or a part of it that takes no more than some ms; true when something was. */
  refresh(): boolean;
  /** Whether there is more to read at once. Absent: never. */
  readonly more?: boolean;
  keys(): readonly string[];
  /** Over `step`, another metric, or a time as `metrics/filing.ts` names it. */
  series(key: string, xKey?: string): Series;
  /** Where the metrics are, and why, as far as they have been read. Absent: that is not known. */
  readonly describe?: (() => MetricsReport) | undefined;
  /** Where it is known from when the values were written. Absent: it is not. */
  readonly clock?: Clock;
};

/**
 * The files of one run directory, as far as the window reads them. Where they are on another host, a reader may throw `OnItsWay`.
 */
export type RunFilesPort = {
  /** Calls back when something has come that `series` had been asked for. Absent: all is here at once. */
  subscribe?(listener: () => void): () => void;
  metrics(directory: string): MetricReader;
  /** The same with every point that was written, for who lets go of it. Absent: `metrics` has them all. */
  wholeMetrics?(directory: string): MetricReader;
  /** The last lines of the run's output, oldest first; empty when there is none yet. */
  logTail(directory: string, count: number): readonly string[];
  /** The whole of the run's output, whatever its size, to be read by place. */
  openLog(directory: string): LogSource;
  /** What is written down of the run; null when nothing is, or it cannot be read. */
  dossier(directory: string): RunDetails | null;
  /** Parameters of the sweep of this directory that its file computes from seeds. Absent: none are known. */
  fromSeeds?(sweepDirectory: string): readonly string[];
  /** Measures what the run takes on its disk. Absent: that cannot be measured. */
  usage?(directory: string): UsageReading;
};

export type UsageReading = Pick<Reading, 'step' | 'isOver' | 'usage' | 'close'>;

/** `run.json`, and how many packages the code of the run could see; null: that is not known. */
export type RunDetails = {
  readonly record: NonNullable<ReturnType<typeof readRunRecord>>;
  readonly packages: number | null;
};
