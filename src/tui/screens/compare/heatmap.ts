import { isSeedName, parameterOf } from '../../../base/scalar.js';
import type { HeatmapAxes } from '../../state/compare-choice.js';
import type { RunSummary } from '../../state/port.js';
import { type CurveValue, type Sample, sampleOf } from './compare-value.js';

type Value = RunSummary['parameters'][string];

/** A metric over two parameters. `down` with one undefined value: there is only one parameter. */
export type Heatmap = {
  readonly metric: string;
  readonly axes: HeatmapAxes;
  readonly across: readonly (Value | undefined)[];
  readonly down: readonly (Value | undefined)[];
  /** By row and column: sample over the runs at that point; null: none has a value. */
  readonly cells: readonly (readonly (Sample | null)[])[];
  /** Number of runs at each point, with or without a value. */
  readonly counts: readonly (readonly number[])[];
};

/**
 * Parameters a heatmap can show: those that differ between the runs, those with the most values first. Parameters that differ
 * between the seeds of one setting come last whatever their values, since a cell is the mean over them.
 */
export function heatmapParameters(runs: readonly RunSummary[]): string[] {
  const counts = new Map<string, number>();
  for (const key of keysOf(runs)) counts.set(key, valuesOf(runs, key).length);
  const inside = variesInside(runs);
  return [...counts]
    .filter(([, count]) => count > 1)
    .sort(([a, countA], [b, countB]) => Number(inside.has(a)) - Number(inside.has(b)) || countB - countA)
    .map(([key]) => key);
}

/** The two parameters with the most values that are not seeds; a single row if there is only one. */
export function defaultAxes(runs: readonly RunSummary[]): HeatmapAxes | null {
  const inside = variesInside(runs);
  const [across, down] = heatmapParameters(runs).filter((key) => !inside.has(key));
  return across === undefined ? null : { across, down: down ?? null };
}

/** `valueOf`: returns the value of a run's curve. */
export function heatmapOf(
  runs: readonly RunSummary[],
  metric: string,
  axes: HeatmapAxes,
  valueOf: (run: RunSummary) => CurveValue | null,
): Heatmap {
  const across = valuesOf(runs, axes.across);
  const down = axes.down === null ? [undefined] : valuesOf(runs, axes.down);
  const points = new Map<string, (CurveValue | null)[]>();
  for (const run of runs) {
    const key = pointKey(
      parameterOf(run.parameters, axes.across),
      axes.down === null ? undefined : parameterOf(run.parameters, axes.down),
    );
    const values = points.get(key);
    if (values === undefined) points.set(key, [valueOf(run)]);
    else values.push(valueOf(run));
  }
  const at = down.map((row) => across.map((column) => points.get(pointKey(column, row)) ?? []));
  return {
    metric,
    axes,
    across,
    down,
    cells: at.map((row) => row.map(sampleOf)),
    counts: at.map((row) => row.map(({ length }) => length)),
  };
}

function pointKey(across: Value | undefined, down: Value | undefined): string {
  return `${identity(across)}\n${identity(down)}`;
}

/**
 * Identifies a value. JSON text has no raw line break, so two of them can be joined by one; a missing parameter is an empty text.
 */
function identity(value: Value | undefined): string {
  return value === undefined ? '' : JSON.stringify(value);
}

function keysOf(runs: readonly RunSummary[]): Set<string> {
  const keys = new Set<string>();
  for (const { parameters } of runs) for (const key in parameters) keys.add(key);
  return keys;
}

/** The distinct values: numbers first, by size, then the others in their original order. */
function valuesOf(runs: readonly RunSummary[], key: string): (Value | undefined)[] {
  const values = new Map<string, Value | undefined>();
  for (const { parameters } of runs) values.set(identity(parameterOf(parameters, key)), parameterOf(parameters, key));
  return [...values.values()].sort((a, b) => {
    if (typeof a === 'number' && typeof b === 'number') return a - b;
    return Number(typeof b === 'number') - Number(typeof a === 'number');
  });
}

/** Parameters that differ between runs of one setting, and seeds, since the sweep file need not name settings. */
function variesInside(runs: readonly RunSummary[]): Set<string> {
  const firsts = new Map<string, RunSummary>();
  const varying = new Set([...keysOf(runs)].filter(isSeedName));
  for (const run of runs) {
    if (run.subgroup === null) continue;
    const setting = `${run.sweep}\n${run.group}\n${run.subgroup}`;
    const first = firsts.get(setting);
    if (first === undefined) firsts.set(setting, run);
    else for (const key of differences(first, run)) varying.add(key);
  }
  return varying;
}

function differences({ parameters: a }: RunSummary, { parameters: b }: RunSummary): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((key) => identity(a[key]) !== identity(b[key]));
}
