import { type Clustered, drawClustered, type Interval, resampled95 } from '../../../analysis/bootstrap.js';
import { type Random, seededRandom } from '../../../analysis/parameters/seeded-random.js';
import { mean, median } from '../../../analysis/statistics.js';
import { medianInterval } from '../../../analysis/study/clustered.js';
import { wilson95 } from '../proportion.js';
import { groupBy, grouped } from '../../../base/group-by.js';
import type { StudyTable } from '../../../contract/study.js';
import { countText, factorText, shortNumber } from '../../../text/numbers.js';
import { columnsOf, percents, tableOf } from '../study-parts.js';
import type { MemorySection } from './sections.js';
import type { JudgedSeed, MemoryRow } from './summary.js';
import { familyText, titleOf } from './tables.js';

/** A number of a run, and the repetition of the study that the run is of. */
type Repeated = Clustered<number> & { readonly repetition: string };

/** A number that each repetition of a study estimates anew. `kind`: a median, or a share. */
type Quantity = {
  readonly of: string;
  readonly N: number;
  readonly what: 'episodes' | 'memorised' | 'ratio';
  readonly runs: readonly Repeated[];
};

type Method = { readonly name: string; readonly interval: (runs: readonly Clustered<number>[]) => Interval };

const student: Method = { name: 'Student’s t', interval: (runs) => medianInterval(runs)! };
/** Intervals of earlier versions, kept for comparison on the same runs. */
const bootstrap: Method = {
  name: 'bootstrap',
  interval: (runs) => resampled95(runs.length, (random) => median(drawClustered([runs], random)[0]!))!,
};
const wilson: Method = {
  name: 'Wilson',
  interval: (runs) => wilson95(runs.filter(({ value }) => value === 1).length, runs.length),
};

/** How often the intervals of one method hold the long-run value. */
type Coverage = Pick<Quantity, 'of' | 'N' | 'what'> & {
  readonly by: string;
  /** Value over all runs of all repetitions. */
  readonly longRun: number;
  readonly held: number;
  readonly repetitions: number;
  /** Upper end divided by lower end; the median over repetitions. */
  readonly width: number;
  /**
   * Share of resampled studies whose interval holds the value. Each draws as many base models as a repetition has from
   * those of all, without replacement.
   */
  readonly drawn: number;
};

const DRAWS = 400;

/** Coverage of the intervals of each row that repeats a study, and of the ratios of such rows of one size; empty: none does. */
function coverages({ rows }: Pick<MemorySection, 'rows'>, draws: number): Coverage[] {
  return quantitiesOf(rows).flatMap((quantity) => {
    const drawn = drawnStudies(quantity.runs, draws);
    return methodsOf(quantity).map((method) => coverageOf(quantity, method, drawn));
  });
}

function quantitiesOf(rows: readonly MemoryRow[]): Quantity[] {
  const repeated = rows.filter(({ judged }) => new Set(judged.flatMap(({ repetition }) => repetition ?? [])).size > 1);
  return [
    ...repeated.flatMap((row): Quantity[] => [
      { of: familyText(row), N: row.N, what: 'episodes', runs: runsOf(row, ({ took }) => took) },
      { of: familyText(row), N: row.N, what: 'memorised', runs: runsOf(row, ({ took }) => Number(took < Infinity)) },
    ]),
    ...repeated.flatMap((over, index) =>
      repeated
        .slice(index + 1)
        .filter(({ N }) => N === over.N)
        .map((of) => ratiosOf(of, over)),
    ),
  ];
}

function runsOf({ judged }: MemoryRow, valueOf: (run: JudgedSeed) => number): Repeated[] {
  return judged.flatMap((run) =>
    run.repetition == null ? [] : [{ cluster: run.base, repetition: run.repetition, value: valueOf(run) }],
  );
}

/** Pairs of runs of one seed and secret where neither memorised carry no information on the ratio. */
function ratiosOf(of: MemoryRow, over: MemoryRow): Quantity {
  const partners = new Map(over.judged.map(({ pair, took }) => [pair, took]));
  const runs = runsOf(of, ({ pair, took }) => took / (partners.get(pair) ?? Number.NaN));
  const known = runs.filter(({ value }) => !Number.isNaN(value));
  return { of: `${familyText(of)} over ${familyText(over)}`, N: of.N, what: 'ratio', runs: known };
}

function methodsOf({ what }: Quantity): Method[] {
  return what === 'memorised' ? [wilson] : [student, bootstrap];
}

