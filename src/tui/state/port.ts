import type { Ack, Fleet, FleetStatus, RunSummary as ToldRun } from '../../client/fleet.js';
import type { ChartLine } from '../../contract/study.js';
import type { UsageReading as Reading } from '../../files/disk/disk-usage.js';
import type { readRunRecord } from '../../files/run-directory/run-record-file.js';
import type { LogSource } from '../../logs/log-source.js';
import type { Samples } from '../../logs/samples.js';
import type { MetricsReport } from '../../metrics/describe-sources.js';
import type { Clock } from '../../metrics/line.js';

export type { Ack, FleetStatus, RunWord, RequestedSlots, SweepSummary } from '../../client/fleet.js';

/** A run as the supervisor reports it. */
export type RunSummary = ToldRun & {
  /**
   * Values read from the run's curve of the chosen metric, in the words of `parseRunValue`; a missing one is unknown or does not
   * exist. Absent: none were requested.
   */
  readonly curveValues?: Readonly<Record<string, number>>;
};

export type RunId = RunSummary['id'];

export type GpuSummary = FleetStatus['gpus'][number];

/** What the window needs of the connection to the supervisor; tests provide their own. */
export type FleetPort = Pick<
  Fleet,
  'sweeps' | 'runs' | 'status' | 'connection' | 'subscribe' | 'version' | 'act' | 'request'
>;

/** One metric of a run; `x` increases, gaps are NaN in `y`. Both have the same length and must not be modified. */
export type Series = { readonly x: Float64Array; readonly y: Float64Array };

/** The metrics that a run has written so far. */
export type MetricReader = {
  /** Reads what was added since the last call, or a part of it that takes no more than a few ms; true if there was anything. */
  refresh(): boolean;
  /** Whether more can be read at once. Absent: never. */
  readonly more?: boolean;
  keys(): readonly string[];
  /** The series over `step`, another metric, or a time (`wallTime` and `relativeTime` of `metrics/line.ts`). */
  series(key: string, xKey?: string): Series;
  /** Where the metrics are and why, as far as they have been read. Absent: unknown. */
  readonly describe?: (() => MetricsReport) | undefined;
  /** Clock from which the time of each value is known. Absent: unknown. */
  readonly clock?: Clock;
  /** The lines that studies declare for the run's charts; the same list while they are the same. Absent: there are none. */
  readonly lines?: () => readonly ChartLine[];
};

/** Files of one run directory, as far as the window reads them. If they are on another host, a reader may throw `OnItsWay`. */
export type RunFilesPort = {
  /** Calls back when data that `series` requested has arrived. Absent: all data is available at once. */
  subscribe?(listener: () => void): () => void;
  metrics(directory: string): MetricReader;
  /** Like `metrics`, but with every point, for callers that do not keep it. Absent: `metrics` has all points. */
  wholeMetrics?(directory: string): MetricReader;
  /** The last lines of the run's output, oldest first; empty if there is none yet. */
  logTail(directory: string, count: number): readonly string[];
  /** All of the run's output, whatever its size, for reading by position. */
  openLog(directory: string): LogSource;
  /** The recorded details of the run; null if there are none or they cannot be read. */
  runDetails(directory: string): RunDetails | null;
  /** Parameters that the sweep's file derives from seeds. Absent: unknown. */
  fromSeeds?(sweepDirectory: string): readonly string[];
  /** Reads the samples of the run: what its model wrote. Absent: they cannot be read. */
  samples?(directory: string): Promise<Samples>;
  /** Measures the disk usage of the run. Absent: cannot be measured. */
  usage?(directory: string): UsageReading;
};

export type UsageReading = Pick<Reading, 'step' | 'isOver' | 'usage' | 'close'>;

/** `run.json`, and the number of packages visible to the run's code; null: unknown. */
export type RunDetails = {
  readonly record: NonNullable<ReturnType<typeof readRunRecord>>;
  readonly packages: number | null;
};

/** Text that is read from files. */
export type LinesPort = {
  /** As last read, formatted in lines of at most `width` columns; null before the first time. */
  readonly lines: ((width: number) => readonly string[]) | null;
  /** Reads again in the background. Rejects if that fails; what was read before stays. */
  refresh(): Promise<void>;
};

/** The summary table of a sweep. `studies`: its studies, which are cheap to read; absent: they are below the table. */
export type SummaryPort = LinesPort & { readonly studies?: LinesPort };

/** Creates the table of a sweep, by its name. */
export type MakeSummary = (sweep: string) => SummaryPort;

/** Thrown by a reader of files on another host if the data has not arrived yet; the caller must retry after its arrival. */
export class OnItsWay extends Error {
  readonly arrival: Promise<unknown>;

  /** @param arrival Never rejects. */
  constructor(arrival: Promise<unknown>) {
    super('this is still on its way');
    this.arrival = arrival;
  }
}

/** Reads; returns undefined if the data has not arrived yet, and calls back when it has. */
export function readOrWait<Read>(read: () => Read, arrived: () => void): Read | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof OnItsWay)) throw error;
    void error.arrival.then(arrived);
    return undefined;
  }
}

/** New runs written in an editor: the text, and what submitting it would do. */
export type Draft = {
  /** `extend abcd`, `clone A_x_s0`. */
  readonly title: string;
  /** The file with the text, kept until it has been submitted. */
  readonly path: string;
  readonly verdict: Verdict;
};

export type Verdict =
  /** `summary`: `12 new runs`; `lines`: which runs, and what happens to the others. */
  | { readonly kind: 'ready'; readonly summary: string; readonly lines: readonly string[] }
  /** `lines`: what is wrong, where, and how to fix it. */
  | { readonly kind: 'refused'; readonly lines: readonly string[] }
  /** There is nothing to submit; `why` is a sentence. */
  | { readonly kind: 'unchanged'; readonly why: string }
  /**
   * The text was submitted, and the user's own file differs from it. `lines`: what was done, and the question. `asks`: whether the
   * file can be updated; otherwise it has been changed since.
   */
  | { readonly kind: 'submitted'; readonly asks: boolean; readonly lines: readonly string[] };

/**
 * The file that a sweep was launched from. `kept`: where the text is stored in any case. `isAsKnown`: the file has not been changed
 * since.
 */
export type OwnFile = { readonly path: string; readonly kept: string; readonly isAsKnown: boolean };

/**
 * What the user does to runs with other programs. Methods that open an editor or a shell return when it has ended, and lend it the
 * terminal until then. All of them throw a UserError if the program cannot be started.
 */
export type EditorPort = {
  /** If not null, other methods must not be called until this has settled. */
  readonly loading?: Promise<void> | null;
  /** The command of a run in shell syntax, preceded by a change to its directory. */
  commandOf(run: RunSummary): string;
  openShell(directory: string): void;
  /** Shows the terminal of a run until the user leaves it. */
  openTerminal(run: RunSummary): void;
  extend(sweep: string): Draft;
  clone(run: RunSummary): Draft;
  /** Reopens the text of a draft. */
  edit(draft: Draft): Draft;
  submit(draft: Draft): Promise<Ack>;
  /** The user's own file, to which submitted text can be written; null: there is none. */
  ownFile(draft: Draft): OwnFile | null;
  /** Writes the submitted text to the user's own file; throws a UserError if it cannot or the file has been changed since. */
  writeOwnFile(draft: Draft): void;
};
