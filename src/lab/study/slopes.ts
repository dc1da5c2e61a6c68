import { join } from 'node:path';
import type { ReportedRun } from '../../analysis/analysed-run.js';
import { cellsOf, originsOf, settingText } from '../../analysis/cells.js';
import { median } from '../../analysis/statistics.js';
import { groupBy } from '../../base/group-by.js';
import { runFiles } from '../../contract/files.js';
import type { StudyFigure, StudyTable } from '../../contract/study.js';
import { shortNumber } from '../../text/numbers.js';
import { type Estimate, medianEstimate } from './memory/intervals.js';
import { type KeptFacts, stampOf } from './kept-facts.js';
import { RunRows } from './run-rows.js';
import { columnsOf, figure, points, tableOf, type Written } from './study-parts.js';
import type { SweepGroup } from './sweep-runs.js';

/**
 * Facts of a run with `log_slope`. `start`: log-odds of the answer at the beginning, nats. `slope`: how much optimizer
 * steps along their own gradient would raise them there, per unit of the learning rate. `updates`: until the answer had
 * probability ½; Infinity: never. `course`: log-odds by updates.
 */
type SlopeFacts = {
  readonly start: number;
  readonly slope: number;
  readonly updates: number;
  readonly course: readonly (readonly [updates: number, odds: number])[];
};

/** `expected`: updates needed if every step went along the gradient, with the initial slope. */
type SlopeRun = SlopeFacts & { readonly base: string; readonly rate: number; readonly expected: number };

/**
 * Runs of a group that differ in seed and secret alone. `varies`: parameters in which this row differs from others of
 * the group.
 */
type SlopeRow = {
  readonly group: string;
  readonly setting: string;
  readonly varies: readonly string[];
  readonly runs: readonly SlopeRun[];
};

/** Number of points kept of a run's course, and drawn in a line of a figure. */
const COURSE = 100;

/** The settings of a sweep whose runs measured the slope of their answer; runs that have not ended are left out. */
export function slopeRows(groups: readonly SweepGroup[], kept: KeptFacts): SlopeRow[] {
  return groups.flatMap(({ runs }) =>
    cellsOf(runs).flatMap((cell) => {
      const measured = slopeRuns(cell.runs, kept);
      const row = { group: cell.group, setting: settingText(cell), varies: Object.keys(cell.varies), runs: measured };
      return measured.length === 0 ? [] : [row];
    }),
  );
}

function slopeRuns(runs: readonly ReportedRun[], kept: KeptFacts): SlopeRun[] {
  const origins = originsOf(runs);
  return runs.flatMap(({ name, directory, config, state }, index) => {
    const rate = config['learning_rate'];
    if (state !== 'done' || typeof rate !== 'number') return [];
    const stamp = stampOf(join(directory, runFiles.metrics));
    const facts = kept.value(`course of ${name}`, stamp, () => slopeFacts(new RunRows(directory)));
    if (facts === null) return [];
    return [{ ...facts, rate, base: origins[index]!.base, expected: -facts.start / (rate * facts.slope) }];
  });
}

/** Null: the slope was not measured, or the answer was likelier than not at the beginning. */
function slopeFacts(rows: RunRows): SlopeFacts | null {
  const [slope] = rows.series('test/slope').y;
  const { x: updates, y: odds } = rows.series('test/log_odds', 'optim/updates');
  const [start] = odds;
  if (slope === undefined || start === undefined || !(start < 0)) return null;
  const every = Math.ceil(odds.length / COURSE);
  const course = updates
    .map((each, at) => [each, odds[at]!] as const)
    .filter((_, at) => at % every === 0 || at === odds.length - 1);
  const at = odds.findIndex((each) => each >= 0);
  if (at === -1) return { start, slope, updates: Infinity, course };
  // Evaluations lie some updates apart, so the crossing is interpolated.
  return { start, slope, updates: crossing([odds[at - 1]!, updates[at - 1]!], [odds[at]!, updates[at]!], 0), course };
}

/** Linear interpolation: the y at x between two points. */
function crossing([x0, y0]: readonly [number, number], [x1, y1]: readonly [number, number], x: number): number {
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}

