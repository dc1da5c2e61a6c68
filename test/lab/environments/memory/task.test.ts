import { describe, expect, it } from 'vitest';
import { conditionName, memoryTask } from '../../../../src/lab/environments/memory/task.js';

describe('a memory task', () => {
  const rl = { env_type: 'single_step', N: 1024, fixed_secret: 57, batch_size: 1, group_size: 4 };
  it.each<{ settings: Record<string, unknown>; task: object | null }>([
    { settings: rl, task: { condition: { kind: 'binary' }, N: 1024, secret: 57, perStep: 4 } },
    {
      settings: { ...rl, reward_type: 'binned_log_distance', reward_bins: 8 },
      task: { condition: { kind: 'binned', bins: 8 } },
    },
    {
      settings: { ...rl, reward_type: 'log_distance', reward_bins: null },
      task: { condition: { kind: 'log-distance' } },
    },
    { settings: { ...rl, env_type: 'multi_step' }, task: { condition: { kind: 'dense', credit: 'trajectory' } } },
    {
      settings: { ...rl, env_type: 'multi_step', advantages: 'stepwise' },
      task: { condition: { kind: 'dense', credit: 'stepwise' } },
    },
    {
      settings: { N: 1024, fixed_secret: 57, num_epochs: 1, batch_size: 128, reward_type: 'binary' },
      task: { condition: { kind: 'sft' }, perStep: 128 },
    },
    { settings: { ...rl, N: '64' }, task: { N: 64 } },
    { settings: { ...rl, fixed_secret: null }, task: { secret: null } },
    { settings: { ...rl, batch_size: undefined }, task: { perStep: null } },
    { settings: { env_type: 'single_step', n_values: [16, 64], N: 16 }, task: null },
    { settings: { ...rl, reward_type: 'something_new' }, task: null },
    { settings: { ...rl, reward_type: 'binned_log_distance' }, task: null },
    { settings: { ...rl, N: 'many' }, task: null },
    { settings: { ...rl, environment: 'memory' }, task: { N: 1024 } },
    { settings: { N: 16, num_epochs: 1, batch_size: 64, environment: 'word_problems' }, task: null },
    { settings: { N: 16, lr: 0.1 }, task: null },
    { settings: {}, task: null },
  ])('is read from $settings', ({ settings, task }) => {
    if (task === null) expect(memoryTask(settings)).toBeNull();
    else expect(memoryTask(settings)).toMatchObject(task);
  });

  it('has a short name', () => {
    expect(conditionName({ kind: 'dense', credit: 'to_go' })).toBe('dense, to_go');
    expect(conditionName({ kind: 'binned', bins: 4 })).toBe('binned');
  });
});
