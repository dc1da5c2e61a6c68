import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, openSync, closeSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync, writeSync } from 'node:fs'; // prettier-ignore
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { property } from '../tiers.js';
import { describeSources, hasMetrics, pythonLine } from '../../src/metrics/describe-sources.js';
import { hasProgram } from '../has-program.js';
import { openMetrics, relativeTime, type RunMetrics, wallTime } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

const fixtures = join(import.meta.dirname, '../fixtures/metrics');
const places = { folders: [], patterns: {} };
let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'foreign-files-'))));
afterEach(() => removeFolder(run));

const write = (name: string, content: string | Buffer) => {
  mkdirSync(dirname(join(run, name)), { recursive: true });
  writeFileSync(join(run, name), content);
};
const open = (options = {}) => openMetrics(run, { places, ...options });
const points = (metrics: RunMetrics, key: string, xKey?: string) => {
  const { x, y } = metrics.series(key, xKey);
  return Array.from(x, (at, index) => [at, y[index]]);
};

describe('a table whose writer begins it again for a new column', () => {
  /** As stable-baselines3 does: in place, from the start, without cutting the file first. */
  const rewrite = (name: string, text: string) => {
    const descriptor = openSync(join(run, name), 'r+');
    writeSync(descriptor, text, 0);
    closeSync(descriptor);
  };

  it('goes on where it was: no row comes twice, and nothing starts again', () => {
    const told: unknown[] = [];
    const listener = { row: (row: unknown) => void told.push(row), restart: () => void told.push('restart') };
    write('progress.csv', 'step,loss\n0,2\n1,1\n');
    const metrics = open({ listener }).readNow();
    rewrite('progress.csv', 'step,loss,acc\n0,2,\n1,1,\n2,0.5,0.9\n');
    metrics.readNow();
    appendFileSync(join(run, 'progress.csv'), '3,0.25,0.95\n');
    metrics.readNow();
    expect(told).toEqual([
      { step: 0, loss: 2 },
      { step: 1, loss: 1 },
      { step: 2, loss: 0.5, acc: 0.9 },
      { step: 3, loss: 0.25, acc: 0.95 },
    ]);
  });

  it('is told anew when another run writes there', () => {
    write('progress.csv', 'step,loss\n0,2\n1,1\n2,3\n');
    const metrics = open().readNow();
    write('progress.csv', 'step,loss\n0,20\n1,10\n');
    metrics.readNow();
    expect(points(metrics, 'loss')).toEqual([[0, 20], [1, 10]]); // prettier-ignore
  });

  property('ends as if it were read at once, whatever was seen in between', 60, (examples) => {
    const row = fc.record({ a: fc.nat(99), b: fc.option(fc.nat(99), { nil: null }) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 12 }), fc.nat(), (rows, seed) => {
        write('x/metrics.csv', '');
        const metrics = open();
        const plain = rows.map(({ a }, step) => `${step},${a}\n`).join('');
        const wide = rows.map(({ a, b }, step) => `${step},${a},${b ?? ''}\n`).join('');
        const [before, after] = [`step,a\n${plain}`, `step,a,b\n${wide}`];
        write('x/metrics.csv', before.slice(0, seed % (before.length + 1)));
        metrics.refresh();
        rewrite('x/metrics.csv', after.slice(0, seed % (after.length + 1)));
        metrics.refresh();
        write('x/metrics.csv', after);
        metrics.readNow();
        expect(points(metrics, 'a')).toEqual(points(open().readNow(), 'a'));
        expect(points(metrics, 'b')).toEqual(points(open().readNow(), 'b'));
      }),
      examples,
    );
  });
});

