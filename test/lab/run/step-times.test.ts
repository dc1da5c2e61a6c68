import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { StepTimes } from '../../../src/lab/run/step-times.js';
import { resultsIn, rowsIn, testWorld, trainIn } from '../algorithms/run-in-test.js';
import { tempDirectory } from '../temp-directory.js';

describe('the times of steps', () => {
  it('are per step, with evaluations and checkpoints apart, in seconds', async () => {
    let now = 5000;
    const times = new StepTimes(() => now);
    const spend = (milliseconds: number) => async () => {
      now += milliseconds;
      return milliseconds;
    };
    expect(await times.count('run_evals', spend(700))).toBe(700);
    await times.count('train', spend(100));
    now += 50;
    await times.count('train', spend(300));
    await times.count('save_checkpoint', spend(40));
    expect(times.row()).toEqual({
      'time/total': 0.595,
      'time/train': 0.2,
      'time/run_evals': 0.7,
      'time/save_checkpoint': 0.04,
    });
    await times.count('train', spend(1000));
    expect(times.row()).toEqual({ 'time/total': 1, 'time/train': 1 });
    expect(times.row()).toEqual({ 'time/total': 0 });
  });

  it('have total, count, mean and maximum of parts that occur several times, and of concurrent ones', async () => {
    let now = 0;
    const times = new StepTimes(() => now);
    for (const milliseconds of [100, 300, 200]) {
      await times.count('train', async () => {
        for (const share of [0.25, 0.75])
          await times.count('prepare_minibatch', async () => (now += milliseconds * share));
      });
      times.spread('sampling_time', [milliseconds, 10]);
    }
    times.spread('nothing', []);
    const row = times.row();
    expect(row).toEqual({
      'time/total': 0.2,
      'time/train': 0.2,
      'time/prepare_minibatch:total': 0.2,
      'time/prepare_minibatch:count': 2,
      'time/prepare_minibatch:mean': 0.1,
      'time/prepare_minibatch:max': 0.225,
      'time/sampling_time_max': 0.3,
      'time/sampling_time_min': 0.01,
      'time/sampling_time_mean': 0.105,
    });
  });

  it('are in a file of their own, so that metrics.jsonl is reproducible', async () => {
    const argv = ['N=8', 'n_batches=7', 'eval_every=3', 'log_every=2', 'save_every=2', 'test_n_batches=1'];
    const clock = (pace: number) => {
      let now = 0;
      return () => (now += pace);
    };
    const [slow, fast] = [tempDirectory(), tempDirectory()];
    await trainIn(slow, argv, { ...testWorld(5), now: clock(50) });
    await trainIn(slow, argv, { ...testWorld(), now: clock(30) });
    await trainIn(fast, argv, { ...testWorld(), now: clock(1) });
    expect(resultsIn(slow)).toEqual(resultsIn(fast));
    const [first, other] = [slow, fast].map((path) =>
      readFileSync(join(path, 'timing.jsonl'), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, number>),
    );
    expect(first!.map(({ step }) => step)).toEqual(rowsIn(slow).map(({ step }) => step));
    expect(first!.map((row) => 'time/run_evals' in row)).toEqual(rowsIn(slow).map((row) => 'test/greedy' in row));
    for (const [at, row] of first!.entries()) expect(row['time/total']).toBeGreaterThan(other![at]!['time/total']!);
  });
});
