import fc from 'fast-check';
import { Box } from 'ink';
import type { ReactNode } from 'react';
import { describe, expect, it } from 'vitest';
import type { RunDetails } from '../../../../src/tui/state/port.js';
import { Attempts } from '../../../../src/tui/screens/run/run-screen.js';
import type { MetricsReport } from '../../../../src/metrics/describe-sources.js';
import { Config } from '../../../../src/tui/screens/run/config-pane.js';
import {
  focusedRoom,
  type OpenContent,
  openLayout,
  openPanes,
  paneGap,
} from '../../../../src/tui/screens/run/open-run.js';
import { textWidth } from '../../../../src/text/display-width.js';
import { textOf as rowsOf } from '../../render.js';
import { aRun } from '../../simulated-fleet.js';

/** In a column of boxes, as in a pane. */
const textOf = (component: ReactNode, width: number): string =>
  `\n${rowsOf(<Box flexDirection="column">{component}</Box>, width, 60).join('\n')}\n`;

describe('the layout of an open run or group', () => {
  const content = fc.record({
    kind: fc.constantFrom('run' as const, 'group' as const),
    focus: fc.constantFrom(...openPanes),
    hasCharts: fc.boolean(),
    rows: fc.integer({ min: 1, max: 300 }),
    wanted: fc.option(fc.integer({ min: 1, max: 200 })),
  });

  it('fills the room exactly, and nothing lies over anything', () => {
    fc.assert(
      fc.property(
        content,
        fc.integer({ min: 38, max: 398 }),
        fc.integer({ min: 4, max: 110 }),
        (what, width, height) => {
          const { charts, lower } = openLayout(what, width, height);
          const above = charts?.height ?? 0;
          const heights = lower.map((column) => column.reduce((sum, room) => sum + room.height, 0));
          heights.forEach((rows) => expect(above + rows).toBe(height));
          if (lower.length === 0) expect(above).toBe(height);
          const widths = lower.map((column) => column[0]!.width);
          if (widths.length > 0) expect(widths.reduce((sum, each) => sum + each + paneGap, -paneGap)).toBe(width);
          const rooms = [...(charts === null ? [] : [charts]), ...lower.flat()];
          expect(rooms.filter((room) => room.height < 1 || room.width < 1)).toEqual([]);
          expect(new Set(rooms.map(({ pane }) => pane)).size).toBe(rooms.length);
        },
      ),
    );
  });

  it('has the pane in use on the screen', () => {
    fc.assert(
      fc.property(
        content,
        fc.integer({ min: 38, max: 398 }),
        fc.integer({ min: 4, max: 110 }),
        (what, width, height) => {
          fc.pre(what.kind === 'run' || what.focus === 'log' || what.focus === 'charts');
          expect(focusedRoom(openLayout(what, width, height), what.focus)?.pane).toBe(what.focus);
        },
      ),
    );
  });

  it.each<[string, Partial<OpenContent>, [number, number], string]>([
    ['on a low one: the pane in use alone', {}, [100, 12], 'log 100×12'],
    ['on a usual one: charts above', {}, [100, 30], 'charts 100×15, log 100×15'],
    ['with all of it for charts in use', { focus: 'charts' }, [100, 30], 'charts 100×30'],
    ['without curves: none', { hasCharts: false }, [100, 30], 'log 100×30'],
    ['a wide one: config and attempts beside', {}, [160, 40], 'charts 160×20, log 92×20, config 65×17, attempts 65×3'],
    ['a wide and low one: config beside', {}, [160, 24], 'charts 160×12, log 92×12, config 65×12'],
    ['with the boundary where it was put', { wanted: 20 }, [100, 30], 'charts 100×20, log 100×10'],
    ['with room for a log, wherever it was put', { wanted: 200 }, [100, 30], 'charts 100×25, log 100×5'],
    ['a group of few runs', { kind: 'group', rows: 3 }, [100, 30], 'charts 100×25, log 100×5'],
  ])('%s', (_, over, [width, height], rooms) => {
    const { charts, lower } = openLayout(
      { kind: 'run', focus: 'log', hasCharts: true, rows: 1, wanted: null, ...over },
      width,
      height,
    );
    const all = [...(charts === null ? [] : [charts]), ...lower.flat()];
    expect(all.map((room) => `${room.pane} ${room.width}×${room.height}`).join(', ')).toBe(rooms);
  });
});

