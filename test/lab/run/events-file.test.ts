import fc from 'fast-check';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEvents } from '../../../src/lab/run/events-file.js';
import { everyPoint } from '../../../src/metrics/curve.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { rowsIn, testWorld, trainIn } from '../algorithms/run-in-test.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'memrl-events-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const time = () => 1_700_000_000_250;
const files = () => readdirSync(directory).filter((name) => name.includes('tfevents'));
const read = () => openMetrics(directory, { keep: everyPoint }).readNow();
/** Step and value of each point. */
const points = (key: string) => {
  const { x, y } = read().series(key);
  return [...x].map((step, index) => [step, y[index]]);
};

describe('a file for TensorBoard', () => {
  it('has a name like those of TensorBoard’s own writers, so that names sort by time', () => {
    openEvents(directory, { start: 0, time });
    openEvents(directory, { start: 0, time });
    expect(files()).toEqual([
      expect.stringMatching(new RegExp(`^events\\.out\\.tfevents\\.1700000000\\..+\\.${process.pid}\\.0$`)),
      expect.stringMatching(/\.1$/),
    ]);
  });

  it('encodes a value byte for byte like torch', () => {
    openEvents(directory, { start: 0, time }).append({ step: 3, loss: 0.5 });
    const written = readFileSync(join(directory, files()[0]!));
    const first = 12 + written.readUInt32LE(0) + 4;
    expect(written.subarray(0, first).toString('latin1')).toContain('\x1a\x0dbrain.Event:2');
    // SummaryWriter.add_scalar('loss', 0.5, 3, walltime=1700000000.25) of torch 2.15.0 with tensorboard 2.21.0.
    const torch = '1a00000000000000129bd82d0900001040fc54d94110032a0d0a0b0a046c6f7373150000003f017aa16c';
    expect(written.subarray(first).toString('hex')).toBe(torch);
  });

  it('reads back what was written, in single precision', () => {
    const steps = fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 40 }), { minLength: 1, maxLength: 5 });
    const number = fc.oneof(fc.double({ noNaN: true }), fc.constant(null));
    fc.assert(
      fc.property(steps, fc.array(number, { minLength: 5, maxLength: 5 }), (unsorted, values) => {
        const own = mkdtempSync(join(directory, 'run-'));
        const sorted = unsorted.sort((a, b) => a - b);
        const events = openEvents(own, { start: 0, time });
        sorted.forEach((step, index) => events.append({ step, 'test/ü loss': values[index]! }));
        const { x, y } = openMetrics(own, { keep: everyPoint }).readNow().series('test/ü loss');
        expect([...x]).toEqual(sorted);
        expect([...y]).toEqual(sorted.map((_, index) => Math.fround(values[index] ?? NaN)));
      }),
      { numRuns: 50 },
    );
  });

  it('invalidates steps of an earlier attempt from its own first step on', () => {
    const first = openEvents(directory, { start: 0, time });
    for (const step of [0, 1, 2]) first.append({ step, loss: step });
    openEvents(directory, { start: 1, time }).append({ step: 1, loss: 10 });
    expect(points('loss')).toEqual([
      [0, 0],
      [1, 10],
    ]);
  });
});

describe('tensorboard=true', () => {
  const argv = ['N=8', 'n_batches=4', 'eval_every=0', 'save_every=2', 'eval_bits=false'];

  it('writes the rows of metrics.jsonl for TensorBoard, across an interruption', async () => {
    await trainIn(directory, [...argv, 'tensorboard=true'], testWorld(3));
    await trainIn(directory, [...argv, 'tensorboard=true']);
    expect(files()).toHaveLength(2);
    const rows = rowsIn(directory);
    rmSync(join(directory, 'metrics.jsonl'));
    const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => key !== 'step');
    expect(keys.length).toBeGreaterThan(5);
    for (const key of keys) {
      const there = rows.filter((row) => Object.hasOwn(row, key));
      expect(points(key), key).toEqual(there.map((row) => [row['step'], Math.fround(row[key] ?? NaN)]));
    }
  });

  it('is not the default', async () => {
    await trainIn(directory, argv);
    expect(files()).toEqual([]);
  });
});
