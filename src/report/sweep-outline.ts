import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import type { MetricsToShow } from '../analysis/metric-order.js';
import { sweepFiles } from '../contract/files.js';
import { readIfThere } from '../files/run-record-file.js';

/** What reports and exports take from the sweep file: the order of the groups, their titles, and what to show. */
export type SweepOutline = {
  groups: { name: string; title: string | null; metrics: SaidOfMetrics }[];
  metrics: SaidOfMetrics;
};

/** `x`: null where nothing is said. */
type SaidOfMetrics = { show: readonly string[]; x: string | null };

const Metrics = z
  .looseObject({
    show: z.union([z.array(z.string()), z.string().transform((key) => [key])]).catch([]),
    x: z.string().nullable().catch(null),
  })
  .catch({ show: [], x: null });
const GroupText = z
  .looseObject({ title: z.string().nullable().catch(null), metrics: Metrics })
  .catch({ title: null, metrics: { show: [], x: null } });
const SweepText = z.looseObject({ groups: z.record(z.string(), GroupText).catch({}), metrics: Metrics });

/** What is to be shown of the runs of a group: what the group says, or else the sweep. */
export function metricsToShow({ groups, metrics }: SweepOutline, group: string): MetricsToShow {
  const own = groups.find(({ name }) => name === group)?.metrics;
  const show = own !== undefined && own.show.length > 0 ? own.show : metrics.show;
  return { show, x: own?.x ?? metrics.x ?? 'step' };
}

/**
 * Reads the sweep file kept beside the runs, as far as it goes: it was checked when it was submitted, and a report of
 * finished runs must not fail over it. A sweep of plain commands, or none, gives an empty outline.
 */
export function readOutline(sweepDirectory: string): SweepOutline {
  const parsed = SweepText.safeParse(parseYaml(readIfThere(join(sweepDirectory, sweepFiles.text)) ?? ''));
  if (!parsed.success) return { groups: [], metrics: { show: [], x: null } };
  const { groups, metrics } = parsed.data;
  return {
    groups: Object.entries(groups).map(([name, { title, metrics: own }]) => ({ name, title, metrics: own })),
    metrics,
  };
}

function parseYaml(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' });
  } catch {
    return null;
  }
}
