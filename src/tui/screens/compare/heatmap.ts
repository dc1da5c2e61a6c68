import { groupBy } from '../../../base/group-by.js';
import { isSeedName, parameterOf } from '../../../base/scalar.js';
import type { HeatmapAxes } from '../../state/compare-choice.js';
import type { RunSummary } from '../../state/port.js';
import { scalarText } from '../../widgets/parameters.js';
import { type CurveValue, type Sample, sampleOf } from './compare-value.js';

type Value = RunSummary['parameters'][string];

/** A metric over two parameters. `down` with one undefined value: there is only one parameter. */
export type Heatmap = {
  readonly metric: string;
  /** What this map holds, if there are several of the metric: `reward=binary`; empty: all runs. */
  readonly part: string;
  /** Names of what differs inside of cells besides seeds; empty: nothing does. */
  readonly mixes: readonly string[];
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

/** Maps of one metric, at most; with more, its cells mix unlike runs and say so. */
const mostParts = 6;

/**
 * One map, if runs of a cell differ in their seeds alone; else one for each combination of the other parameters that differ there.
 *
 * @param valueOf Returns the value of a run's curve.
 */
export function heatmapsOf(
  runs: readonly RunSummary[],
  metric: string,
  axes: HeatmapAxes,
  valueOf: (run: RunSummary) => CurveValue | null,
): readonly Heatmap[] {
  const mixes = mixedIn(runs, axes);
  const parts = groupBy(runs, (run) => mixes.map((name) => `${name}=${mixedValue(run, name)}`).join(' '));
  if (parts.size > mostParts) return [{ ...heatmapOf(runs, metric, axes, valueOf), mixes }];
  return [...parts].map(([part, own]) => ({ ...heatmapOf(own, metric, axes, valueOf), part }));
}

/** The group of a run is treated as one more parameter, since another group may run another program. */
const groupName = 'group';

function mixedValue(run: RunSummary, name: string): string {
  const value = parameterOf(run.parameters, name);
  return value === undefined ? (name === groupName ? run.group : '–') : scalarText(value);
}

/** Names of what differs between runs of one cell, but for seeds and what the sweep varies with them. */
function mixedIn(runs: readonly RunSummary[], axes: HeatmapAxes): string[] {
  const inside = variesInside(runs);
  const names = [...keysOf(runs)].filter((name) => !inside.has(name));
  const cells = groupBy(runs, ({ parameters }) => cellKey(parameters, axes));
  const isMixed = (name: string): boolean =>
    [...cells.values()].some((own) => own.some((run) => mixedValue(run, name) !== mixedValue(own[0]!, name)));
  const mixed = names.filter(isMixed);
  return mixed.length > 0 || !isMixed(groupName) ? withoutAliases(mixed, runs) : [groupName];
}

/** Names without those whose values go with the values of an earlier one, as they divide the runs in the same way. */
function withoutAliases(names: readonly string[], runs: readonly RunSummary[]): string[] {
  const partitions = new Set<string>();
  return names.filter((name) => {
    const numbers = new Map<string, number>();
    const partition = runs.map((run) => {
      const value = mixedValue(run, name);
      if (!numbers.has(value)) numbers.set(value, numbers.size);
      return numbers.get(value)!;
    });
    const key = partition.join();
    if (partitions.has(key)) return false;
    partitions.add(key);
    return true;
  });
}

function cellKey(parameters: RunSummary['parameters'], { across, down }: HeatmapAxes): string {
  return pointKey(parameterOf(parameters, across), down === null ? undefined : parameterOf(parameters, down));
}

function heatmapOf(
  runs: readonly RunSummary[],
  metric: string,
  axes: HeatmapAxes,
  valueOf: (run: RunSummary) => CurveValue | null,
): Heatmap {
  const across = valuesOf(runs, axes.across);
  const down = axes.down === null ? [undefined] : valuesOf(runs, axes.down);
  const points = new Map<string, (CurveValue | null)[]>();
  for (const run of runs) {
    const key = cellKey(run.parameters, axes);
    const values = points.get(key);
    if (values === undefined) points.set(key, [valueOf(run)]);
    else values.push(valueOf(run));
  }
  const at = down.map((row) => across.map((column) => points.get(pointKey(column, row)) ?? []));
  return {
    ...{ metric, part: '', mixes: [], axes },
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
