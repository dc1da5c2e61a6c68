import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDirectory } from '../temp-directory.js';
import { rowsIn, testWorld, trainIn } from './run-in-test.js';

const settings = ['n_batches=5', 'test_n_batches=1', 'eval_every=3', 'learning_rate=1e-3', 'N=16', 'max_tokens=3'];
const dense = [...settings, 'env_type=multi_step', 'advantages=stepwise', 'entropy_coef=0.03'];

/** What a run says of its engine, and its rows. */
async function runWith(...argv: string[]) {
  const path = tempDirectory();
  const world = testWorld();
  await trainIn(path, [...dense, ...argv], world);
  const record = JSON.parse(readFileSync(join(path, 'engine.json'), 'utf8')) as Record<string, string>;
  return { path, rows: rowsIn(path), record, line: world.lines.find((line) => line.startsWith('engine: ')) };
}

describe('engine=…', () => {
  it('wasm is recorded in the log and in the run directory', async () => {
    const { record, line } = await runWith('engine=wasm');
    expect(record).toEqual({ engine: 'wasm', on: 'our WebAssembly kernels', why: 'engine=wasm', threads: 1 });
    expect(line).toBe('engine: our WebAssembly kernels · engine=wasm');
  });

  it('tfjs generates the same tokens as wasm, with metrics that differ by rounding', async () => {
    const ours = await runWith('engine=wasm');
    const theirs = await runWith('engine=tfjs');
    expect(theirs.record['engine']).toMatch(/^tfjs-/);
    expect(theirs.line).toContain(`${theirs.record['engine']}, `);
    expect(theirs.rows).toHaveLength(ours.rows.length);
    theirs.rows.forEach((row, index) => {
      expect(Object.keys(row)).toEqual(Object.keys(ours.rows[index]!));
      for (const [name, value] of Object.entries(row)) {
        if (value !== null) expect(Math.abs(value - ours.rows[index]![name]!), name).toBeLessThan(1e-4);
      }
    });
  });

  it('wasm gives the same rows on one thread and on two, and records the number of threads', async () => {
    // Groups so large that there is something to share.
    const [one, two] = [
      await runWith('engine=wasm', 'group_size=48'),
      await runWith('engine=wasm', 'group_size=48', 'threads=2'),
    ];
    expect(two.rows).toEqual(one.rows);
    expect(two.record).toMatchObject({ on: 'our WebAssembly kernels, 2 threads', threads: 2 });
  });

  it('may change when a run is resumed, and the change is recorded', async () => {
    const { path } = await runWith('engine=wasm');
    const world = testWorld();
    await trainIn(path, [...dense, 'engine=tfjs', 'n_batches=6'], world);
    expect(JSON.parse(readFileSync(join(path, 'engine.json'), 'utf8'))).toMatchObject({
      why: expect.stringMatching(/^engine=tfjs/) as string,
    });
    expect(rowsIn(path).at(-1)).toMatchObject({ step: 6 });
  });
});
