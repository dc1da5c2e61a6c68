import { type Fleet, type RunSummary } from '../client/fleet.js';

import { type RunVerb } from './ui-state.js';

export type { Ack, FleetStatus, GroupSummary, RunSummary, RunWord, SweepSummary } from '../client/fleet.js';

export type RunId = RunSummary['id'];

/** What the window needs of the connection to the supervisor; tests give their own. */
export type FleetPort = Pick<Fleet, 'sweeps' | 'runs' | 'status' | 'connection' | 'subscribe' | 'version' | RunVerb>;

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