const run = aRun('A_x_s0', {
  ...{ parameters: { N: 64, seed: 0, reward: 'log_distance', layers: [64, 64] }, slot: 'gpu 0', priority: 5 },
  ...{ state: 'running', attempt: 3, argv: ['memrl', 'train', 'N=64', 'note=two words'] },
});
const begun = new Date(2026, 0, 5, 12).getTime();
const details: RunDetails = {
  record: {
    ...{ version: 1, sweep: 'abcd', group: 'A', subgroup: null, name: 'A_x_s0', identity: '08ac238893cdcba1' },
    ...{ parameters: run.parameters, argv: run.argv, cwd: '/home/ada/memory rl', host: 'turing' },
    git: { commit: '57b58f7c0496436ace7d17fb41732acad1c599d2', dirty: true, branch: 'main', diff: 'code/3fa1.diff' },
    packages: 'code/packages-91ce.json',
    policy: ['4 cores', 'nice 10'],
    attempts: [
      {
        number: 1,
        slot: 'gpu 1',
        startedAt: begun,
        endedAt: begun + 65_000,
        outcome: { kind: 'oom', line: 'CUDA out of memory' },
        commit: '57b58f7c0',
      },
      {
        number: 2,
        slot: 'gpu 0',
        startedAt: begun + 70_000,
        endedAt: begun + 80_000,
        outcome: { kind: 'failed', code: 1, line: 'ValueError: loss is NaN' },
        commit: '57b58f7c0',
      },
      { number: 3, slot: 'gpu 0', startedAt: begun + 90_000, endedAt: null, outcome: null, commit: 'a11ce0000f' },
    ],
  },
  packages: 214,
};

describe('the config of a run', () => {
  it('has what tells it apart first, then where it comes from', () => {
    expect(textOf(<Config {...{ run, details, varying: new Set(['seed', 'N']), metrics: null }} width={76} />, 76))
      .toMatchInlineSnapshot(`
        "
        N       64                  reward  log_distance
        seed    0                   layers  [64, 64]

        command    memrl train N=64 'note=two words'
        directory  /runs/abcd/A_x_s0
        slot       gpu 0
        priority   5
        policy     4 cores; nice 10
        cwd        /home/ada/memory rl
        host       turing
        commit     57b58f7c0496 on main with changes: code/3fa1.diff
        packages   214 in code/packages-91ce.json
        identity   08ac238893cdcba1

        metrics    not read yet
        "
      `);
  });

  it('ends with where its metrics are', () => {
    const metrics: MetricsReport = {
      sources: [
        {
          format: 'CSV',
          files: ['a.csv'],
          why: 'its name',
          state: 'told',
          rows: 3,
          keys: ['loss'],
          elsewhere: [],
          obstacle: null,
        },
      ],
      ...{ passedOver: [], refused: [], fix: null, folders: 1, isCut: false, lookedFor: [] },
    };
    expect(textOf(<Config {...{ run, details, varying: new Set(), metrics }} width={60} />, 60)).toMatch(
      /\nmetrics {4}looked into 1 folder\n *\n {11}a\.csv \(CSV\): 3 rows\n {13}found because of: its name\n {13}metrics: loss\n$/,
    );
  });

  it('says what is not known yet, and what never will be', () => {
    const lines = (read: RunDetails | null | undefined) =>
      textOf(<Config {...{ run, details: read, varying: new Set(), metrics: null }} width={60} />, 60);
    expect(lines(undefined)).toContain('reading…');
    expect(lines(null)).toContain('none yet: it is written when the run is started');
    expect(lines({ ...details, record: { ...details.record, git: null } })).toContain('not in a git repository');
    expect(
      textOf(<Config {...{ run: aRun('A_y'), details: null, varying: new Set(), metrics: null }} width={60} />, 60),
    ).toContain('no parameters');
  });

  it('has no words of a record and no command where another program started the run', () => {
    const other = aRun('A_o', { startedAt: begun, argv: [] });
    const text = textOf(
      <Config {...{ run: other, details: null, varying: new Set(), metrics: null }} width={60} />,
      60,
    );
    expect(text).not.toMatch(/record|command/);
  });

  it('shows foreign text as one line without what a terminal would obey', () => {
    const strange = aRun('A_z', { parameters: { 'a\u001b[2J': 'x\ny\u202e' }, argv: ['sh', '-c', 'echo\u0007'] });
    expect(
      textOf(
        <Config {...{ run: strange, details: null, varying: new Set(), metrics: null }} width={60} />,
        60,
      ).replaceAll('\n', ''),
    ).not.toMatch(/[\u0000-\u001f\u202e]/);
  });
});

describe('the attempts of a run', () => {
  it('say when, how long, where, how each ended, and where the code changed', () => {
    const now = begun + 100_000;
    expect(textOf(<Attempts {...{ run, details, now }} width={90} />, 90)).toMatchInlineSnapshot(`
      "
      #   started                  time  slot   ended
      1   2026-01-05 12:00:00     1m05s  gpu 1  out of memory · CUDA out of memory
      2   2026-01-05 12:01:10       10s  gpu 0  failed, exit 1 · ValueError: loss is NaN
      3   2026-01-05 12:01:30       10s  gpu 0  running · commit a11ce0000
      "
    `);
  });

  it('fit the columns there are, each reason below its column', () => {
    const rows = rowsOf(<Attempts {...{ run, details, now: begun }} width={66} />, 90, 20);
    expect(rows.length).toBeGreaterThan(3);
    expect(rows.filter((row) => textWidth(row) > 66)).toEqual([]);
  });

  it.each<[string, RunDetails | null | undefined, string]>([
    ['before they are read', undefined, 'reading…'],
    ['when there are none', null, 'It has not been started yet.'],
  ])('have words %s', (_, read, words) => {
    expect(textOf(<Attempts {...{ run, details: read, now: 0 }} width={60} />, 60)).toContain(words);
  });
});
