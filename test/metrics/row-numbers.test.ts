import { describe, expect, it } from 'vitest';
import { counterNamed, stepKeyOf } from '../../src/metrics/row-numbers.js';

describe('the table of counters', () => {
  it.each([
    ...['step', 'Step', '_step', 'iter', 'ITERATION', 'generation', 'update', 'current_steps', 'env_steps', 'EnvSteps'],
    ...['global_step', 'globalStep', 'train/global_step', 'trainer/global_step', 'total_timesteps', 'num_env_steps'],
    ...['time/total_timesteps', 'Epoch', 'EPOCH', 'train/epoch', 'Episode', 'trial', 'batch_idx', 'training_iteration'],
  ])('has %s, whatever its case and separators', (name) => expect(counterNamed(name)).not.toBeNull());

  it.each(['time/step', 'loss', 'train/n_updates', 'perf/step', 'step_time', 'val/epoch', 'EpRet'])(
    'has no %s',
    (name) => expect(counterNamed(name)).toBeNull(),
  );

  it.each<{ row: Record<string, unknown>; key: string | null }>([
    { row: { epoch: 1, Step: 20, loss: 1 }, key: 'Step' },
    { row: { epoch: 1, step: 3, global_step: 103 }, key: 'global_step' },
    { row: { episode: 3, steps: 212, reward: 1 }, key: 'episode' },
    { row: { total_steps: 100, current_steps: 10, epoch: 0.1 }, key: 'current_steps' },
    { row: { gen: 0.71, disc: 0.4 }, key: null },
    { row: { gen: 3, best: 0.4 }, key: 'gen' },
    { row: { epoch: 0.25, loss: 1 }, key: 'epoch' },
    { row: { step: null, epoch: 2 }, key: 'epoch' },
    { row: { loss: 1 }, key: null },
  ])('orders $row by $key', ({ row, key }) =>
    expect(stepKeyOf(Object.keys(row), (name) => row[name])?.key ?? null).toBe(key),
  );
});
