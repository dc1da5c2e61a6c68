import type { ReportedState } from '../analysis/analysed-run.js';
import type { Finding } from '../analysis/health/finding.js';
import type { Annotation } from '../base/annotation.js';
import type { MemoryRow } from '../analysis/memory-summary.js';
import type { RunValue } from '../analysis/run-value.js';
import type { Scaling } from '../analysis/scaling.js';
import type { MetricRow } from './metric-summary.js';

/** The table of one group. `title`: from the sweep file. `goals`: which end of a metric is good, where that is known. */
export type Section = { group: string; title: string | null } & (
  | { kind: 'memory'; rows: MemoryRow[]; scalings: Scaling[] }
  | { kind: 'metrics'; keys: string[]; goals: Partial<Record<string, 'minimize' | 'maximize'>>; rows: MetricRow[] }
);

/** `word`: `diverged`, `collapsed` or `nan`; `reason`: how that is seen, in words. */
export type RunMark = Finding & { readonly run: string };

/** The results of the runs of a sweep, so far. Everything in it is computed from the files of the runs. */
export type Report = {
  sweep: string;
  counts: Partial<Record<ReportedState, number>>;
  /** Ended runs with which something is wrong that their state does not tell, group by group. */
  marks: readonly RunMark[];
  /** What stands for a run in the tables of metrics. */
  value: RunValue;
  sections: Section[];
  /** Runs that a person has starred, tagged or written a note on, in natural order of name. */
  annotations: ({ run: string } & Annotation)[];
  /** How the tables of logits learnt that the memory tables compare with; none: there is nothing to compare with. */
  tables: readonly string[];
};

/** As `JSON.stringify` wants it: Infinity, which JSON lacks, is the text `infinite`; what is no number is nothing. */
export function reportReplacer(_key: string, value: unknown): unknown {
  if (value === Infinity) return 'infinite';
  return typeof value === 'number' && Number.isNaN(value) ? null : value;
}
