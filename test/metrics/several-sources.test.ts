import { appendFileSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lineFormat, ownJsonLines } from '../../src/metrics/formats/line-format.js';
import { type MetricRow, openMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'metric-formats-'))));
afterEach(() => removeFolder(run));

const write = (name: string, text: string) => appendFileSync(join(run, name), text);

/** `a 1` on each line: a step of its own each time. */
const pairs = lineFormat({
  name: 'pairs',
  looksFor: '*.pairs',
  recognise: ({ name }) => (name.endsWith('.pairs') ? { is: 'yes', why: 'its name' } : { is: 'no' }),
  parser: () => {
    let step = 0;
    return (line) => {
      const [key, value] = line.split(' ');
      return key === undefined || value === undefined ? null : { step: step++, [key]: Number(value) };
    };
  },
});

function following(hasPast = false) {
  const told: (MetricRow | string)[] = [];
  const row = (values: MetricRow, isPast: boolean) =>
    void told.push(isPast ? `past ${JSON.stringify(values)}` : values);
  const listener = { row, restart: () => void told.push('restart') };
  return { told, metrics: openMetrics(run, { listener, hasPast, formats: [ownJsonLines, pairs] }) };
}

describe('a run whose metrics are in several files', () => {
  it('has the keys of all, each over the steps of its own file; of two alike the first counts', () => {
    write('metrics.jsonl', '{"step": 10, "loss": 1}\n{"step": 20, "loss": 2}\n');
    write('a.pairs', 'acc 5\nacc 6\nloss 9\n');
    const metrics = openMetrics(run, { formats: [ownJsonLines, pairs] }).readNow();
    expect(metrics.keys()).toEqual(['step', 'loss', 'acc']);
    expect([...metrics.series('loss').x, ...metrics.series('acc').x]).toEqual([10, 20, 0, 1]);
    expect(metrics.last()).toEqual({ step: 20, loss: 2, acc: 6 });
    expect(metrics.rows).toBe(5);
  });

  it('takes up the file of its own that comes, goes and comes again', () => {
    write('a.pairs', 'acc 5\n');
    const { metrics } = following();
    metrics.readNow();
    expect(metrics.last()).toMatchObject({ acc: 5 });
    write('metrics.jsonl', '{"step": 1, "loss": 3}\n');
    metrics.readNow();
    expect(metrics.last()).toMatchObject({ loss: 3, acc: 5 });
    rmSync(join(run, 'metrics.jsonl'));
    metrics.readNow();
    write('metrics.jsonl', '{"step": 1, "loss": 2}\n');
    metrics.readNow();
    expect(metrics.last()).toMatchObject({ loss: 2, acc: 5 });
  });

  it('is not in its past for want of a file that is not there', () => {
    write('a.pairs', 'acc 5\n');
    const { metrics } = following(true);
    metrics.readNow();
    expect(metrics.isInPast).toBe(false);
    expect(metrics.more).toBe(false);
  });

  it('takes up a file that comes later, all of it as new', () => {
    write('metrics.jsonl', '{"step": 1, "loss": 1}\n');
    const { told, metrics } = following(true);
    metrics.refresh();
    write('late.pairs', 'acc 5\n');
    expect(metrics.isInPast).toBe(false);
    metrics.refresh();
    expect(told).toEqual(['past {"step":1,"loss":1}', { step: 0, acc: 5 }]);
    expect(metrics.paths.map((path) => path.slice(run.length + 1))).toEqual(['metrics.jsonl', 'late.pairs']);
  });

  it.each([
    { replaced: 'metrics.jsonl', text: '{"step": 3, "loss": 3}\n' },
    { replaced: 'a.pairs', text: 'acc 7\n' },
  ])('tells the rows of all again when $replaced was replaced', ({ replaced, text }) => {
    write('metrics.jsonl', '{"step": 1, "loss": 1}\n');
    write('a.pairs', 'acc 5\n');
    const { told, metrics } = following();
    metrics.readNow();
    told.length = 0;
    writeFileSync(join(run, 'new'), text);
    renameSync(join(run, 'new'), join(run, replaced));
    metrics.readNow();
    const rows = replaced === 'a.pairs' ? [{ step: 0, acc: 7 }, { step: 1, loss: 1 }] : [{ step: 3, loss: 3 }, { step: 0, acc: 5 }]; // prettier-ignore
    expect(told).toEqual(['restart', ...rows]);
  });

  it('is read no further in one part than asked for', () => {
    write('metrics.jsonl', '{"step": 1, "loss": 1}\n'.repeat(10));
    write('a.pairs', 'acc 5\n'.repeat(10));
    const { metrics } = following();
    expect(metrics.refresh(230)).toMatchObject({ changed: true, bytes: 230, more: true });
    expect(metrics.refresh(230)).toMatchObject({ changed: true, bytes: 60, more: false });
  });
});

describe('what a run writes its metrics in', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join('src', path), 'utf8') }));

  it('is named where it is written and read, and nowhere else', () => {
    const naming = sources.filter(({ text }) => /metrics\.jsonl|\brunFiles\.metrics\b/.test(text));
    const rooms = naming.map(({ path }) => path.replace(/\/.*/, ''));
    expect([...new Set(rooms)].sort()).toEqual(['contract', 'lab', 'metrics']);
  });

  it('is read by `metrics` alone: nobody else knows a format, or how rows are filed', () => {
    const inner = /^metrics\/(formats\/|metric-table)/;
    const crossings = sources.flatMap(({ path, text }) =>
      [...text.matchAll(/from '(\.[^']+)'/g)]
        .map(([, target]) => normalize(join(dirname(path), target!)))
        .filter((target) => inner.test(target) && !path.startsWith('metrics/'))
        .map((target) => `${path} needs ${target}`),
    );
    expect(crossings).toEqual([]);
  });
});

describe('a run with more files than are read of one', () => {
  const many = 1100;

  it('is read from the first thousand, in short parts, and says what is left out', () => {
    for (let n = 0; n < many; n++) write(`eval_${n}.csv`, `step,acc${n}\n${n},0.5\n`);
    const metrics = openMetrics(run);
    let [parts, most] = [0, 0];
    do {
      const before = metrics.rows;
      metrics.refresh(64 << 10);
      most = Math.max(most, metrics.rows - before);
      parts += 1;
    } while (metrics.more);
    expect(metrics.rows).toBe(1024);
    expect(metrics.keys()).toContain('acc1023');
    expect(most).toBeLessThanOrEqual(32);
    expect(parts).toBeLessThan(400);
    expect(metrics.obstacle).toBe('the metrics of this run are read from 1024 files at most: 76 more are left out');
  });

  it('follows those that it reads, and takes up no further one', { tags: ['long'] }, () => {
    for (let n = 0; n < many; n++) write(`eval_${n}.csv`, `step,acc\n${n},0.5\n`);
    const metrics = openMetrics(run).readNow();
    write('eval_0.csv', '5000,0.75\n');
    write('eval_9999.csv', 'step,other\n1,1\n');
    metrics.readNow();
    expect(metrics.last()['acc']).toBe(0.75);
    expect(metrics.keys()).not.toContain('other');
    expect(metrics.obstacle).toContain('77 more are left out');
  });
});
