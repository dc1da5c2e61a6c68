import type { RunWord } from '../base/run-words.js';
import type { Parameters } from '../base/scalar.js';
import type { RunRecord } from '../contract/run-record.js';

/** The state of a run as its supervisor reports it; without one, as its files show it: `running` if they record no end. */
export type ReportedState = RunWord;

/** What a run's directory tells without reading its metrics. */
export type ReportedRun = {
  name: string;
  group: string;
  /** The sweep's name for the runs that differ in their seed alone; null or absent: it has none. */
  subgroup?: string | null;
  directory: string;
  state: ReportedState;
  /** The parameters that the sweep set. */
  parameters: Parameters;
  /** `config.json`: all settings as the program recorded them; empty: it wrote none. */
  config: Readonly<Record<string, unknown>>;
  /** Why its last attempt failed, in words; null or absent: it did not, or is not known to have. */
  failure?: string | null;
  /** From when to when it was up, Unix ms; null: not known. Absent: its record says it. */
  times?: { readonly startedAt: number | null; readonly endedAt: number | null };
  /** Where its metrics are by its sweep, beside its directory. Absent: its record says it. */
  metrics?: RunRecord['metrics'];
};