describe('the history of a Trainer', () => {
  const state = (steps: number) =>
    JSON.stringify({ best: null, global_step: steps, log_history: Array.from({ length: steps }, (_, at) => ({ step: at, loss: 10 - at })), trial: {} }, null, 2); // prettier-ignore

  it('is told once, each time it is saved, in whichever folder', () => {
    const told: unknown[] = [];
    const listener = {
      row: (row: { step?: number }) => void told.push(row.step),
      restart: () => void told.push('restart'),
    };
    const metrics = open({ listener });
    write('out/checkpoint-2/trainer_state.json', state(2));
    metrics.readNow();
    write('out/checkpoint-10/trainer_state.json', state(4));
    metrics.readNow();
    write('out/trainer_state.json', state(5));
    metrics.readNow();
    expect(told).toEqual([0, 1, 2, 3, 4]);
  });

  it('gives way to what is printed while that has more', () => {
    write('out/checkpoint-2/trainer_state.json', state(2));
    write('output.log', [0, 1, 2].map((step) => `{'step': ${step}, 'loss': ${10.5 - step}}\n`).join(''));
    const metrics = open().readNow();
    expect(points(metrics, 'loss').map(([, y]) => y)).toEqual([10.5, 9.5, 8.5]);
    write('out/checkpoint-3/trainer_state.json', state(3));
    metrics.readNow();
    expect(points(metrics, 'loss').map(([, y]) => y)).toEqual([10, 9, 8]);
  });
});

describe('several sources', () => {
  it('count a metric once: the first in order has it, also for who listens', () => {
    const told: unknown[] = [];
    write('logs/history.jsonl', '{"step":0,"loss":1}\n{"step":1,"loss":2}\n');
    write('progress.csv', 'step,loss,acc\n0,100,0.5\n1,200,0.6\n');
    const metrics = open({
      listener: { row: (row: unknown) => void told.push(row), restart: () => undefined },
    }).readNow();
    expect(points(metrics, 'loss')).toEqual([[0, 1], [1, 2]]); // prettier-ignore
    expect(metrics.last()).toEqual({ step: 1, loss: 2, acc: 0.6 });
    expect(told.slice(2)).toEqual([{ step: 0, acc: 0.5 }, { step: 1, acc: 0.6 }]); // prettier-ignore
  });

  it('leave out what is printed once a file has metrics, unless there are patterns for it', () => {
    write('output.log', 'noise=1\nit has 5 points\n');
    const metrics = open().readNow();
    expect(metrics.keys()).toEqual(['noise']);
    write('metrics.jsonl', '{"step":0,"loss":1}\n');
    expect(metrics.readNow().keys()).toEqual(['step', 'loss']);
    const patterns = { reward: 'has (\\d+) points' };
    expect(
      openMetrics(run, { places: { folders: [], patterns } })
        .readNow()
        .keys(),
    ).toEqual(['step', 'loss', 'reward']);
  });

  it('are found where the sweep says, and as run.json says for who reads later', () => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'));
    writeFileSync(join(outside, 'metrics.csv'), 'step,loss\n0,1\n1,2\n');
    const record = { version: 1, sweep: 's', group: 'g', subgroup: null, name: 'r', identity: 'i', parameters: {}, argv: ['a'], cwd: '/', host: 'h', git: null, attempts: [] }; // prettier-ignore
    write('run.json', JSON.stringify({ ...record, metrics: { folders: [outside] } }));
    expect(openMetrics(run).readNow().keys()).toEqual(['step', 'loss']);
    expect(open().readNow().keys()).toEqual([]);
    rmSync(outside, { recursive: true });
  });

  it('have dotted keys for what is nested', () => {
    write('metrics.jsonl', '{"step":0,"eval":{"loss":1,"by":{"x":true}},"list":[1,2]}\n');
    expect(open().readNow().last()).toEqual({ step: 0, 'eval.loss': 1, 'eval.by.x': 1 });
  });
});

describe('the x axis', () => {
  it('is that of the steps, also where the number of an epoch came before the first of them', () => {
    write('output.log', 'epoch 0: val_loss 3\nstep 10: loss 2\nstep 20: loss 1\nepoch 1: val_loss 2\n');
    const metrics = open().readNow();
    expect(points(metrics, 'loss')).toEqual([[10, 2], [20, 1]]); // prettier-ignore
    expect(points(metrics, 'val_loss')).toEqual([[10, 3], [20, 2]]); // prettier-ignore
  });

  it('is not how long something took', () => {
    write('output.log', 'loss: 3, time: 25ms\nloss: 2, time: 24ms\n');
    expect(points(open().readNow(), 'loss')).toEqual([[0, 3], [1, 2]]); // prettier-ignore
  });
});

