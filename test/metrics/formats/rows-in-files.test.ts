import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepTables } from '../../../src/files/kept/kept-tables.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { removeFolder } from '../../remove-folder.js';

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'rows-in-files-'))));
afterEach(() => removeFolder(run));

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(run, name)), { recursive: true });
  writeFileSync(join(run, name), text);
};
const open = () => openMetrics(run, { places: { folders: [], patterns: {} } });
const read = () => {
  const metrics = open().readNow();
  const of = (key: string) => Array.from(metrics.series(key).x, (x, at) => [x, metrics.series(key).y[at]!]);
  return { metrics, curves: Object.fromEntries(metrics.keys().map((key) => [key, of(key)])) };
};

describe('a table', () => {
  it.each<{ what: string; text: string; curves: Record<string, number[][]> }>([
    {
      what: 'gives values to the names of the last row of names: another order',
      text: 'epoch,loss,val\n0,5,9\n1,4,8\nepoch,val,loss\n2,7,3\n',
      curves: { loss: [[0, 5], [1, 4], [2, 3]], val: [[0, 9], [1, 8], [2, 7]] }, // prettier-ignore
    },
    {
      what: 'gives values to the names of the last row of names: further names',
      text: 'step;loss\n1;5\nstep;loss;acc\n2;4;0.5\n',
      curves: { loss: [[1, 5], [2, 4]], acc: [[2, 0.5]] }, // prettier-ignore
    },
    {
      what: 'is resumed by a row of names and an earlier step',
      text: 'step,loss\n10,5\n20,4\n30,3\nstep,loss\n15,1\n',
      curves: { loss: [[10, 5], [15, 1]] }, // prettier-ignore
    },
    {
      what: 'has no value where a row ends early',
      text: 'epoch,loss,val\n0,5\n1,4,8\n2,3\n',
      curves: { loss: [[0, 5], [1, 4], [2, 3]], val: [[1, 8]] }, // prettier-ignore
    },
    {
      what: 'may have decimal commas, and words in cells',
      text: 'epoch;loss;note\n0;5,25;a\n1;4,5e-1;b\n',
      curves: { loss: [[0, 5.25], [1, 0.45]] }, // prettier-ignore
    },
    {
      what: 'may have quoted numbers with commas',
      text: 'epoch,loss,tokens\n0,"5,25","1,200"\n',
      curves: { loss: [[0, 5.25]], tokens: [[0, 1200]] }, // prettier-ignore
    },
    { what: 'may begin its rows with text', text: 'split,epoch,loss\na,0,5\na,1,4\n', curves: { loss: [[0, 5], [1, 4]] } }, // prettier-ignore
  ])('$what', ({ text, curves }) => {
    write('log.csv', text);
    expect(read().curves).toMatchObject(curves);
    expect(read().metrics.obstacle).toBeNull();
  });

  it('says how many rows have more cells than names, and gives none of their values to a wrong name', () => {
    write('log.csv', 'epoch,loss\n0,5,25\n1,4\n2,3,5\n');
    const { metrics, curves } = read();
    expect(curves['loss']).toEqual([[1, 4]]);
    expect(metrics.obstacle).toBe('log.csv: 2 rows have more cells than names and are left out');
  });

  it.each(['metrics.csv', 'metrics.jsonl'])('goes on with the curve before when %s is opened anew', (name) => {
    const text = (from: number, to: number, head: boolean) => {
      const rows = Array.from({ length: to - from }, (_, index) => from + index);
      if (name.endsWith('csv')) return (head ? 'step,loss\n' : '') + rows.map((at) => `${at},${10 * at}\n`).join('');
      return rows.map((at) => `{"step":${at},"loss":${10 * at}}\n`).join('');
    };
    write(name, text(0, 10, true));
    const metrics = open().readNow();
    write(name, text(8, 9, true));
    metrics.readNow();
    appendFileSync(join(run, name), text(9, 15, false));
    const { x, y } = metrics.readNow().series('loss');
    expect(Array.from(x)).toEqual(Array.from({ length: 15 }, (_, at) => at));
    expect(Array.from(y)).toEqual(Array.from(x, (at) => 10 * at));
  });
});

describe('tables kept of earlier attempts', () => {
  const rows = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, at) => `${from + at},${from + at}\n`).join('');
  const steps = () => Array.from(open().readNow().series('loss').x);

  it('are read before those that replaced them, by whoever comes later', () => {
    write('logs/metrics.csv', `step,loss\n${rows(0, 10)}`);
    keepTables(run, 2);
    write('logs/metrics.csv', `step,loss\n${rows(8, 12)}`);
    expect(steps()).toEqual(Array.from({ length: 12 }, (_, at) => at));
  });

  it('are not read where the file was only appended to', () => {
    write('metrics.jsonl', '{"step":1,"loss":1}\n');
    keepTables(run, 2);
    appendFileSync(join(run, 'metrics.jsonl'), '{"step":2,"loss":1}\n');
    const metrics = open().readNow();
    expect(metrics.paths).toEqual([join(run, 'metrics.jsonl')]);
    expect(Array.from(metrics.series('loss').x)).toEqual([1, 2]);
  });
});

describe('rows of JSON', () => {
  const rows = [1, 2, 3].map((at) => `{"iteration": ${at}, "total_loss": ${at / 2}}\n`).join('');

  it.each(['metrics.json', 'vis_data/scalars.json', 'log.txt', '20260101_000000.log', 'result.json'])(
    'are recognised in %s',
    (name) => {
      write(name, rows);
      expect(read().curves['total_loss']).toEqual([[1, 0.5], [2, 1], [3, 1.5]]); // prettier-ignore
    },
  );

  it('may come after a line about the program, and have its settings in them', () => {
    const row = (at: number) => `{"training_iteration": ${at}, "reward": ${at}, "config": {"lr": 0.1}}\n`;
    write('result.json', `{"env": "a", "seed": 3}\n${row(1)}${row(2)}`);
    expect(read().curves).toEqual({ seed: [[1, 3]], training_iteration: [[1, 1], [2, 2]], reward: [[1, 1], [2, 2]] }); // prettier-ignore
  });

  it.each([
    { name: 'results.json', text: '{"accuracy": 0.9, "loss": 0.1}\n' },
    { name: 'config.json', text: '{\n "step": 3,\n "lr": 0.1\n}\n' },
    { name: 'data.json', text: '{"step": 1, "x": 2}\n{"step": 1, "x": 3}\n' },
    { name: 'notes.txt', text: 'step 1\n{"step": 1, "x": 2}\n{"step": 2, "x": 3}\n' },
  ])('are not in $name with $text', ({ name, text }) => {
    write(name, text);
    expect(read().curves).toEqual({});
  });
});
