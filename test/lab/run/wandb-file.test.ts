import fc from 'fast-check';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import { openWandb } from '../../../src/lab/run/wandb-file.js';
import { everyPoint } from '../../../src/metrics/curve.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { rowsIn, testWorld, trainIn } from '../algorithms/run-in-test.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'memrl-wandb-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const time = () => 1_700_000_000_250;
const named = { project: 'memory', name: 'first', config: { N: 64, path: null, sizes: [16, 64] } };
/** Paths of the files, in order of time. */
const files = () =>
  readdirSync(join(directory, 'wandb'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.wandb'))
    .sort()
    .map((name) => join(directory, 'wandb', name));
/** Step and value of each point, as our own reader of W&B's files has them. */
const points = (key: string, run = directory) => {
  const { x, y } = openMetrics(run, { keep: everyPoint }).readNow().series(key);
  return [...x].map((step, index) => [step, y[index]]);
};

describe('a file for W&B', () => {
  it('has a folder for each attempt, and the same id in all of them', () => {
    openWandb(directory, named, time);
    openWandb(directory, named, time);
    const names = files().map((path) => path.slice(directory.length + 1).replaceAll('\\', '/'));
    const id = /run-(\w{8})\.wandb$/.exec(names[0]!)![1]!;
    expect(names).toEqual([
      `wandb/offline-run-20231114_221320-${id}/run-${id}.wandb`,
      `wandb/offline-run-20231114_221321-${id}/run-${id}.wandb`,
    ]);
  });

  it('has the records of W&B’s own client, and marks later attempts as continuations', () => {
    for (let attempt = 0; attempt < 2; attempt++) openWandb(directory, named, time).end(attempt);
    const [first, second] = files().map((path) => readFileSync(path).toString('latin1'));
    // The head of every file of wandb 0.31.0.
    expect(first!.slice(0, 7)).toBe(':W&B\xe1\xbe\x00');
    // project; config; display name: field, length, text.
    expect(first).toContain('\x1a\x06memory');
    expect(first).toContain('\x0a\x08\x0a\x01N\x82\x01\x0264');
    expect(first).toContain('path\x82\x01\x04null');
    expect(first).toContain('sizes\x82\x01\x07[16,64]');
    expect(first).toContain('\x42\x05first');
    // start_time 1700000000 s 250000000 ns.
    expect(first).toContain('\x8a\x01\x0b\x08\x80\xe2\xcf\xaa\x06\x10\x80\xe5\x9a\x77');
    const resume = '\xc0\x01\x01';
    expect([first!.includes(resume), second!.includes(resume)]).toEqual([false, true]);
    // Record.exit with its exit_code.
    expect([first!.includes('\x92\x01\x02\x08\x00'), second!.includes('\x92\x01\x02\x08\x01')]).toEqual([true, true]);
  });

  property('says again what it was given, over the borders of blocks', 40, (examples) => {
    // JSON has no −0.
    const finite = fc.double({ noNaN: true, min: -1e30, max: 1e30 }).map((value) => (value === 0 ? 0 : value));
    const number = fc.oneof(finite, fc.constant(null));
    const padding = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 30_000, max: 70_000 }));
    fc.assert(
      fc.property(fc.array(fc.tuple(number, padding), { minLength: 1, maxLength: 8 }), (rows) => {
        const own = mkdtempSync(join(directory, 'run-'));
        const file = openWandb(own, named, time);
        rows.forEach(([value, length], step) =>
          file.append({ step: step * 3, 'test/ü loss': value, ['x'.repeat(length + 1)]: 1 }),
        );
        expect(points('test/ü loss', own)).toEqual(rows.map(([value], step) => [step * 3, value ?? NaN]));
      }),
      examples,
    );
  });

  it('can start a record in the last seven bytes of a block, which then hold only its header', () => {
    const lost = [65_247, 65_248, 65_249].filter((length) => {
      const own = mkdtempSync(join(directory, 'run-'));
      const file = openWandb(own, named, time);
      [1, length, 1].forEach((size, step) => file.append({ step, a: step, ['x'.repeat(size)]: 1 }));
      return points('a', own).length < 3;
    });
    expect(lost).toEqual([]);
  });

  it('can end a block with any number of spare bytes', () => {
    for (let spare = 0; spare < 60; spare++) {
      const own = mkdtempSync(join(directory, 'run-'));
      const file = openWandb(own, { ...named, name: 'n'.repeat(spare + 1) }, time);
      const length = () => readFileSync(join(own, 'wandb', wandbIn(own))).length;
      file.append({ step: 0, loss: 0, fill: 1 });
      const before = length();
      file.append({ step: 1, loss: 1, fill: 1 });
      const each = length() - before;
      // Both records of a row have the filling.
      const rest = Math.floor((32_768 - length() - each - 250) / 2);
      file.append({ step: 2, loss: 2, ['x'.repeat(rest)]: 1 });
      for (let step = 3; step < 9; step++) file.append({ step, loss: step });
      expect(points('loss', own)).toEqual(Array.from({ length: 9 }, (_, step) => [step, step]));
    }
  });
});

const wandbIn = (run: string) =>
  readdirSync(join(run, 'wandb'), { recursive: true, encoding: 'utf8' }).find((name) => name.endsWith('.wandb'))!;

describe('wandb_project=…', () => {
  const argv = ['N=8', 'n_batches=4', 'eval_every=2', 'save_every=2', 'test_n_batches=1', 'wandb_project=memory'];

  it('writes the rows of metrics.jsonl for W&B, across an interruption, and changes nothing else', async () => {
    let now = 1_700_000_000_000;
    const world = (stop?: number) => ({ ...testWorld(stop), time: () => (now += 1000) });
    await trainIn(directory, argv, world(3));
    await trainIn(directory, argv, world());
    expect(files()).toHaveLength(2);
    const rows = rowsIn(directory);
    const plain = mkdtempSync(join(directory, 'plain-'));
    await trainIn(plain, argv.slice(0, -1));
    expect(rows).toEqual(rowsIn(plain));
    // Where both are, nothing is counted twice.
    expect(points('optim/entropy').map(([step]) => step)).toEqual([0, 1, 2, 3]);
    rmSync(join(directory, 'metrics.jsonl'));
    const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => key !== 'step');
    expect(keys.length).toBeGreaterThan(20);
    for (const key of keys) {
      const there = rows.filter((row) => Object.hasOwn(row, key));
      expect(points(key), key).toEqual(there.map((row) => [row['step'], row[key] ?? NaN]));
    }
  });

  it('is not the default', async () => {
    await trainIn(directory, argv.slice(0, -1));
    expect(readdirSync(directory)).not.toContain('wandb');
  });
});
