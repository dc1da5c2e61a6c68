import { holm } from '../analysis/statistics.js';
import {
  type Difference,
  difference,
  type MeanEstimate,
  meanEstimate,
  type Result,
  resultsOf,
} from '../analysis/study/metric-intervals.js';
import { chanceText, NOTHING, shortNumber } from '../text/numbers.js';
import { type Column, columnsOf } from '../text/table.js';
import { settingText } from '../analysis/cells.js';
import type { MetricRow } from './metric-summary.js';
import type { Section } from './report.js';

/** A setting in one part of a family of metrics, such as one of the data sets of `eval/DATA/accuracy`; other metrics have no part. */
type TestedCell = {
  /** Empty: all settings, of a part in which they have the same values. */
  readonly setting: string;
  readonly part: string;
  readonly runs: number;
  /** Finite values by the metric's name without its part. */
  readonly results: ReadonlyMap<string, readonly Result[]>;
};

/** With more cells than this all pairs are too many to read, and to correct for. */
const MOST_CELLS = 6;

/** The metrics of a section with intervals, then the differences of its cells. `against`: only those from cells with this in their name. */
export function metricTestTables({ rows, keys }: Section, against: string | null): Column[][] {
  return cellTables(rows, keys).flatMap(({ cells, names, of }) => {
    const found = names.flatMap((name) => differences(cells, name, against));
    return [intervalColumns(cells, names, of), ...(found.length === 0 ? [] : [differenceColumns(found)])];
  });
}

/** A sentence where a section has too many cells to compare them all; null: it has not. */
export function tooManyText({ rows, keys }: Section, against: string | null): string | null {
  const most = Math.max(0, ...cellTables(rows, keys).map(({ cells }) => cells.length));
  if (against !== null || most <= MOST_CELLS) return null;
  return `${most} rows are ${(most * (most - 1)) / 2} pairs: --against NAME compares the others with the rows that have NAME in theirs.`;
}

/** `of`: what its cells are parts of: `eval/*`; empty: they have none. */
type CellTable = { readonly cells: readonly TestedCell[]; readonly names: readonly string[]; readonly of: string };

/** A table for each family of metrics, and one for all other metrics. */
function cellTables(rows: readonly MetricRow[], keys: readonly string[]): CellTable[] {
  const families = metricFamilies(keys);
  const taken = new Set(
    families.flatMap((family) => family.parts.flatMap((part) => family.names.map(keyIn(family, part)))),
  );
  const others = { prefix: '', parts: [''], names: keys.filter((key) => !taken.has(key)) };
  return [others, ...families]
    .map((family) => ({
      names: family.names,
      of: family === others ? '' : `${family.prefix}/*`,
      cells: family.parts.flatMap((part) => cellsOfPart(rows, family, part)),
    }))
    .filter(({ cells }) => cells.length > 0);
}

/** Metrics of the same names for several parts, such as `eval/news/accuracy` and `eval/code/accuracy`: they differ in the part before the last. */
type MetricFamily = {
  /** Before the part: `eval`. */
  readonly prefix: string;
  readonly parts: readonly string[];
  /** Last parts that at least two of them have. */
  readonly names: readonly string[];
};

/** With more parts they are probably layers, or numbered otherwise. */
const MOST_PARTS = 8;
const MOST_NAMES = 12;
const MOST_FAMILIES = 6;

/** The families among the names of metrics, largest first; parts and names in the order in which they were written. */
export function metricFamilies(written: Iterable<string>): MetricFamily[] {
  const prefixes = new Map<string, Map<string, Set<string>>>();
  for (const metric of written) {
    const [, prefix, part, name] = /^(.+)\/([^/]*)\/([^/]*)$/.exec(metric) ?? [];
    if (prefix === undefined) continue;
    const ofPrefix = prefixes.get(prefix) ?? new Map<string, Set<string>>();
    prefixes.set(prefix, ofPrefix.set(name!, (ofPrefix.get(name!) ?? new Set<string>()).add(part!)));
  }
  return [...prefixes]
    .flatMap(([prefix, ofPrefix]) => familyOf(prefix, ofPrefix) ?? [])
    .sort((a, b) => b.names.length * b.parts.length - a.names.length * a.parts.length)
    .slice(0, MOST_FAMILIES);
}

function familyOf(prefix: string, names: ReadonlyMap<string, ReadonlySet<string>>): MetricFamily | null {
  const shared = [...names].filter(([, parts]) => parts.size > 1);
  const parts = new Set(shared.flatMap(([, ofName]) => [...ofName]));
  if (shared.length === 0 || parts.size > MOST_PARTS) return null;
  return { prefix, parts: [...parts], names: shared.slice(0, MOST_NAMES).map(([name]) => name) };
}

