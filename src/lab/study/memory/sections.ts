import { join } from 'node:path';
import type { ReportedRun } from '../../../analysis/analysed-run.js';
import { type Cell, cellsOf } from '../../../analysis/cells.js';
import type { References } from './references.js';
import { type MemoryRow, type RunOrigin, summarise } from './summary.js';
import { memoryTask, type MemoryTask } from '../../environments/memory/task.js';
import { type Scaling, scalings } from './scaling.js';
import { bitsEstimate, type Estimate } from './intervals.js';
import { grouped } from '../../../base/group-by.js';
import { hasEnded } from '../../../base/run-words.js';
import { runFiles } from '../../../contract/files.js';
import type { SweepGroup } from '../sweep-runs.js';
import { type KeptFacts, stampOf } from '../kept-facts.js';
import { RunRows } from '../run-rows.js';
import { factsOf } from './run-facts.js';

/** The results of a group whose runs all learn a secret. */
export type MemorySection = {
  readonly group: string;
  readonly title: string | null;
  readonly rows: readonly MemoryRow[];
  readonly scalings: readonly Scaling[];
  /** The bits that one episode taught, by row; null: the secret was known from the start, or no run has a verdict. */
  readonly bits: ReadonlyMap<MemoryRow, Estimate | null>;
};

/** The groups of memory runs; warm-ups and other groups are left out. */
export function memorySections(
  groups: readonly SweepGroup[],
  references: References,
  kept: KeptFacts,
): MemorySection[] {
  return groups.flatMap(({ name, title, runs }) => {
    const cells = cellsOf(runs).map((cell) => ({ cell, task: taskOf(cell) }));
    const told = cells.flatMap(({ cell, task }) => (task === null ? [] : memoryRow(cell, task, references, kept)));
    if (told.length < cells.length) return [];
    const rows = telling(told).sort(byConditionAndSize);
    const laws = kept.value(`laws of ${name}`, rows, () => scalings(rows));
    const bits = rows.map((row, index) => [row, kept.value(`row ${index} of ${name}`, row.judged, () => bitsEstimate(row))] as const); // prettier-ignore
    return [{ group: name, title, rows, scalings: laws, bits: new Map(bits) }];
  });
}

/** The task of a cell, which all its runs share; a queued run has written no settings yet, so its parameters are used. */
function taskOf({ runs }: Cell): MemoryTask | null {
  return runs.map((run) => memoryTask(settingsOf(run))).find((task) => task !== null) ?? null;
}

function settingsOf({ parameters, config }: ReportedRun): Record<string, unknown> {
  return { ...parameters, ...config };
}

/** Parameters that a memory row shows in columns of their own, or that follow from these. */
const ownColumns = new Set(['N', 'n_values', 'reward_type', 'reward_bins', 'env_type', 'advantages']);

function memoryRow(cell: Cell, task: MemoryTask, references: References, kept: KeptFacts): MemoryRow {
  const read = cell.runs.map((run) => {
    const own = memoryTask(settingsOf(run)) ?? task;
    const facts = () => factsOf(new RunRows(run.directory), own, run.state);
    const by = [stampOf(join(run.directory, runFiles.metrics)), run.state, own];
    return {
      ...(hasEnded(run.state) ? kept.value(`run ${run.name}`, by, facts) : facts()),
      origin: { ...originOf(settingsOf(run)), repetition: repetitionOf(run) },
    };
  });
  return summarise({
    ...{ group: cell.group, task, compared: references.of(task.condition, task.N) },
    extra: Object.fromEntries(Object.entries(cell.varies).filter(([key]) => !ownColumns.has(key))),
    verdicts: read.map(({ verdict }) => verdict),
    distinct: read.flatMap(({ distinct }) => distinct ?? []),
    origins: read.map(({ origin }) => origin),
    determinedAfter: read.map(({ determinedAfter }) => determinedAfter),
    timesLost: read.map(({ timesLost }) => timesLost),
  });
}

function originOf({ seed, fixed_secret: secret, load_checkpoint_path: base }: Record<string, unknown>): RunOrigin {
  return { pair: JSON.stringify([seed, secret]), base: typeof base === 'string' ? base : '' };
}

/** A sweep that repeats a study names each repetition by the subgroup of its runs: `repetition 7`. */
function repetitionOf({ subgroup = null }: ReportedRun): string | null {
  return subgroup !== null && /^repetition \d+$/.test(subgroup) ? subgroup : null;
}

/** Leaves out parameters that follow from condition and size, such as a longer budget for a larger N. */
function telling(rows: readonly MemoryRow[]): MemoryRow[] {
  const alike = grouped(rows, ({ condition, N, bins }) => JSON.stringify([condition, N, bins]));
  const differs = (key: string) =>
    alike.some((family) => new Set(family.map(({ extra }) => JSON.stringify(extra[key]))).size > 1);
  const keys = Object.keys(rows[0]?.extra ?? {}).filter(differs);
  return rows.map((row) => ({ ...row, extra: Object.fromEntries(keys.map((key) => [key, row.extra[key]])) }));
}

function byConditionAndSize(a: MemoryRow, b: MemoryRow): number {
  return a.condition.localeCompare(b.condition) || (a.bins ?? 0) - (b.bins ?? 0) || a.N - b.N;
}
