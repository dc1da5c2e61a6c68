import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import {
  type ColumnId,
  columnKey,
  commonColumns,
  initialColumns,
  isColumnId,
  isInitialSort,
  type SortBy,
  sortWords,
} from '../../../../src/tui/state/list-choice.js';
import type { RunSummary } from '../../../../src/tui/state/port.js';
import { meanTrend } from '../../../../src/tui/model/tree/branch.js';
import { gutter, listLayout } from '../../../../src/tui/widgets/run-list/list-columns.js';
import { runRow } from '../../../../src/tui/widgets/run-list/list-pane.js';
import { tally } from '../../../../src/tui/model/tally.js';
import { countsLine } from '../../../../src/tui/widgets/line-parts.js';
import { detailHeading } from '../../../../src/tui/widgets/detail-heading.js';
import { sorted } from '../../../../src/tui/model/tree/tree-grower.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';
import { varyingParametersOf } from '../../../../src/tui/model/varying-parameters.js';
import { aWindow, screenText } from '../../frames.js';
import { aRun, memorySweep } from '../../simulated-fleet.js';

const varyingParameters = () => varyingParametersOf([]);
const columns = (...extra: ColumnId[]) => [...initialColumns, ...extra];

describe('the columns of the list', () => {
  it.each<{ width: number; columns: ColumnId[] | null; shown: string }>([
    { width: 40, columns: null, shown: 'progress 4 metric 8' },
    { width: 58, columns: null, shown: 'progress 13 left 6 metric 8 time 6' },
    { width: 72, columns: null, shown: 'progress 13 left 6 trend 8 metric 8 slot 5 time 6' },
    { width: 72, columns: columns('attempt', 'exit'), shown: 'progress 13 left 6 metric 8 time 6 attempt 3 exit 8' },
    { width: 60, columns: ['time', 'metric'], shown: 'time 6 metric 8' },
  ])('in $width columns: $shown', ({ width, columns: wanted, shown }) => {
    const layout = listLayout(width, { columns: wanted, metric: 'loss', longest: 18, varyingParameters });
    expect(layout.columns.map(({ id, width: size }) => `${id} ${size}`).join(' ')).toBe(shown);
  });

  it('fill exactly the width there is, the name never losing all of its own', () => {
    const some = fc.option(fc.uniqueArray(fc.constantFrom<ColumnId>(...commonColumns, 'metric a/b', 'parameter N')));
    const facts = fc.record({
      width: fc.integer({ min: 40, max: 400 }),
      longest: fc.integer({ min: 0, max: 60 }),
      some,
    });
    const run = aRun('a_run_with_a_long_name', { state: 'running', startedAt: 0, metrics: { m: 1 }, spark: [1, 2] });
    const node = { kind: 'run', key: run.id, depth: 2, parent: 'A', label: run.name, among: [run.name], run } as const;
    fc.assert(
      fc.property(facts, ({ width, longest, some: wanted }) => {
        const layout = listLayout(width, { columns: wanted, metric: 'm', longest, varyingParameters });
        const used = layout.columns.reduce((sum, column) => sum + column.width + 1, 0);
        expect(gutter + layout.name + used).toBe(width);
        expect(layout.name).toBeGreaterThanOrEqual(17);
        expect(lineWidth(runRow(node, { isMarked: true, colour: null }, layout, { metric: 'm', now: 5000 }))).toBe(
          width,
        );
      }),
    );
  });

  it('are known by their ids, wherever those were kept', () => {
    expect(['metric', 'metric a b', 'parameter N'].map(isColumnId)).toEqual([true, true, true]);
    expect(['metric ', 'colour', ''].map(isColumnId)).toEqual([false, false, false]);
    expect(columnKey('parameter N x')).toEqual({ kind: 'parameter', key: 'N x' });
    expect(columnKey('gpu memory')).toBeNull();
  });
});

