import type { RunWord } from '../base/run-words.js';
import type { Parameters } from '../base/scalar.js';

/** Where a run is, by the word of its supervisor; else as far as its files tell: `running` if no end of it is recorded. */
export type ReportedState = RunWord;

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
