import { appendFileSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type MetricRow, openMetrics, type RunMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

const directory = mkdtempSync(join(tmpdir(), 'run-metrics-'));
afterAll(() => removeFolder(directory));
let files = 0;
/** Where a run of its own writes. */
function freshPath(): string {
  const run = join(directory, `run-${files++}`);
  mkdirSync(run);
  return join(run, 'metrics.jsonl');
}

function logOf(...lines: string[]): RunMetrics {
  const path = freshPath();
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''));
  const log = openMetrics(dirname(path));
  log.refresh();
  return log;
}
const points = (log: RunMetrics, key: string, xKey?: string) => {
  const { x, y } = log.series(key, xKey);
  return Array.from(x, (value, index) => [value, y[index]]);
};

describe('the metrics of a run', () => {
  it('reads each metric as a series over the step', () => {
    const log = logOf('{"step": 0, "loss": 2.5, "acc": 0}', '{"step": 10, "loss": -1.25e-3}', '{"step": 20, "acc": 1}');
    expect(log.keys()).toEqual(['step', 'loss', 'acc']);
    expect(points(log, 'loss')).toEqual([
      [0, 2.5],
      [10, -0.00125],
    ]);
    expect(points(log, 'acc')).toEqual([
      [0, 0],
      [20, 1],
    ]);
    expect(log.last()).toEqual({ step: 20, loss: -0.00125, acc: 1 });
    expect(log.rows).toBe(3);
  });

  it('is empty for an unknown key, an unknown x and a file that is not there', () => {
    const log = logOf('{"step": 0, "loss": 1}');
    expect(points(log, 'nothing')).toEqual([]);
    expect(points(log, 'loss', 'nothing')).toEqual([]);
    const absent = openMetrics(dirname(freshPath()));
    expect(absent.refresh().changed).toBe(false);
    expect(absent.keys()).toEqual([]);
  });

  it('says whether anything changed, and keeps up with a growing file', () => {
    const path = freshPath();
    const log = openMetrics(dirname(path));
    writeFileSync(path, '{"step":0,"a":1}\n{"step":1,');
    expect(log.refresh().changed).toBe(true);
    expect(log.refresh().changed).toBe(false);
    appendFileSync(path, '"a":2}\n');
    expect(log.refresh().changed).toBe(true);
    expect(points(log, 'a')).toEqual([
      [0, 1],
      [1, 2],
    ]);
  });

  it.each<{ what: string; line: string; value: number }>([
    { what: 'NaN', line: '{"step":1,"v":NaN}', value: NaN },
    { what: 'null', line: '{"step":1,"v":null}', value: NaN },
    { what: 'Infinity', line: '{"step":1,"v":Infinity}', value: Infinity },
    { what: '-Infinity', line: '{"step": 1, "v": -Infinity}', value: -Infinity },
    { what: 'true', line: '{"step":1,"v":true}', value: 1 },
    { what: 'a number of 17 digits', line: '{"step":1,"v":0.30000000000000004}', value: 0.30000000000000004 },
    { what: 'a big exponent', line: '{"step":1,"v":1.7976931348623157e308}', value: Number.MAX_VALUE },
    { what: 'minus zero', line: '{"step":1,"v":-0.0}', value: -0 },
    { what: 'a value after text with quotes', line: '{"step":1,"t":"a \\"b\\", {","v":3}', value: 3 },
    { what: 'a value after a nested object', line: '{"step":1,"t":{"v":9},"v":4}', value: 4 },
    { what: 'a key with an escape', line: '{"step":1,"\\u0076":5}', value: 5 },
    { what: 'much white space', line: ' { "step" : 1 ,\t"v" : 6 } ', value: 6 },
    { what: 'a key named twice', line: '{"step":1,"v":6,"v":7}', value: 7 },
  ])('reads $what', ({ line, value }) => {
    const log = logOf('{"step":0,"v":0}', line);
    expect(points(log, 'v').at(-1)).toEqual([1, value]);
    expect(log.last()['v']).toBe(Number.isNaN(value) ? null : value);
  });

  it.each([
    '',
    '   ',
    'Traceback',
    '[1,2]',
    '3',
    '{"step":1,"v":',
    '{"step":1 "v":2}',
    '{"v":1.2.3}',
    '{"v":0x10}',
    '\0\0',
  ])('passes over a line that is no row: %j', (line) => {
    expect(points(logOf('{"step":0,"v":0}', line, '{"step":2,"v":2}'), 'v')).toEqual([
      [0, 0],
      [2, 2],
    ]);
  });

  it('replaces the rows of a smaller step: the run went on from a checkpoint', () => {
    const log = logOf(
      ...[0, 1, 2, 3, 4].map((step) => `{"step":${step},"a":${step},"b":${step}}`),
      '{"step":2,"a":20}',
      '{"step":3,"a":30}',
    );
    expect(points(log, 'a')).toEqual([
      [0, 0],
      [1, 1],
      [2, 20],
      [3, 30],
    ]);
    expect(points(log, 'b')).toEqual([
      [0, 0],
      [1, 1],
    ]);
    expect(log.rows).toBe(4);
  });

  it('adds a second row of one step to the first; its values win', () => {
    const log = logOf('{"step":0,"a":1,"b":1}', '{"step":0,"b":2,"c":3}', '{"step":1,"a":4}');
    expect(log.rows).toBe(2);
    expect([points(log, 'a'), points(log, 'b'), points(log, 'c')]).toEqual([
      [
        [0, 1],
        [1, 4],
      ],
      [[0, 2]],
      [[0, 3]],
    ]);
  });

  it('files a row without a step under the step before', () => {
    const log = logOf('{"step":5,"a":1}', '{"a":2}', '{"step":6,"a":3}');
    expect(points(log, 'a')).toEqual([
      [5, 1],
      [5, 2],
      [6, 3],
    ]);
  });

  it.each([
    { rows: ['{"global_step":7,"a":1}', '{"global_step":9,"a":2}'], x: [7, 9] },
    { rows: ['{"epoch":1,"a":1}', '{"epoch":1,"a":2}', '{"epoch":0,"a":3}'], x: [0, 1, 1] },
    { rows: ['{"step":1,"epoch":1,"a":1}', '{"step":1,"epoch":2,"a":2}', '{"step":1,"epoch":3,"a":3}'], x: [1, 2, 3] },
    {
      rows: ['{"epoch":1,"iter":9,"a":1}', '{"epoch":1,"iter":19,"a":1}', '{"epoch":2,"iter":9,"a":1}'],
      x: [9, 19, 29],
    },
    { rows: ['{"a":1}', '{"a":2}'], x: [0, 1] },
  ])('finds the x axis of $rows.0', ({ rows, x }) => {
    expect(points(logOf(...rows), 'a').map(([at]) => at)).toEqual(x);
  });

  it('gives one metric against another, interpolated where a row lacks it', () => {
    const log = logOf(
      '{"step":0,"episodes":0,"a":0}',
      '{"step":1,"a":1}',
      '{"step":2,"episodes":8,"a":2}',
      '{"step":3,"a":3}',
    );
    expect(points(log, 'a', 'episodes')).toEqual([
      [0, 0],
      [4, 1],
      [8, 2],
      [8, 3],
    ]);
  });

  it('tells a listener every row, and when the rows come again', () => {
    const path = freshPath();
    const told: (MetricRow | 'restart')[] = [];
    const log = openMetrics(dirname(path), {
      listener: { row: (row) => told.push(row), restart: () => told.push('restart') },
    });
    writeFileSync(path, '{"step":0,"a":1,"t":"x"}\n{"step":0,"a":null}\n');
    log.refresh();
    writeFileSync(`${path}.new`, '{"step":0,"a":9}\n');
    renameSync(`${path}.new`, path);
    log.refresh();
    expect(told).toEqual([{ step: 0, a: 1 }, { step: 0, a: NaN }, 'restart', { step: 0, a: 9 }]);
    expect(points(log, 'a')).toEqual([[0, 9]]);
  });

  it('keeps a series of a million rows bounded, its peaks and its exact end', { tags: ['long'] }, () => {
    const path = freshPath();
    const total = 1_000_000;
    const value = (step: number) =>
      step === 123_457 ? 99 : step === 700_001 ? -99 : Math.round(1000 * Math.sin(step)) / 1000;
    for (let from = 0; from < total; from += 50_000) {
      const rows = Array.from(
        { length: 50_000 },
        (_, index) => `{"step":${from + index},"v":${value(from + index)}}\n`,
      );
      appendFileSync(path, rows.join(''));
    }
    const log = openMetrics(dirname(path));
    do log.refresh();
    while (log.more);
    const { x, y } = log.series('v');
    expect(log.rows).toBe(total);
    expect(x.length).toBeLessThan(33_000);
    expect([Math.max(...y), x[y.indexOf(99)]]).toEqual([99, 123_457]);
    expect([Math.min(...y), x[y.indexOf(-99)]]).toEqual([-99, 700_001]);
    expect(x.every((at, index) => index === 0 || at > x[index - 1]!)).toBe(true);
    const exact = x.length - 8_000;
    expect(Array.from(x.subarray(exact))).toEqual(Array.from({ length: 8_000 }, (_, index) => total - 8_000 + index));
    expect(Array.from(y.subarray(exact))).toEqual(Array.from(x.subarray(exact), value));

    appendFileSync(path, '{"step":500000,"v":7}\n');
    log.refresh();
    expect(points(log, 'v').filter(([at]) => at === 500_000)).toContainEqual([500_000, 7]);
    expect(points(log, 'v').at(-1)![0]).toBe(total - 1);
    appendFileSync(path, '{"step":500001,"v":8}\n');
    log.refresh();
    expect(log.rows).toBe(500_002);
    expect(points(log, 'v').slice(-2)).toEqual([[500_000, 7], [500_001, 8]]); // prettier-ignore
  });
});
