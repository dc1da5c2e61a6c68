import { describe, expect, it } from 'vitest';
import {
  countingAmong,
  defaultMetric,
  inMetricOrder,
  goalByName,
  isCounter,
  isCounting,
  metricHeading,
  namesIn,
  shownMetrics,
  standingAmong,
} from '../../src/analysis/metric-order.js';

const training = ['step', 'lr', 'progress/batch', 'loss', 'time/total', 'eval/accuracy'];

describe('metrics of the machine', () => {
  const written = ['system/gpu_percent', 'system/loss', 'step', 'custom', 'loss'];

  it('come last, and stand for a run in no case', () => {
    const choice = { show: [], x: 'step' };
    expect(inMetricOrder(written, choice)).toEqual(['loss', 'custom', 'step', 'system/gpu_percent', 'system/loss']);
    expect(shownMetrics(['system/loss'], choice)).toEqual([]);
    expect(shownMetrics(['step', 'system/loss'], choice)).toEqual(['step']);
    expect(defaultMetric(['system/loss'], choice)).toBeNull();
    expect(standingAmong(['system/loss'], choice, new Set())).toBeNull();
    expect(goalByName('system/loss')).toBeNull();
    expect(isCounter('system/gpu_percent', choice)).toBe(true);
  });

  it('are shown where the sweep file asks for them', () => {
    const choice = { show: ['system/gpu_percent'], x: 'step' };
    expect(shownMetrics(written, choice)).toEqual(['system/gpu_percent']);
  });
});