describe('a row of the list', () => {
  const row = (run: RunSummary, wanted: ColumnId[] | null, width = 72): string => {
    const layout = listLayout(width, { columns: wanted, metric: 'loss', longest: 18, varyingParameters });
    const node = { kind: 'run', key: run.id, depth: 1, parent: 'A', label: run.name, among: [run.name], run } as const;
    return plainText(
      runRow(node, { isMarked: false, colour: null }, layout, { metric: 'loss', now: 60_000 }),
    ).trimEnd();
  };
  const failed = aRun('A_1', {
    ...{ state: 'failed', reason: 'ValueError: loss is NaN', startedAt: 0, endedAt: 9000, metrics: { loss: 2 } },
    exit: { class: 'failed', code: 1, signal: null },
    parameters: { N: 64 },
  });

  const annotation = { starred: true, tags: ['good', 'o\u001b[31mdd'], note: 'two\nlines' };

  it.each<{ of: string; run: RunSummary; columns?: ColumnId[]; width?: number; text: string }>([
    {
      of: 'a starred run',
      run: aRun('A_3', { state: 'done', annotation }),
      columns: ['tags', 'note'],
      text: '   ✓ A_3 ★                             good, odd    two lines',
    },
    {
      of: 'a starred run with a long name',
      run: aRun('A_run_with_a_name_that_is_long_s12', { state: 'done', annotation }),
      columns: ['tags'],
      width: 40,
      text: '   ✓ …that_is_long_s12 ★    good, odd',
    },
    {
      of: 'a failed run',
      run: failed,
      text: '   ✗ A_1             exit 1 · ValueError: loss is…        2           9s',
    },
    {
      of: 'an error without the folder of the program that says it',
      run: { ...failed, reason: "/root/bin/3.11/python3: can't open file 'x.py'" },
      text: "   ✗ A_1             exit 1 · python3: can't open…        2           9s",
    },
    { of: 'a failed run with little room', run: failed, width: 40, text: '   ✗ A_1                   exit 1 · Val…' },
    {
      of: 'a failed run under columns that were chosen',
      run: failed,
      columns: ['parameter N', 'metric', 'exit'],
      text: '   ✗ A_1                                        64            2 code 1',
    },
    {
      of: 'a run that waits, its reason over all that is empty',
      run: aRun('A_2', { reason: 'waiting for 12 GB on a GPU, 7.9 GB free' }),
      text: '   ○ A_2             waiting for 12 GB on a GPU, 7.9 GB free',
    },
    {
      of: 'a silent run',
      run: aRun('A_3', { state: 'running', startedAt: 0, progress: 0.5, health: 'silent', metrics: { loss: null } }),
      text: '   ! A_3             ━━━━────  50% silent               NaN        1m00s',
    },
    {
      of: 'a diverging run, with as much of the word as there is room for',
      run: aRun('A_4', { state: 'running', startedAt: 0, progress: 0.5, health: 'diverging', metrics: { loss: 9 } }),
      text: '   ! A_4             ━━━━────  50% diver…                 9        1m00s',
    },
    {
      of: 'a run that is done, and diverged',
      run: aRun('A_5', {
        ...{ state: 'done', startedAt: 0, endedAt: 9000, health: 'diverged', metrics: { loss: 8e78 } },
        healthReason: 'loss 8e78, at its best 2',
      }),
      text: '   ! A_5             diverged: loss 8e78, at its …   8.0e78           9s',
    },
    {
      of: 'a silent run where there is no room for the word',
      run: aRun('A_3', { state: 'running', startedAt: 0, progress: 0.5, health: 'silent', metrics: { loss: 2 } }),
      width: 40,
      text: '   ! A_3                    50%        2',
    },
    {
      of: 'a run with a wide name',
      run: { ...failed, name: '学習率の探索実験番号一二三' },
      text: '   ✗ 学習率 … 一二三 exit 1 · ValueError: loss is…        2           9s',
    },
  ])('shows $of', ({ run, columns: wanted, width, text }) => {
    expect(row(run, wanted ?? null, width)).toBe(text);
  });
});

describe('the counts of a group', () => {
  it('say with how many runs something is wrong that their states do not tell', () => {
    const runs = [
      aRun('a', { state: 'running', health: 'silent' }),
      aRun('b', { state: 'running', health: 'nan' }),
      aRun('c', { state: 'running' }),
      // How it ended says more.
      aRun('d', { state: 'failed', health: 'nan' }),
      aRun('e', { state: 'done', health: 'diverged' }),
    ];
    expect(plainText(countsLine(tally(runs, null)))).toBe('●3 ✓1 ✗1 !3');
    expect(plainText(countsLine(tally(runs.slice(2, 4), null)))).toBe('●1 ✗1');
  });
});

describe('the heading of the details', () => {
  it('has the whole of what is wrong with a run', () => {
    const healthReason = 'no output and no metrics for 12 min, its longest pause was 40 s';
    const run = aRun('A_3', { state: 'running', slot: 'cpu 0', health: 'silent', healthReason });
    const node = { kind: 'run', key: run.id, depth: 1, parent: 'A', label: run.name, among: [run.name], run } as const;
    const lines = detailHeading(node, 80, 60_000).map(plainText);
    expect(lines[0]).toBe('! A_3');
    expect(lines.slice(2)).toEqual([`silent: ${healthReason}`]);
  });
});

