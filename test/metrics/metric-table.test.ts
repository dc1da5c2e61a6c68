import { describe, expect, it } from 'vitest';
import { everyPoint } from '../../src/metrics/curve.js';
import { wallTime } from '../../src/metrics/line.js';
import { MetricTable } from '../../src/metrics/metric-table.js';

function tableOf(...rows: [row: Record<string, number>, time?: number, part?: number][]): MetricTable {
  const table = new MetricTable(everyPoint, 'points');
  for (const [row, time, part] of rows) table.take(row, time, part);
  return table;
}

const points = (table: MetricTable, key: string, xKey?: string) => {
  const { x, y } = table.series(key, xKey);
  return Array.from(x, (at, index) => [at, y[index]]);
};

describe('a table of points', () => {
  it('counts each metric by steps of its own', () => {
    const table = tableOf([{ step: 0, a: 1 }], [{ step: 5, a: 2 }], [{ step: 0, b: 3 }], [{ step: 9, a: 4 }]);
    expect(points(table, 'a')).toEqual([[0, 1], [5, 2], [9, 4]]); // prettier-ignore
    expect(points(table, 'b')).toEqual([[0, 3]]);
    expect(table.keys()).toEqual(['step', 'a', 'b']);
    expect(table.last()).toEqual({ step: 9, a: 4, b: 3 });
  });

  it('replaces a point of the same step, and those from a smaller step on where it goes on from there, of that metric alone', () => {
    const table = tableOf(
      ...[0, 1, 2, 3].map((step): [Record<string, number>] => [{ step, a: step, b: step }]),
      [{ step: 3, a: 30 }],
      [{ step: 1, a: 10 }],
    );
    expect(points(table, 'a')).toEqual([[0, 0], [1, 10], [2, 2], [3, 30]]); // prettier-ignore
    table.take({ step: 2, a: 20 });
    expect(points(table, 'a')).toEqual([[0, 0], [1, 10], [2, 20]]); // prettier-ignore
    expect(points(table, 'b')).toHaveLength(4);
  });

  it('counts a later part from its first step on, in whatever order the parts are read', () => {
    const rows: [Record<string, number>, number, number][] = [
      [{ step: 0, a: 0 }, NaN, 0],
      [{ step: 1, a: 1 }, NaN, 0],
      [{ step: 2, a: 2 }, NaN, 0],
      [{ step: 1, a: 10 }, NaN, 1],
      [{ step: 2, a: 20 }, NaN, 1],
    ];
    const expected = [[0, 0], [1, 10], [2, 20]]; // prettier-ignore
    expect(points(tableOf(...rows), 'a')).toEqual(expected);
    expect(points(tableOf(...rows.toReversed().toSorted((a, b) => a[0]['step']! - b[0]['step']!)), 'a')).toEqual(
      expected,
    );
  });

  it('gives one metric against another at the same steps, interpolated', () => {
    const table = tableOf([{ step: 0, a: 1, n: 0 }], [{ step: 5, a: 2 }], [{ step: 10, a: 3, n: 100 }]);
    expect(points(table, 'a', 'n')).toEqual([[0, 1], [50, 2], [100, 3]]); // prettier-ignore
    expect(points(table, 'a', 'nothing')).toEqual([]);
  });

  it('knows when points were written, or between which times', () => {
    const timed = tableOf([{ step: 0, a: 1 }, 5000], [{ step: 1, a: 2 }, 7000]);
    expect(points(timed, 'a', wallTime)).toEqual([[5, 1], [7, 2]]); // prettier-ignore
    const untimed = tableOf([{ step: 0, a: 1 }], [{ step: 1, a: 2 }], [{ step: 2, a: 3 }]);
    expect(points(untimed, 'a', wallTime)).toEqual([]);
    untimed.stamp(1000, 3000);
    expect(points(untimed, 'a', wallTime)).toEqual([[1, 1], [2, 2], [3, 3]]); // prettier-ignore
  });
});
