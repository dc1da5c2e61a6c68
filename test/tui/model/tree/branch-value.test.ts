import { describe, expect, it } from 'vitest';
import { answersOf } from '../../../../src/analysis/answer/sweep-answers.js';
import { branchValue } from '../../../../src/tui/model/tree/branch-value.js';
import type { Branch } from '../../../../src/tui/model/tree/branch.js';
import { buildTree } from '../../../../src/tui/model/tree/tree-grower.js';
import { besideValue } from '../../../../src/tui/widgets/run-list/list-cells.js';
import type { ColumnId, GroupBy } from '../../../../src/tui/state/list-choice.js';
import type { RunSummary } from '../../../../src/tui/state/port.js';
import { plainText } from '../../../../src/tui/surface/span.js';
import { aRun, aSweep } from '../../simulated-fleet.js';

const sweep = aSweep({
  groups: ['A', 'B'].map((name) => ({ name, title: null, needs: [] })),
  show: ['loss'],
  objective: { name: 'loss', goal: 'minimize' },
});

/** A run of group A whose accuracy is its loss, negated. */
function run(lr: number, seed: number, loss: number | null, over: Partial<RunSummary> = {}): RunSummary {
  const metrics = { loss, accuracy: loss === null ? null : -loss };
  const told = { state: 'done', group: 'A', parameters: { lr, seed }, metrics } as const;
  return aRun(`A_lr${lr}_s${seed}`, { ...told, ...over });
}

const broken = { health: 'diverged' } as const;
const grid = [
  ...[run(0.1, 0, 2), run(0.1, 1, 4), run(0.1, 2, 3)],
  ...[run(0.3, 0, 7), run(0.3, 1, 9), run(0.3, 2, 8)],
  ...[run(1, 0, 1e30, broken), run(1, 1, 2e30, broken), run(1, 2, 3e30, broken)],
];

function rowsOf(runs: readonly RunSummary[], by: GroupBy = { kind: 'group' }): readonly Branch[] {
  const options = {
    matches: () => true,
    sort: { by: 'file order', isReversed: false },
    metric: 'loss',
    now: 0,
  } as const;
  return buildTree(runs, [sweep], { ...options, grouping: [by] }).groups;
}

/** What the row of a group says: its value, and what is written beside it. */
function said(branch: Branch, runs: readonly RunSummary[], column: ColumnId = 'metric', width = 40): string {
  const { answers } = answersOf(runs, sweep, { fromSeeds: [] });
  const value = branchValue(branch, { column, metric: 'loss', x: 'step', answers })!;
  if (value === null) return '';
  const number = value.kind === 'seeds' ? value.values.mean : value.kind === 'best' ? value.value : value.low;
  return `${number} ${plainText(besideValue(value, width))}`.trim();
}

describe('the value in the row of a group', () => {
  it.each<{ of: string; runs: RunSummary[]; column?: ColumnId; width?: number; is: string }>([
    { of: 'a grid is that of its best setting', runs: grid, is: '3 lr=0.1, median of 3' },
    { of: 'a grid is named by its values, if there is little room', runs: grid, width: 5, is: '3 0.1' },
    {
      of: 'a grid, of a metric that does not judge, is that of the same setting',
      runs: grid,
      column: 'metric accuracy',
      is: '-3 lr=0.1, median of 3, best by loss',
    },
    { of: 'runs that differ in their seeds is their mean', runs: grid.slice(0, 3), is: '3 ±1.0' },
    {
      of: 'seeds leaves out one that diverged, and says so',
      runs: [...grid.slice(0, 2), run(0.1, 2, 1e22, broken)],
      is: '3 ±1.4 · 1 diverged',
    },
    {
      of: 'a grid of which too little is done is a range',
      runs: grid.map((each, index) => (index < 2 ? each : { ...each, state: 'running' as const })),
      is: '2 to 9 · 3 diverged',
    },
    { of: 'a grid in which all diverged is nothing', runs: [...grid.slice(6), run(2, 0, 1e9, broken)], is: 'Infinity' },
  ])('of $of', ({ runs, column, width, is }) => {
    expect(said(rowsOf(runs)[0]!, runs, column, width)).toBe(is);
  });

  it('is the same as in the answer, and by another grouping that of the best among its runs', () => {
    const { answers } = answersOf(grid, sweep, { fromSeeds: [] });
    const [first, second] = answers[0]!.answer.candidates;
    expect([first!.median, second!.median]).toEqual([3, 8]);
    const byLr = rowsOf(grid, { kind: 'parameter', key: 'lr' });
    expect(byLr.map((row) => said(row, grid))).toEqual(['3 ±1.0', '8 ±1.0', 'NaN']);
    const bySeed = rowsOf(grid, { kind: 'parameter', key: 'seed' });
    expect(bySeed.map((row) => said(row, grid))).toEqual(['2 lr=0.1', '4 lr=0.1', '3 lr=0.1']);
  });

  it('is a range over groups whose values cannot be compared', () => {
    const other = grid.map((each) => ({ ...aRun(each.name.replace('A', 'B')), ...each, group: 'B', id: each.id }));
    const both = [...grid, ...other.map((each) => ({ ...each, name: `B${each.name}`, id: aRun(`B${each.name}`).id }))];
    const [lowest] = rowsOf(both, { kind: 'parameter', key: 'seed' });
    expect(said(lowest!, both)).toBe('2 to 7 · 2 diverged');
  });
});
