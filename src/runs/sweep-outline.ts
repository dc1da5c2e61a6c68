import { parse } from 'yaml';
import * as z from 'zod';
import { countingAmong, inMetricOrder, type MetricsToShow, namesIn } from '../analysis/metric-order.js';
import { keptSweepText } from '../files/sweep-folder.js';
import type { RunMetrics } from '../metrics/run-metrics.js';
import { readToml } from '../spec/file/toml-source.js';

/**
 * The part of the sweep file that reports and exports use: the groups in order, their titles, and which metrics to show and
 * evaluate by.
 */
export type SweepOutline = SaidOfRuns & { groups: (SaidOfRuns & { name: string; title: string | null })[] };

/** `judgedBy`: names in the objective and in the stop rule. */
type SaidOfRuns = {
  metrics: SaidOfMetrics;
  objective: OutlinedObjective | null;
  judgedBy: readonly string[];
};
export type OutlinedObjective = { name: string; goal: 'minimize' | 'maximize' };

/** `x`: null: the file does not set it. */
type SaidOfMetrics = { show: readonly string[]; x: string | null };

const Metrics = z
  .looseObject({
    show: z.union([z.array(z.string()), z.string().transform((key) => [key])]).catch([]),
    x: z.string().nullable().catch(null),
  })
  .catch({ show: [], x: null });
/** The objective, and the names in the stop rule; null for either: a group cancels the sweep's. */
const judges = {
  metric: z
    .looseObject({ name: z.string(), goal: z.enum(['minimize', 'maximize']).catch('minimize') })
    .nullish()
    .catch(undefined),
  stop_when: z
    .union([z.string(), z.looseObject({ when: z.string() }).transform(({ when }) => when)])
    .transform(namesIn)
    .nullish()
    .catch(undefined),
};
const GroupText = z
  .looseObject({ title: z.string().nullable().catch(null), metrics: Metrics, ...judges })
  .catch({ title: null, metrics: { show: [], x: null } });
const SweepText = z.looseObject({ groups: z.record(z.string(), GroupText).catch({}), metrics: Metrics, ...judges });

/** The metrics to show for the runs of a group: the group's own, else the sweep's. */
export function metricsToShow({ groups, metrics, judgedBy }: SweepOutline, group: string): MetricsToShow {
  const inFile = groups.find(({ name }) => name === group);
  const own = inFile?.metrics;
  const show = own !== undefined && own.show.length > 0 ? own.show : metrics.show;
  return { show, x: own?.x ?? metrics.x ?? 'step', judgedBy: inFile?.judgedBy ?? judgedBy };
}

/** The objective of a group; null: the sweep file has none. */
export function objectiveOf({ groups, objective }: SweepOutline, group: string): OutlinedObjective | null {
  const inFile = groups.find(({ name }) => name === group);
  return inFile === undefined ? objective : inFile.objective;
}

/**
 * Reads the sweep file stored beside the runs without validation: it was validated at its submission, and a report of finished runs
 * must not fail over it. A list of commands, or no file, gives an empty outline.
 */
export function readOutline(sweepDirectory: string): SweepOutline {
  const parsed = SweepText.safeParse(keptValue(sweepDirectory));
  if (!parsed.success) return { groups: [], metrics: { show: [], x: null }, objective: null, judgedBy: [] };
  const { groups, ...sweep } = parsed.data;
  return {
    groups: Object.entries(groups).map(([name, group]) => {
      const { title, metrics } = group;
      return { name, title, metrics, ...judgesOf(group, sweep) };
    }),
    metrics: sweep.metrics,
    ...judgesOf(sweep, {}),
  };
}

type Judges = { metric?: OutlinedObjective | null | undefined; stop_when?: string[] | null | undefined };

/** The objective and the stop rule's names of a group, which replace the sweep's. */
function judgesOf(own: Judges, sweep: Judges): Pick<SaidOfRuns, 'objective' | 'judgedBy'> {
  const metric = (own.metric === undefined ? sweep.metric : own.metric) ?? null;
  const stop = (own.stop_when === undefined ? sweep.stop_when : own.stop_when) ?? [];
  const objective = metric === null ? null : { name: metric.name, goal: metric.goal };
  return { objective, judgedBy: [...new Set([...(metric === null ? [] : [metric.name]), ...stop])] };
}

function keptValue(sweepDirectory: string): unknown {
  const kept = keptSweepText(sweepDirectory);
  if (kept === null) return null;
  const { path, text } = kept;
  if (path.endsWith('.toml')) {
    const source = readToml(text, path);
    return 'value' in source ? source.value : null;
  }
  try {
    return parse(text, { logLevel: 'silent' });
  } catch {
    return null;
  }
}

/** The counters among a run's metrics, as far as they affect the choice of its default metric. */
export function countingIn(metrics: RunMetrics, choice: MetricsToShow): string[] {
  return countingAmong(inMetricOrder(metrics.keys(), choice), choice, metrics);
}