function coverageOf(
  { of, N, what, runs }: Quantity,
  { name, interval }: Method,
  drawn: readonly Repeated[][],
): Coverage {
  const longRun = longRunOf({ what, runs });
  const studies = repetitionsOf(runs);
  const holds = (study: readonly Clustered<number>[]) => isIn(longRun, interval(study));
  const share = mean(drawn.map((study) => Number(holds(study))))!;
  const held = studies.filter(holds).length;
  const width = median(studies.map(interval).map(([low, high]) => (high === low ? 1 : high / low)))!;
  return { of, N, what, by: name, longRun, held, repetitions: studies.length, width, drawn: share };
}

function longRunOf({ what, runs }: Pick<Quantity, 'what' | 'runs'>): number {
  const values = runs.map(({ value }) => value);
  return what === 'memorised' ? mean(values)! : median(values)!;
}

function repetitionsOf(runs: readonly Repeated[]): Repeated[][] {
  return [...groupBy(runs, ({ repetition }) => repetition).values()];
}

function drawnStudies(runs: readonly Repeated[], draws: number): Repeated[][] {
  const random = seededRandom(1);
  const bases = grouped(runs, ({ cluster }) => cluster);
  const size = Math.round(bases.length / repetitionsOf(runs).length);
  return Array.from({ length: draws }, () => shuffle(bases, random).slice(0, size).flat());
}

function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  const keyed = items.map((item) => ({ item, key: random() }));
  return keyed.sort((a, b) => a.key - b.key).map(({ item }) => item);
}

function isIn(value: number, [low, high]: Interval): boolean {
  return low <= value && value <= high;
}

/**
 * Tables of every repetition's intervals, and of how many hold the long-run value; none when no group repeats a study.
 */
export function coverageTables(section: MemorySection, draws = DRAWS): StudyTable[] {
  const quantities = quantitiesOf(section.rows).filter(({ what }) => what !== 'memorised');
  const found = coverages(section, draws);
  if (found.length === 0) return [];
  const column = columnsOf(found);
  const [left, right] = [column('left'), column('right')];
  const columns = [
    left('of', ({ of }) => of),
    right('N', ({ N }) => String(N)),
    left('what', ({ what }) => what),
    left('by', ({ by }) => by),
    right('long run', ({ longRun, what }) => valueText(longRun, what)),
    right('hold it', ({ held, repetitions }) => `${held}/${repetitions} ${percents(wilson95(held, repetitions))}`),
    right('width', ({ width }) => (width === Infinity ? '∞' : factorText(width))),
    right('of drawn studies', ({ drawn }) => `${(100 * drawn).toFixed(0)} %`),
  ];
  return [
    repetitionsTable(section, quantities),
    tableOf(`${titleOf(section)} · coverage`, columns, [
      `long run: over all runs of all repetitions. hold it: how many of the 95 % intervals of the repetitions contain it, with Wilson’s 95 %. width: upper over lower end, the median of the repetitions. of drawn studies: the same of ${draws} studies that draw as many base models as a repetition has from those of all.`,
      'bootstrap: over base models, then over the runs on each, as the intervals of medians were before. Wilson: takes runs as independent, whatever they started from.',
    ]),
  ];
}

function repetitionsTable(section: MemorySection, quantities: readonly Quantity[]): StudyTable {
  const studies = [...new Set(quantities.flatMap(({ runs }) => runs.map(({ repetition }) => repetition)))];
  const column = columnsOf(studies);
  const cellOf = ({ what, runs }: Quantity, study: string) => {
    const own = runs.filter(({ repetition }) => repetition === study);
    const interval = student.interval(own);
    const isHeld = isIn(longRunOf({ what, runs }), interval);
    const ends = interval.map((end) => valueText(end, what).replace('×', '')).join(', ');
    return `${valueText(longRunOf({ what, runs: own }), what)} [${ends}]${isHeld ? '' : ' misses'}`;
  };
  return tableOf(`${titleOf(section)} · repetitions`, [
    column('left')('study', (study) => study),
    ...quantities.map((quantity) =>
      column('right')(`${quantity.what} of ${quantity.of}`, (study) => cellOf(quantity, study)),
    ),
  ]);
}

function valueText(value: number, what: Quantity['what']): string {
  if (what === 'episodes') return countText(Number.isFinite(value) ? Math.round(value) : value);
  return what === 'ratio' ? `×${value === Infinity ? '∞' : shortNumber(value)}` : `${(100 * value).toFixed(1)} %`;
}