/** A table of the settings and one figure of them all; none when no run measured its slope. */
export function slopeTables(rows: readonly SlopeRow[]): StudyTable[] {
  if (rows.length === 0) return [];
  const column = columnsOf(rows);
  const [left, right] = [column('left'), column('right')];
  return [
    tableOf(
      'What an update moves: until the answer has a probability of a half',
      [
        left('group', ({ group }) => group),
        left('setting', ({ setting }) => setting),
        right('runs', ({ runs }) => String(runs.length)),
        right('known', ({ runs }) => String(runs.filter(({ updates }) => updates < Infinity).length)),
        right('slope', ({ runs }) => estimateText(estimate(runs, ({ slope }) => slope))),
        right('updates', ({ runs }) => estimateText(estimate(runs, ({ updates }) => updates))),
        right('along the slope', ({ runs }) => estimateText(estimate(runs, ({ expected }) => expected))),
        right('share', ({ runs }) => estimateText(estimate(runs, shareOf))),
        right('rate × updates', ({ runs }) => estimateText(estimate(runs, ({ rate, updates }) => rate * updates))),
      ],
      [
        'slope: nats of log-odds per unit of the learning rate, by the optimizer’s steps along the gradient of the answer, before the first update',
        'along the slope: updates that such steps would take; share: of these in the updates that it took. Medians of all runs, with 95 % by Student’s t over warm-ups',
      ],
    ),
  ];
}

export function slopeFigures(rows: readonly SlopeRow[]): StudyFigure[] {
  return [...updateFigures(rows), ...[...groupBy(rows, ({ group }) => group).values()].flatMap(rateFigures)];
}

/**
 * Log-odds over rate × updates, for settings that differ in the rate alone: if that product is all that matters, their
 * lines coincide.
 */
function rateFigures(rows: readonly SlopeRow[]): StudyFigure[] {
  const [{ group }] = rows as [SlopeRow];
  if (rows.length < 3 || rows.some(({ varies }) => varies.join() !== 'learning_rate')) return [];
  const far = rows.map(({ runs }) => median(runs.map(({ rate, course }) => rate * course.at(-1)![0]))!);
  const most = Math.max(...far);
  const least = most / 100;
  const grid = Array.from({ length: COURSE }, (_, at) => least * (most / least) ** (at / (COURSE - 1)));
  const lines = rows.map(({ setting, runs }, at) => {
    // A line ends at the median end of its runs: beyond it, only the slowest runs would count.
    const own = grid.filter((x) => x <= far[at]!);
    return points(setting, own, (x) => ({ x, y: median(runs.map((run) => oddsAt(run, x / run.rate)))! }), 'line');
  });
  return [
    figure(
      `The answer over rate × updates: ${group}`,
      'Medians of the runs; one that has ended keeps its last value, and a line ends where half of its runs have.',
      [{ title: 'rate × updates', log: true }, { title: 'log-odds of the answer' }],
      lines,
    ),
  ];
}

function oddsAt({ course }: SlopeRun, updates: number): number {
  const at = course.findIndex(([each]) => each >= updates);
  if (at === -1) return course.at(-1)![1];
  return at === 0 ? course[0]![1] : crossing(course[at - 1]!, course[at]!, updates);
}

function updateFigures(rows: readonly SlopeRow[]): StudyFigure[] {
  const all = rows.flatMap((row) => {
    const [took, expected] = [estimate(row.runs, ({ updates }) => updates), estimate(row.runs, (run) => run.expected)];
    return took.median < Infinity ? [{ group: row.group, took, expected: expected.median }] : [];
  });
  if (all.length === 0) return [];
  const [least, most] = [
    Math.min(...all.map(({ expected }) => expected)),
    Math.max(...all.map(({ took }) => took.median)),
  ];
  const dots = [...groupBy(all, ({ group }) => group)].map(([group, own]) =>
    points(group, own, ({ took, expected }) => ({
      x: expected,
      y: took.median,
      lo: took.interval[0],
      hi: took.interval[1],
    })),
  );
  const line = (name: string, share: number) =>
    points(name, [least, most * share], (x) => ({ x, y: x / share }), 'dashed');
  return [
    figure(
      'Updates until the answer has a probability of a half',
      'Each dot is a setting. Dashed: every update goes along the slope, or a sixth of each does.',
      [
        { title: 'updates along the slope before the first one', log: true },
        { title: 'updates that it took', log: true },
      ],
      [...dots, line('all of an update', 1), line('a sixth of it', 1 / 6)],
    ),
  ];
}

function shareOf({ expected, updates }: SlopeRun): number {
  return expected / updates;
}

function estimate(runs: readonly SlopeRun[], of: (run: SlopeRun) => number): Estimate {
  return medianEstimate(runs.map((run) => ({ cluster: run.base, value: of(run) })))!;
}

function estimateText({ median: middle, interval }: Estimate): Written {
  const [low, high] = interval.map(numberText);
  return { value: middle, text: `${numberText(middle)} [${low}, ${high}]`, interval };
}

function numberText(value: number): string {
  return value === Infinity ? '∞' : shortNumber(value);
}
