import type { Scaling } from './memory/scaling.js';
import type { MemoryRow } from './memory/summary.js';
import type { MetricRow } from './metrics/summary.js';
import type { ReportedState } from './reported-run.js';

/** The table of one group. `title`: from the sweep file. */
export type Section = { group: string; title: string | null } & (
  { kind: 'memory'; rows: MemoryRow[]; scalings: Scaling[] } | { kind: 'metrics'; keys: string[]; rows: MetricRow[] }
);

/** What the runs of a sweep came to, so far. Everything in it is computed from the files of the runs. */
export type Report = {
  sweep: string;
  counts: Partial<Record<ReportedState, number>>;
  sections: Section[];
};
