import { type RunSummary, type SweepSummary } from '../protocol/run-summary.js';

export type { GroupSummary, RunSummary, RunWord, SweepSummary } from '../protocol/run-summary.js';

export type RunId = RunSummary['id'];

/** The supervisor's answer to an order. `message`: words for the person. */
export type Ack = { ok: boolean; message?: string | undefined };

/** What the window needs of the connection to the supervisor. `client/fleet.ts` is one; tests give their own. */
export type FleetPort = {
  readonly sweeps: ReadonlyMap<string, SweepSummary>;
  /** In launch order within each sweep. A changed run is a new object. */
  readonly runs: ReadonlyMap<RunId, RunSummary>;
  readonly connection: 'connected' | 'reconnecting';
  /** Calls back after each publication, at most 10 times a second. Returns the end of the subscription. */
  subscribe(listener: () => void): () => void;
  /** Grows with every publication. */
  version(): number;
  kill(ids: readonly RunId[]): Promise<Ack>;
  resume(ids: readonly RunId[]): Promise<Ack>;
};

/** One metric over a run; `x` grows, gaps are NaN in `y`. Both have the same length and are not changed afterwards. */
export type Series = { readonly x: Float64Array; readonly y: Float64Array };

/** The metrics a run has written so far. */
export type MetricReader = {
  /** Reads what was added since the last call; true when something was. */
  refresh(): boolean;
  keys(): readonly string[];
  series(key: string, xKey?: string): Series;
};

/** The files of one run directory, as far as the window reads them. */
export type RunFilesPort = {
  metrics(directory: string): MetricReader;
  /** The last lines of the run's output, oldest first; empty when there is none yet. */
  logTail(directory: string, count: number): readonly string[];
};