describe('the time of a row', () => {
  it('is what the row says', () => {
    write(
      'metrics.jsonl',
      '{"step":0,"loss":1,"_timestamp":1700000000}\n{"step":1,"loss":2,"_timestamp":1700000060}\n',
    );
    const metrics = open().readNow();
    expect(points(metrics, 'loss', wallTime)).toEqual([[1700000000, 1], [1700000060, 2]]); // prettier-ignore
    expect(points(metrics, 'loss', relativeTime)).toEqual([[0, 1], [60, 2]]); // prettier-ignore
    expect(metrics.series('loss', relativeTime)).toBe(metrics.series('loss', relativeTime));
  });

  it('or else lies between the birth of the file and its last change', () => {
    const begun = Date.now() / 1000 - 1;
    write('progress.csv', 'step,loss\n0,1\n1,2\n2,3\n');
    const x = points(open().readNow(), 'loss', wallTime).map(([at]) => at!);
    expect(x).toHaveLength(3);
    expect(Math.min(...x)).toBeGreaterThan(begun);
    expect(Math.max(...x)).toBeLessThan(Date.now() / 1000 + 1);
  });

  it.each<{ what: string; file: string; content: string; age?: number; clock: string | null }>([
    { what: 'its values say it', file: 'a.jsonl', content: '{"step":0,"loss":1,"ts":1700000000}\n', clock: 'values' },
    { what: 'it was written for a while', file: 'a.csv', content: 'step,loss\n0,1\n1,2\n', age: -60, clock: 'files' },
    { what: 'it was written at one moment', file: 'a.csv', content: 'step,loss\n0,1\n1,2\n', clock: null },
    { what: 'it is a copy', file: 'a.csv', content: 'step,loss\n0,1\n1,2\n', age: 3600, clock: null },
  ])('is known from $clock where $what', ({ file, content, age, clock }) => {
    write(file, content);
    const changed = Date.now() / 1000 - (age ?? 0);
    if (age !== undefined) utimesSync(join(run, file), changed, changed);
    expect(open().readNow().clock).toBe(clock);
  });

  it.each(['torch', 'wandb', 'trackio'])('is told by the values of %s', (format) => {
    expect(openMetrics(join(fixtures, format), { places }).readNow().clock).toBe('values');
  });
});

