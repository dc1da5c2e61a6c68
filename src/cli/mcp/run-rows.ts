/** Runs of `ls --json`, made short for an agent: without what is empty, and what all have in common said once. */
import type { Answers } from '../answers/schemas.js';
import { jsonIn, type Printed, Refused, type RunCommand } from './command.js';
import type { Given } from './verb-tool.js';

/** A run as `ls --json` prints it. */
export type RunRow = Answers['ls'][number];

type Values = Readonly<Record<string, unknown>>;

/** Facts that are about the machine, or that other facts tell: only whole rows have them. */
const omitted = new Set([
  ...['name', 'sweep', 'pid', 'directory', 'gpus', 'gpuMemory', 'cpu', 'memory', 'infinite', 'retryAt', 'startsAt'],
  ...['displayName', 'etaRange', 'best', 'declared', 'version'],
]);
/** Values that say nothing. */
const usual: Values = { priority: 0, health: 'ok', starred: false };
/** Significant digits of a metric. */
const DIGITS = 6;

/** A list of runs: what all have in common, and the rest of each. */
type ListedRuns = { readonly common?: Values; readonly runs: readonly Values[] };

/** @param columns Parameters and metrics to keep; null: all. */
export function briefRows(rows: readonly RunRow[], columns: readonly string[] | null): ListedRuns {
  return listed(rows.map((row) => briefRow(row, columns)));
}

/** Rows without what is empty; what all of them have is said once. */
export function listed(rows: readonly Values[]): ListedRuns {
  const filled = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => !isEmpty(value))));
  const common = commonOf(filled);
  const runs = filled.map((row) => without(row, common));
  return Object.keys(common).length === 0 ? { runs } : { common, runs };
}

/** A number as short as it is useful. */
export function rounded(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(DIGITS));
}

function briefRow(row: RunRow, columns: readonly string[] | null): Values {
  const facts = Object.entries(row).filter(([key, value]) => !omitted.has(key) && usual[key] !== value);
  const chosen = facts.map(([key, value]) => [key, chosenOf(key, value, columns)]);
  return { run: `${row.sweep}/${row.name}`, ...(Object.fromEntries(chosen) as Values) };
}

function chosenOf(key: string, value: unknown, columns: readonly string[] | null): unknown {
  if (key !== 'metrics' && key !== 'parameters') return value;
  const entries = Object.entries(value as Values).filter(([name]) => columns === null || columns.includes(name));
  return Object.fromEntries(entries.map(([name, each]) => [name, key === 'metrics' ? shortValue(each) : each]));
}

function shortValue(value: unknown): unknown {
  return typeof value === 'number' ? rounded(value) : value;
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** The facts that are the same in all rows, with the parameters that are. */
function commonOf([first, ...others]: readonly Values[]): Values {
  if (first === undefined || others.length === 0) return {};
  const shared = Object.entries(first).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'metrics') return [];
    if (key === 'parameters') {
      const parameters = commonOf([value as Values, ...others.map((row) => (row[key] ?? {}) as Values)]);
      return isEmpty(parameters) ? [] : [[key, parameters]];
    }
    const text = JSON.stringify(value);
    return others.every((row) => JSON.stringify(row[key]) === text) ? [[key, value]] : [];
  });
  return Object.fromEntries(shared);
}

function without(row: Values, common: Values): Values {
  const left = Object.entries(row).flatMap(([key, value]): [string, unknown][] => {
    if (!Object.hasOwn(common, key)) return [[key, value]];
    if (key !== 'parameters') return [];
    const parameters = without(value as Values, common[key] as Values);
    return isEmpty(parameters) ? [] : [[key, parameters]];
  });
  return Object.fromEntries(left);
}

/** Runs that a query selects, and the remarks of `ls`. */
type ChosenRows = { readonly rows: RunRow[]; readonly notes: readonly string[] };

/** The runs that a query selects. @throws {Refused} When it selects none. */
export async function runsChosen(given: Given, run: RunCommand): Promise<ChosenRows> {
  return chosenIn(await run(['ls', '--json', '--', ...[given['query'] ?? []].flat().map(String)]), given);
}

/** The same from what `ls --json` printed. @throws {Refused} */
export function chosenIn(printed: Printed, given: Given): ChosenRows {
  const { value, notes } = jsonIn(printed);
  const rows = [...(value as Answers['ls'])];
  if (rows.length > 0) return { rows, notes };
  const { query } = given as { query?: string };
  throw new Refused({
    code: 'no-such-run',
    message: query === undefined ? 'There are no runs here.' : `No run matches \`${query}\`.`,
    fix: query === undefined ? 'Launch a sweep.' : 'Without a query `ls` lists them all; `status` has the sweeps.',
  });
}