describe('the metrics of a run', () => {
  it.each([
    { what: 'what the sweep shows in its order, then the rest', show: ['b', 'gone', 'a'], x: 'step', written: ['a', 'b', 'c'], order: ['b', 'a', 'c'] },
    { what: 'results, settings, counters', show: [], x: 'step', written: training, order: ['eval/accuracy', 'loss', 'lr', 'step', 'progress/batch', 'time/total'] },
    { what: 'the x axis among the counters', show: [], x: 'tokens', written: ['tokens', 'a'], order: ['a', 'tokens'] },
    { what: 'a counter that is asked for first', show: ['epoch'], x: 'epoch', written: ['loss', 'epoch'], order: ['epoch', 'loss'] },
  ])('are in one order: $what', ({ show, x, written, order }) => {
    expect(inMetricOrder(written, { show, x })).toEqual(order);
  }); // prettier-ignore

  it.each([
    { what: 'those asked for that exist', show: ['b', 'absent', 'a'], written: ['a', 'b', 'c'], keys: ['b', 'a'] },
    {
      what: 'results before others, never counters',
      show: [],
      written: training,
      keys: ['eval/accuracy', 'loss'],
    },
    { what: 'at most four', show: [], written: ['a', 'b', 'c', 'd', 'e'], keys: ['a', 'b', 'c', 'd'] },
    { what: 'what there is, when nothing asked for exists', show: ['gone'], written: ['loss'], keys: ['loss'] },
    { what: 'all that are asked for', show: [...'abcdef'], written: [...'abcdef'], keys: [...'abcdef'] },
  ])('that are worth a column are $what', ({ show, written, keys }) => {
    expect(shownMetrics(written, { show, x: 'step' })).toEqual(keys);
  });

  it.each([
    { what: 'what the sweep shows first, written or not', show: ['b', 'a'], written: ['a'], key: 'b' },
    { what: 'a result', show: [], written: training, key: 'eval/accuracy' },
    { what: 'any number where none looks like a result', show: [], written: ['step', 'lr', 'kl'], key: 'kl' },
    { what: 'a setting before a counter', show: [], written: ['step', 'lr'], key: 'lr' },
    { what: 'a counter where there is nothing else', show: [], written: ['step', 'epoch'], key: 'step' },
    { what: 'none where nothing was written', show: [], written: [], key: null },
  ])('have one that stands for the run: $what', ({ show, written, key }) => {
    expect(defaultMetric(written, { show, x: 'step' })).toBe(key);
  });

  it.each([
    { of: 'a step and a loss', written: ['step', 'train/loss'], key: 'train/loss' },
    {
      of: 'steps of many names',
      written: ['global_step', 'trainer/global_step', 'env_steps', 'total_timesteps', 'x'],
      key: 'x',
    },
    { of: 'sums of what was seen', written: ['tokens_seen', 'train/num_tokens', 'n_samples', 'x'], key: 'x' },
    {
      of: 'clocks and speeds',
      written: ['_runtime', 'time/step_ms', 'tokens_per_sec', 'train/samples_per_second', 'fps', 'x'],
      key: 'x',
    },
    { of: 'settings', written: ['lr', 'train/learning_rate', 'optim/lr', 'x'], key: 'x' },
    { of: 'a reward before a loss', written: ['train/loss', 'env/reward'], key: 'env/reward' },
    { of: 'a return before an accuracy', written: ['accuracy', 'eval/episode_return'], key: 'eval/episode_return' },
    { of: 'an accuracy before bits', written: ['test/bits', 'valAcc'], key: 'valAcc' },
    { of: 'an evaluation before training', written: ['train/loss', 'loss', 'eval/loss'], key: 'eval/loss' },
    {
      of: 'a loss of an evaluation before an accuracy of training',
      written: ['train.acc', 'val_loss'],
      key: 'val_loss',
    },
    { of: 'an accuracy of training before its loss', written: ['train_loss', 'train_acc'], key: 'train_acc' },
    { of: 'a reward of training before any loss', written: ['eval/loss', 'train/reward'], key: 'train/reward' },
    { of: 'what does not say before training', written: ['train_loss', 'loss'], key: 'loss' },
    { of: 'a result before what describes it', written: ['reward_std', 'loss_scale', 'train/loss'], key: 'train/loss' },
    { of: 'what stable-baselines3 has', written: ['rollout/ep_len_mean', 'train/entropy_loss', 'train/loss', 'time/fps', 'rollout/ep_rew_mean'], key: 'rollout/ep_rew_mean' }, // prettier-ignore
    { of: 'what Baselines has', written: ['eplenmean', 'fps', 'eprewmean', 'loss/policy_entropy'], key: 'eprewmean' },
    { of: 'what Spinning Up has', written: ['Entropy', 'EpLen', 'AverageEpRet', 'LossPi'], key: 'AverageEpRet' },
    { of: 'a return before a loss and an entropy', written: ['SPS', 'entropy', 'v_loss', 'return'], key: 'return' },
    { of: 'a score before frames', written: ['frames seen', 'score', 'loss'], key: 'score' },
    {
      of: 'a loss before sizes',
      written: ['n_params', 'hidden_size', 'vocab_size', 'batch size', 'loss'],
      key: 'loss',
    },
    { of: 'a number before a size', written: ['num_parameters', 'hidden_size', 'total params', 'tau'], key: 'tau' },
    {
      of: 'a number before a norm',
      written: ['grad_norm', 'entropy', 'memory', 'mfu', 'dt', 'tok/sec', 'q'],
      key: 'q',
    },
    { of: 'bits per byte', written: ['lrm', 'tok/sec', 'dt', 'Validation bpb'], key: 'Validation bpb' },
    { of: 'a perplexity', written: ['lr', 'ms/batch', 'tok/s', 'ppl'], key: 'ppl' },
    { of: 'an accuracy before a loss', written: ['loss', 'acc', 'lr'], key: 'acc' },
    {
      of: 'a cross-entropy, which is a loss',
      written: ['gNorm', 'Time', 'valid/cross-entropy'],
      key: 'valid/cross-entropy',
    },
    { of: 'words of one piece', written: ['step', 'valloss'], key: 'valloss' },
  ])('are chosen by their names: $of', ({ written, key }) => {
    expect(defaultMetric(written, { show: [], x: 'step' })).toBe(key);
    expect(defaultMetric(written.toReversed(), { show: [], x: 'step' })).toBe(key);
  });

  it.each([
    { by: 'the objective', judgedBy: ['kl'], key: 'kl' },
    { by: 'a stop rule, which writes underscores', judgedBy: ['N', 'eval_accuracy'], key: 'eval/accuracy' },
    { by: 'the objective before the stop rule', judgedBy: ['loss', 'kl'], key: 'loss' },
    { by: 'no counter', judgedBy: ['step', 'kl'], key: 'kl' },
  ])('are led by what the sweep judges its runs by: $by', ({ judgedBy, key }) => {
    const written = ['step', 'reward', 'loss', 'kl', 'eval/accuracy'];
    expect(defaultMetric(written, { show: [], x: 'step', judgedBy })).toBe(key);
    expect(defaultMetric(written, { show: ['reward'], x: 'step', judgedBy })).toBe('reward');
  });

  it('are counters where their values only count, whatever their names', () => {
    const choice = { show: [], x: 'step' };
    expect(defaultMetric(['seen', 'kl'], choice, new Set(['seen']))).toBe('kl');
    expect(metricHeading('seen', choice, new Set(['seen']))).toBe('seen (counter)');
    expect(metricHeading('seen', choice)).toBe('seen');
    expect(metricHeading('step', { show: ['step'], x: 'epoch' })).toBe('step');
  });

  it.each([
    { values: [1, 2, 3, 4], counts: true },
    { values: [0, 64, 128, 192, 256], counts: true },
    { values: [0.1, 0.2, 0.30000000000000004, 0.4], counts: true },
    { values: [1, 2, 3], counts: false },
    { values: [4, 3, 2, 1], counts: false },
    { values: [1, 1, 1, 1], counts: false },
    { values: [1, 2, 3, 5], counts: false },
    { values: [1, 2, NaN, 4, 5], counts: false },
  ])('only count where they rise by the same each time: $values $counts', ({ values, counts }) => {
    expect(isCounting(values)).toBe(counts);
  });

  it.each([
    {
      of: 'what the program hides, and other numbers until one does more',
      order: ['a', 'b', 'c', 'd'],
      choice: {},
      counting: ['d', 'a', 'b'],
    },
    {
      of: 'one that the program hides, unless it is asked for',
      order: ['c', 'd'],
      choice: { show: ['d'] },
      counting: [],
    },
    { of: 'none with the name of a result', order: ['score', 'a'], choice: {}, counting: [] },
    { of: 'none that runs are judged by', order: ['a', 'b'], choice: { judgedBy: ['a'] }, counting: [] },
    { of: 'none that the sweep shows', order: ['a', 'b'], choice: { show: ['a'] }, counting: [] },
  ])('are taken for counters by their values: $of', ({ order, choice, counting }) => {
    const series = (key: string) => ({ y: key === 'c' ? [1, 3, 2, 5] : [1, 2, 3, 4] });
    const metrics = { series, sourceOf: () => ({ reader: { declared: { isHidden: (key: string) => key === 'd' } } }) };
    expect(countingAmong(order, { show: [], x: 'step', ...choice }, metrics)).toEqual(counting);
  });

  it('are found in the expression of a stop rule', () => {
    const rule = 'test_bits_answer >= 0.95 * log2(N) && mode == "loss"';
    expect(namesIn(rule)).toEqual(['test_bits_answer', 'N', 'mode']);
  });
});