describe('a damaged file', () => {
  const spoil = (name: string, at: number, age: number) => {
    const bytes = readFileSync(join(run, name));
    bytes[at]! ^= 255;
    writeFileSync(join(run, name), bytes);
    const time = Date.now() / 1000 - age;
    utimesSync(join(run, name), time, time);
  };
  const event = () => readdirSync(join(fixtures, 'torch'))[0]!;
  /** In the data of the third point of `train/loss`. */
  const inData = () => {
    const text = readFileSync(join(run, event())).toString('latin1');
    return text.split('train/loss').slice(0, 3).join('train/loss').length;
  };

  it('of events is read but for the record that is wrong, once nobody writes it any more', () => {
    cpSync(join(fixtures, 'torch'), run, { recursive: true });
    spoil(event(), inData(), 60);
    const metrics = open().readNow();
    expect(metrics.series('train/loss').x.length).toBe(11);
    expect(metrics.obstacle).toMatch(/is damaged at byte \d+: a record is left out/);
  });

  it('of events is waited for while it may still be written', () => {
    cpSync(join(fixtures, 'torch'), run, { recursive: true });
    const whole = readFileSync(join(run, event()));
    spoil(event(), inData(), 0);
    const metrics = open().readNow();
    expect([metrics.series('train/loss').x.length < 5, metrics.obstacle]).toEqual([true, null]);
    writeFileSync(join(run, event()), whole);
    expect(metrics.readNow().series('train/loss').x.length).toBe(12);
  });

  it('of W&B loses the rest of a block', () => {
    cpSync(join(fixtures, 'wandb'), run, { recursive: true });
    const [path] = readdirSync(run, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.wandb'));
    spoil(path!, 2500, 60);
    const metrics = open().readNow();
    expect(metrics.series('loss').x.length).toBeLessThan(10);
    expect(metrics.obstacle).toMatch(/is damaged at byte \d+/);
  });
});

describe('what is no file of metrics', () => {
  const names = ['metrics.jsonl', 'a.jsonl', 'progress.csv', 'events.out.tfevents.1', 'run-x.wandb', 'trainer_state.json', 'output.log', '0.monitor.csv', 'project.db']; // prettier-ignore

  it('never stops a reading: pipes, folders, links that lead nowhere or round', () => {
    for (const [index, name] of names.entries()) {
      if (index % 3 === 0) execFileSync('mkfifo', [join(run, name)]);
      else if (index % 3 === 1) mkdirSync(join(run, name));
      else symlinkSync(name, join(run, name));
    }
    symlinkSync('.', join(run, 'round'));
    const metrics = open().readNow();
    expect(metrics.keys()).toEqual([]);
    expect(metrics.obstacle).toMatch(/cannot be read/);
  });

  property('is read without fail, whatever is in it', 300, (examples) => {
    const junk = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(Buffer.alloc(70_000, 120), Buffer.alloc(5000), Buffer.from('step,loss\n'.repeat(50)), Buffer.from('{"log_history": [{"step": 1, "a": [{"b": ')), // prettier-ignore
    );
    fc.assert(
      fc.property(fc.constantFrom(...names), fc.array(junk, { maxLength: 4 }), (name, parts) => {
        rmSync(join(run, name), { force: true });
        const metrics = open();
        for (const part of parts) {
          appendFileSync(join(run, name), part);
          metrics.refresh();
        }
        for (let turns = 0; metrics.more; turns++) {
          expect(turns).toBeLessThan(100);
          metrics.refresh();
        }
      }),
      examples,
    );
  });

  it('is passed over: data, checkpoints, and tables without steps; and that is said', () => {
    write('checkpoints.jsonl', '{"step":1,"batch":2}\n{"step":2,"batch":3}\n');
    write('data.csv', 'name,age\na,1\nb,2\n');
    write('train.jsonl', '{"prompt":"a","label":1}\n'.repeat(30));
    write('other.db', 'LevelDB');
    const report = describeSources(open().readNow());
    expect(hasMetrics(report)).toBe(false);
    expect(report.passedOver.map(({ file }) => file)).toEqual(['data.csv', 'other.db', 'train.jsonl']);
    expect(report.lookedFor).toContain('*tfevents*');
  });

  it('can become one later', () => {
    write('results.csv', 'step,loss\n');
    const metrics = open().readNow();
    expect(metrics.keys()).toEqual([]);
    appendFileSync(join(run, 'results.csv'), '0,1\n1,2\n');
    expect(metrics.readNow().keys()).toEqual(['step', 'loss']);
    expect(describeSources(metrics).sources.filter(({ state }) => state === 'told')).toMatchObject([
      {
        format: 'CSV',
        files: ['results.csv'],
        rows: 2,
        keys: ['step', 'loss'],
        why: 'it has columns of numbers and `step`',
      },
    ]);
  });

  it.skipIf(!hasProgram('python3', 'the line of Python'))('is made one by the line of Python that is shown', () => {
    const text = `step, loss = 3, 0.5\n${pythonLine}\n`;
    execFileSync('python3', ['-c', text], { env: { ...process.env, MEMRL_RUN_DIR: run } });
    expect(open().readNow().last()).toEqual({ step: 3, loss: 0.5 });
  });
});

it('is read on when a file is replaced by rename', () => {
  write('progress.csv', 'step,loss\n0,1\n1,2\n');
  const metrics = open().readNow();
  write('new', 'step,loss\n0,1\n1,2\n2,3\n');
  renameSync(join(run, 'new'), join(run, 'progress.csv'));
  expect(points(metrics.readNow(), 'loss')).toEqual([[0, 1], [1, 2], [2, 3]]); // prettier-ignore
});