describe('the order of runs', () => {
  const runs = [
    aRun('A_10', { parameters: { N: 64 }, priority: 1, gpuMemory: 900, etaSeconds: 9, metrics: { loss: 1 } }),
    aRun('A_9', { parameters: { N: 'x' }, attempt: 2, slot: 'gpu 10', metrics: { loss: null } }),
    aRun('A_1', { parameters: { N: 8 }, slot: 'gpu 9', etaSeconds: 3, metrics: { loss: 5 } }),
    aRun('B', { state: 'running', progress: 0.5 }),
  ];

  it.each<{ by: SortBy; order: string; reversed: string }>([
    { by: 'file order', order: 'A_10 A_9 A_1 B', reversed: 'B A_1 A_9 A_10' },
    { by: 'name', order: 'A_1 A_9 A_10 B', reversed: 'B A_10 A_9 A_1' },
    { by: 'metric', order: 'A_1 A_10 A_9 B', reversed: 'A_10 A_1 A_9 B' },
    { by: 'parameter N', order: 'A_1 A_10 A_9 B', reversed: 'A_9 A_10 A_1 B' },
    { by: 'slot', order: 'A_1 A_9 A_10 B', reversed: 'A_9 A_1 A_10 B' },
    { by: 'left', order: 'A_1 A_10 A_9 B', reversed: 'A_10 A_1 A_9 B' },
    { by: 'priority', order: 'A_10 A_9 A_1 B', reversed: 'A_9 A_1 B A_10' },
    { by: 'gpu memory', order: 'A_10 A_9 A_1 B', reversed: 'A_10 A_9 A_1 B' },
    { by: 'progress', order: 'B A_10 A_9 A_1', reversed: 'B A_10 A_9 A_1' },
  ])('by $by, what has no value last either way', ({ by, order, reversed }) => {
    const names = (isReversed: boolean) => sorted(runs, { by, isReversed }, 'loss', 0).map(({ name }) => name);
    expect(names(false).join(' ')).toBe(order);
    expect(names(true).join(' ')).toBe(reversed);
  });

  it('is told in words', () => {
    expect(sortWords({ by: 'metric', isReversed: false }, 'loss')).toBe('loss, highest first');
    expect(sortWords({ by: 'parameter N', isReversed: true }, null)).toBe('N, highest first');
    expect(isInitialSort({ by: 'file order', isReversed: false })).toBe(true);
  });
});

describe('the trend of a group', () => {
  it('is the mean over those runs that have come so far', () => {
    const whole = aRun('A_1', { state: 'done', progress: 1, spark: [2, 2, 2, 2] });
    const half = aRun('A_2', { state: 'running', progress: 0.5, spark: [4, 4, null] });
    const trend = meanTrend([whole, half, aRun('A_3')]);
    expect([0, 9, 14, 16, 31].map((at) => trend[at])).toEqual([3, 3, 2, 2, 2]);
    expect(
      meanTrend([half])
        .slice(16)
        .every((value) => value === null),
    ).toBe(true);
    expect(meanTrend([]).every((value) => value === null)).toBe(true);
  });
});

describe('what tells runs apart', () => {
  it('is every parameter with more than one value, a missing one counting', () => {
    const runs = [
      { N: 8, lr: 0.1, only: 'x' },
      { N: 1024, lr: 0.1 },
    ].map((parameters, index) => aRun(`A_${index}`, { parameters }));
    expect([...varyingParametersOf(runs)]).toEqual([
      ['N', { values: 2, width: 4, isNumeric: true }],
      ['only', { values: 2, width: 1, isNumeric: false }],
    ]);
  });
});

describe('the list on the screen', () => {
  let store: WindowStore;
  beforeEach(() => {
    vi.useFakeTimers();
    store = aWindow(memorySweep());
  });
  afterEach(() => {
    store.close();
    vi.useRealTimers();
  });

  /** The list without what stands beside it. */
  function list(width: number, height: number, ...keys: string[]): string {
    store.resize(width, height);
    keys.forEach((key) => store.press(key));
    const rows = screenText(store).map((line) => (width < 100 ? line : line.split('│')[0]!).trimEnd());
    return `\n${rows.join('\n')}\n`;
  }

  it('by state and parameter, with marks, at 80 × 24', () => {
    const keys = ['g', 'down', 'enter', 'g', 'down', 'down', 'down', 'space', 'escape', 'home', 'space', '2', 'down'];
    expect(list(80, 24, ...keys, 'down', 'space')).toMatchSnapshot();
  });

  it('by a parameter, with columns of its own and the order of one, at 160 × 30', () => {
    const columnsKeys = ['C', ...Array<string>(14).fill('down'), 'space', 'down', 'down', 'space', 'ctrl-s', 'escape'];
    expect(list(160, 30, 'g', 'down', 'down', 'down', 'down', 'enter', ...columnsKeys)).toMatchSnapshot();
  });

  it.each([
    ['what to group by', ['g', 'down', 'down', 'down', 'space']],
    ['the columns', ['C', 'down', 'space', 'ctrl-s']],
    ['the views', ['s', 'v', 'ctrl-s', ...'mine']],
  ])('asks over the list: %s', (_, keys) => {
    expect(list(80, 24, ...keys)).toMatchSnapshot();
  });
});
