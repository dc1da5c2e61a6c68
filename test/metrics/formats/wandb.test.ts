import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSources, reportLines } from '../../../src/metrics/describe-sources.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { readFoundFacts } from '../../../src/metrics/tree/found-facts.js';
import { valuesOf } from '../../../src/report/run-values.js';

const fixtures = join(import.meta.dirname, '../../fixtures/metrics');
const open = (fixture: string) => openMetrics(join(fixtures, fixture), { places: { folders: [], patterns: {} } });

/** Every point of a curve. */
const points = (metrics: { series: (key: string) => { x: Float64Array; y: Float64Array } }, key: string) => {
  const { x, y } = metrics.series(key);
  return Array.from(x, (at, index) => [at, y[index]]);
};

it('shows no value of a metric of which the program wants none', () => {
  const metrics = open('wandb-summary-none').readNow();
  expect([...metrics.series('quiet').y]).toEqual([5, 4, 3, 2]);
  expect(metrics.last()).toEqual({ low: 0.4, plain: 3, _step: 3 });
});

describe.each(['wandb-defined', 'wandb-defined-0.16'])('define_metric and the summary, in %s', (fixture) => {
  const metrics = open(fixture).readNow();
  const byEpoch = (values: readonly number[]) => values.map((value, epoch) => [epoch, value]);

  it('put the metrics over their step metric, and others over their steps', () => {
    expect(points(metrics, 'val/loss')).toEqual(byEpoch([3, 0.4, 1.5, 2.9]));
    expect(points(metrics, 'acc')).toEqual(byEpoch([0.75, 0.1, 0.375, 0.725]));
    expect(points(metrics, 'm').map(([x]) => x)).toEqual([3, 6, 9, 12]);
    expect(points(metrics, 'train_loss').map(([x]) => x)).toEqual([0, 1, 2, 4, 5, 7, 8, 10, 11]);
  });

  it('give the values that stand for the run', () => {
    const wanted = {
      ...{ 'val/loss': 0.4, acc: 0.75, f1: 0.75, m: 1.95, 'both.min': 0.4, 'both.max': 3 },
      ...{ both: 2.9, secret: 2.9, epoch: 3, train_loss: 0.123, best_acc: 0.91, 'final.f1': 0.5, _step: 14 },
    };
    const last = metrics.last();
    expect(Object.keys(last).sort()).toEqual(Object.keys(wanted).sort());
    for (const [key, value] of Object.entries(wanted)) expect([key, last[key]]).toEqual([key, expect.closeTo(value)]);
    const report = valuesOf(metrics, { x: 'step', value: { kind: 'last' } });
    expect(report).toEqual(last);
    expect(valuesOf(metrics, { x: 'step', value: { kind: 'max' }, keys: ['val/loss'] })).toEqual({ 'val/loss': 3 });
  });

  it('name what is no number, once, and make no curve of it', () => {
    expect(metrics.keys().filter((key) => /^(hist|tab|text|_timestamp|_runtime)/.test(key))).toEqual([]);
    const words = reportLines(describeSources(metrics)).map(({ text }) => text);
    expect(words.join('\n')).toMatch(
      /no numbers, and without a curve: hist \(histogram, 2×, the last at step 14\), tab \(table, 1×, the last at step 13\)$/m,
    );
    expect(words.join('\n')).not.toContain('_timestamp');
  });

  it('stand beside the settings, names, tags and notes as they were at the end', () => {
    const directory = join(fixtures, fixture, 'wandb', readdirSync(join(fixtures, fixture, 'wandb'))[0]!);
    const run = { directory, kind: 'W&B', place: fixture, files: [], folders: [] };
    expect(readFoundFacts(run)).toMatchObject({
      parameters: { lr: 0.1, depth: 3, 'net.width': 8, opt: 'adam' },
      ...{ name: 'nice-name', group: 'g', state: 'done', tags: ['a', 'b', 'late'], note: 'last note' },
    });
  });

  it('hide what is drawn only where it is asked for', () => {
    expect(metrics.keys().filter((key) => metrics.sourceOf(key)?.reader.declared?.isHidden(key))).toEqual([
      'epoch',
      'secret',
    ]);
  });
});
