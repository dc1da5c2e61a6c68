import { describe, expect, it } from 'vitest';
import { metricFamilies, metricTestTables, tooManyText } from '../../src/report/metric-tests.js';
import { cellsOf } from '../../src/analysis/cells.js';
import { summariseMetrics } from '../../src/report/metric-summary.js';
import type { ReportedRun } from '../../src/analysis/analysed-run.js';
import { tableLines } from '../../src/text/table.js';

const seeds = [0, 1, 2, 3, 4, 5];

/** Six runs of a setting, on two base models. */
const runsOf = (way: string): ReportedRun[] =>
  seeds.map((seed) => ({
    ...{ name: `${way}_${seed}`, group: 'evaluation', subgroup: way, directory: `/runs/s/${way}_${seed}` },
    ...{ state: 'done', parameters: { way, seed, model: `\${sweep_dir}/base_${seed % 2}` }, config: {} },
  }));

type Values = Record<string, number>;

function sectionOf(ways: Readonly<Record<string, (seed: number) => Values>>): Parameters<typeof metricTestTables>[0] {
  const keys = [...new Set(Object.values(ways).flatMap((values) => Object.keys(values(0))))];
  const rows = cellsOf(Object.keys(ways).flatMap(runsOf)).map((cell) => ({
    ...summariseMetrics(cell, seeds.map(ways[cell.title!]!), keys),
    marks: {},
  }));
  return {
    kind: 'metrics',
    group: 'evaluation',
    title: null,
    settings: [],
    declared: [],
    keys,
    goals: {},
    rows,
    answer: [],
  };
}

const section = sectionOf({
  routed: (seed) => ({
    ...{ 'eval/both/hack': 0.5, 'eval/retain/hack': seed / 100, 'eval/before/hack': seed / 10, time: 3 },
  }),
  filter: (seed) => ({ 'eval/both/hack': 0.1, 'eval/before/hack': seed / 10, time: 3 + seed }),
});
const shown = (against: string | null) =>
  metricTestTables(section, against).map((columns) => tableLines(columns, 200).filter((line) => !line.startsWith('─')));

describe('intervals and tests of metrics', () => {
  it('have a row for each setting in each part of a family, one for a part that is the same in all, and other metrics beside', () => {
    const [time, , parts] = shown(null);
    expect(time!.map((line) => line.split(/ {2,}/))).toEqual([
      ['setting', 'runs', 'bases', 'time'],
      ['routed', '6', '2', '3 [3, 3]'],
      ['filter', '6', '2', '5.50 [-0.853, 11.9]'],
    ]);
    expect(parts!.map((line) => line.slice(0, 16).trimEnd())).toEqual([
      ...['setting  eval/*', 'routed   both', 'filter   both', 'routed   retain', '         before'],
    ]);
  });

  it('compare all pairs by runs of the same seed and base model, with p adjusted for all of a metric', () => {
    const [, , , pairs] = shown(null);
    expect(pairs).toHaveLength(1 + 6);
    expect(pairs![1]).toMatch(/^hack +filter both +routed both +6 +-0\.400 \[-0\.400, -0\.400\] +2\/2 +0\.031 +0\.19$/);
  });

  it('compare what is asked for with everything else, and with nothing else', () => {
    const pairs = shown('retain').at(-1);
    expect(pairs!.slice(1).map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['hack', 'routed retain', 'routed both'],
      ['hack', 'routed retain', 'filter both'],
      ['hack', 'routed retain', 'before'],
    ]);
  });

  it('say how to ask where there are more rows than can be compared', () => {
    const many = sectionOf(Object.fromEntries('abcdefg'.split('').map((way, at) => [way, () => ({ loss: at })])));
    expect(metricTestTables(many, null)).toHaveLength(1);
    expect(tooManyText(many, null)).toContain('7 rows are 21 pairs: --against NAME');
    expect(tooManyText(many, 'a')).toBeNull();
    expect(tooManyText(section, null)).toBeNull();
  });
});

describe('families of metrics', () => {
  it.each<{ written: string[]; families: object[] }>([
    { written: ['train/loss', 'val/loss', 'loss', 'a/b'], families: [] },
    { written: ['eval/a/loss', 'eval/b/acc'], families: [] },
    {
      written: ['eval/a/loss', 'eval/b/loss', 'eval/b/acc', 'eval/loss'],
      families: [{ prefix: 'eval', parts: ['a', 'b'], names: ['loss'] }],
    },
    {
      written: ['x/y/a/loss', 'x/y/b/loss', 'e/a/loss', 'e/b/loss', 'e/a/acc', 'e/b/acc'],
      families: [
        { prefix: 'e', parts: ['a', 'b'], names: ['loss', 'acc'] },
        { prefix: 'x/y', parts: ['a', 'b'], names: ['loss'] },
      ],
    },
    { written: Array.from({ length: 9 }, (_, layer) => `grad/layer${layer}/norm`), families: [] },
  ])('are found by their names: $written', ({ written, families }) => {
    expect(metricFamilies(written)).toEqual(families);
  });
});