function keyIn({ prefix }: MetricFamily, part: string): (name: string) => string {
  return (name) => (prefix === '' ? name : `${prefix}/${part}/${name}`);
}

function cellsOfPart(rows: readonly MetricRow[], family: MetricFamily, part: string): TestedCell[] {
  const keyOf = keyIn(family, part);
  const cells = rows.map((row): TestedCell => {
    const results = new Map(family.names.map((name) => [name, resultsOf(row.results, keyOf(name))]));
    return { setting: settingText(row) || 'all', part, runs: row.seeds, results };
  });
  const filled = cells.filter(({ results }) => [...results.values()].some((values) => values.length > 0));
  const [first] = filled;
  const isSame = part !== '' && filled.length > 1 && filled.every((cell) => areSame(first!, cell));
  return isSame ? [{ ...first!, setting: '' }] : filled;
}

function areSame(one: TestedCell, other: TestedCell): boolean {
  return JSON.stringify([...one.results]) === JSON.stringify([...other.results]);
}

function intervalColumns(cells: readonly TestedCell[], names: readonly string[], of: string): Column[] {
  const column = columnsOf(cells);
  const bases = cells.map(({ results }) => new Set([...results.values()].flat().map(({ base }) => base)).size);
  return [
    column('left')('setting', ({ setting }) => setting),
    ...(of === '' ? [] : [column('left')(of, ({ part }) => part)]),
    column('right')('runs', ({ runs }) => String(runs)),
    column('right')('bases', (cell) => String(bases[cells.indexOf(cell)]), names.length),
    ...names.map((name, spare) =>
      column('right')(name, ({ results }) => estimateText(meanEstimate(results.get(name)!)), spare),
    ),
  ];
}

type Found = Difference & {
  readonly name: string;
  readonly of: TestedCell;
  readonly over: TestedCell;
  readonly holm: number | null;
};

/** Of all pairs of cells that have a metric. */
function differences(cells: readonly TestedCell[], name: string, against: string | null): Found[] {
  const found = askedPairs(cells, against).flatMap(({ of, over }) => {
    const told = difference(of.results.get(name)!, over.results.get(name)!);
    return told === null ? [] : [{ ...told, name, of, over }];
  });
  const adjusted = holm(found.map(({ p }) => p));
  return found.map((each, index) => ({ ...each, holm: adjusted[index]! }));
}

/** All pairs, the later cell over the earlier; or the cells that are asked for over all others. */
function askedPairs(cells: readonly TestedCell[], against: string | null): Pick<Found, 'of' | 'over'>[] {
  const pairs = cells.flatMap((over, index) => cells.slice(index + 1).map((of) => ({ of, over })));
  if (against === null) return cells.length <= MOST_CELLS ? pairs : [];
  const turned = pairs.map(({ of, over }) => (isNamed(of, against) ? { of, over } : { of: over, over: of }));
  return turned.filter(({ of }) => isNamed(of, against));
}

function isNamed(cell: TestedCell, against: string): boolean {
  return nameOf(cell).includes(against);
}

function nameOf({ setting, part }: TestedCell): string {
  return [setting, part].filter((text) => text !== '').join(' ');
}

function differenceColumns(found: readonly Found[]): Column[] {
  const column = columnsOf(found);
  return [
    column('left')('metric', ({ name }) => name),
    column('left')('of', ({ of }) => nameOf(of)),
    column('left')('less', ({ over }) => nameOf(over)),
    column('right')('pairs', ({ runs }) => String(runs)),
    column('right')('difference', estimateText),
    column('right')('bases alike', ({ alike, bases }) => `${alike}/${bases}`, 2),
    column('right')('p', ({ p }) => (p === null ? NOTHING : chanceText(p)), 1),
    column('right')('p (Holm)', ({ holm: p }) => (p === null ? NOTHING : chanceText(p))),
  ];
}

function estimateText(estimate: MeanEstimate | null): string {
  if (estimate === null) return NOTHING;
  const { mean, interval } = estimate;
  return interval === null
    ? shortNumber(mean)
    : `${shortNumber(mean)} [${interval.map((end) => shortNumber(end)).join(', ')}]`;
}

/** Explanations of the columns of metrics. */
export const metricTestNotes = [
  'Means of the values that stand for runs, in brackets 95 %: by Student’s t over base models (the runs of the sweep that runs started from); over the runs where all started from one. A part (`*`) of which all settings have the same values is shown once.',
  'difference: mean over pairs of runs of the same seeds and base model. bases alike: of how many bases the runs differ, on average, in the direction of the mean. p: signed ranks of the pairs, exact; Holm: adjusted for all differences of the metric in the table.',
];
