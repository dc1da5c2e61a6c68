import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { defaultMetric } from '../../../../src/analysis/metric-order.js';
import { openMetrics } from '../../../../src/metrics/run-metrics.js';

const fixtures = join(import.meta.dirname, '../../../fixtures/printed');
const directory = mkdtempSync(join(tmpdir(), 'printed-'));
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const read = () => openMetrics(directory, { places: { folders: [], patterns: {} } }).readNow();
const keysThatCount = ['epoch', 'step', 'episode', 'trial'];

describe('what a public example prints', () => {
  it.each([
    { file: 'pytorch-mnist', chosen: 'test/Accuracy', keys: ['Loss', 'test/Average loss', 'test/Accuracy'], of: 'Loss', points: 20 }, // prettier-ignore
    { file: 'pytorch-word-language-model', chosen: 'valid loss', keys: ['time', 'valid loss', 'valid ppl', 'test loss', 'test ppl'], of: 'valid loss', points: 2 }, // prettier-ignore
    { file: 'pytorch-reinforce', chosen: 'Last reward', keys: ['Last reward', 'Average reward'], of: 'Average reward', points: 20 }, // prettier-ignore
    { file: 'nanogpt', chosen: 'val loss', keys: ['train loss', 'val loss', 'loss', 'time', 'mfu'], of: 'loss', points: 21 }, // prettier-ignore
    { file: 'ignite', chosen: 'validation/Avg accuracy', keys: ['loss', 'training/Avg accuracy', 'training/Avg loss', 'validation/Avg accuracy', 'validation/Avg loss'], of: 'validation/Avg accuracy', points: 2 }, // prettier-ignore
    { file: 'keras', chosen: 'val_acc', keys: ['acc', 'loss', 'mse', 'val_acc', 'val_loss', 'val_mse'], of: 'val_loss', points: 3 }, // prettier-ignore
    { file: 'xgboost', chosen: 'eval-logloss', keys: ['eval-logloss', 'train-logloss', 'error'], of: 'eval-logloss', points: 2 }, // prettier-ignore
    {
      file: 'lightgbm',
      chosen: "valid_0's l1",
      keys: ["valid_0's l1", "valid_0's l2", 'The RMSE of prediction'],
      of: "valid_0's l2",
      points: 1,
    },
    { file: 'optuna', chosen: 'value', keys: ['value', 'best value'], of: 'value', points: 11 },
  ])('has curves: $file', ({ file, chosen, keys, of, points }) => {
    copyFileSync(join(fixtures, `${file}.log`), join(directory, 'output.log'));
    const metrics = read();
    expect(metrics.keys().filter((key) => !keysThatCount.includes(key))).toEqual(keys);
    expect(defaultMetric(metrics.keys(), { show: [], x: 'step' })).toBe(chosen);
    const { x, y } = metrics.series(of);
    expect(y).toHaveLength(points);
    expect([...x].every((at, index) => index === 0 || at > x[index - 1]!)).toBe(true);
  });

  it('has the steps of the trainer itself: transformers', () => {
    copyFileSync(join(fixtures, 'transformers.log'), join(directory, 'output.log'));
    const metrics = read();
    expect([...metrics.series('loss').x]).toEqual([4, 8, 12, 16]);
    expect([...metrics.series('loss').y]).toEqual([5.23, 3.875, 3.196, 2.848]);
    expect([...metrics.series('eval_loss').x]).toEqual([8, 16]);
    expect([...metrics.series('train_loss').x]).toEqual([16]);
  });

  it('has as many points when it is cut off anywhere as were printed by then', () => {
    for (const file of readdirSync(fixtures).filter((name) => name.endsWith('.log'))) {
      const whole = readFileSync(join(fixtures, file));
      let before = 0;
      for (let end = 0; end < whole.length; end += 97) {
        writeFileSync(join(directory, 'output.log'), whole.subarray(0, end));
        const metrics = read();
        const count = metrics.keys().reduce((sum, key) => sum + metrics.series(key).y.length, 0);
        expect(count).toBeGreaterThanOrEqual(before);
        before = count;
      }
    }
  });
});
