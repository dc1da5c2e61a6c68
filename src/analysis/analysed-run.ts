import type { Parameters } from '../base/scalar.js';

/** Where a run is, as far as its files tell. `running`: it was started, and no end of it is recorded. */
export type ReportedState = 'queued' | 'held' | 'running' | 'done' | 'failed' | 'killed' | 'lost';

/** What a run's directory says, before its metrics are read. */
export type ReportedRun = {
  name: string;
  group: string;
  /** What the sweep calls the runs that differ in their seed alone; none, or left out, where it says nothing. */
  subgroup?: string | null;
  directory: string;
  state: ReportedState;
  /** As the sweep set them. */
  parameters: Parameters;
  /** `config.json`: all settings as the program understood them. Empty when it wrote none. */
  config: Readonly<Record<string, unknown>>;
};
