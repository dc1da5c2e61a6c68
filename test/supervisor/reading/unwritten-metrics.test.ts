import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MetricsMonitor } from '../../../src/supervisor/reading/metrics-monitor.js';
import type { ReadRun } from '../../../src/supervisor/reading/reading-messages.js';
import { askedMetrics, unwrittenAmong } from '../../../src/supervisor/reading/unwritten-metrics.js';
import { removeFolder } from '../../remove-folder.js';
import { plan } from '../testbed.js';

const run = (own: Partial<ReadRun>): ReadRun => ({ ...plan('/runs', 's', [{}]).runs[0]!, ...own });
const maximize = (name: string) => ({ objective: { name, goal: 'maximize' as const } });
const metrics = (own: object) => ({ metrics: { show: [], x: 'step', progress: null, ...own } });

describe('a metric that the sweep file names and nobody writes', () => {
  it.each<{ own: Partial<ReadRun>; written: string[]; says: string }>([
    {
      own: maximize('test_acc'),
      written: ['test_acc '],
      says: '(`metric`) is not written; the nearest that is: `test_acc `',
    },
    { own: maximize('val_loss'), written: ['val/loss'], says: '`val/loss`' },
    { own: maximize('accuracy'), written: ['loss', 'eval/Accuracy'], says: '`eval/Accuracy`' },
    { own: maximize('rewrad'), written: ['reward'], says: '`reward`' },
    { own: { stopWhen: { when: 'eval_los < 0.1', for: 1 } }, written: ['eval/loss'], says: '`eval_los` (`stop_when`)' },
    { own: metrics({ show: ['bits', 'los'] }), written: ['bits', 'loss'], says: '`los` (`metrics.show`)' },
    { own: metrics({ x: 'tokenz' }), written: ['token', 'loss'], says: '`tokenz` (`metrics.x`)' },
    { own: metrics({ progress: { key: 'doen', total: 1 } }), written: ['done'], says: '`doen` (`metrics.progress`)' },
  ])('is said at the first row, with the nearest that is written: $says', ({ own, written, says }) => {
    const found = unwrittenAmong(askedMetrics(run(own)), written, 1);
    expect(found?.words).toContain(says);
    expect(found?.isCertain).toBe(true);
  });

  it.each<{ own: Partial<ReadRun>; written: string[] }>([
    { own: maximize('loss'), written: ['loss', 'acc'] },
    { own: maximize('loss'), written: [] },
    { own: maximize('loss'), written: ['system/gpu'] },
    {
      own: { stopWhen: { when: 'eval_loss < lr && step > 10', for: 1 }, parameters: { lr: 0.1 } },
      written: ['eval/loss'],
    },
    { own: metrics({ x: 'epoch', progress: { key: 'global_step', total: 9 } }), written: ['loss'] },
  ])('is not one that is written, a counter, a parameter, or unknown before the first row', ({ own, written }) => {
    expect(unwrittenAmong(askedMetrics(run(own)), written, 1)).toBeNull();
  });

  it('may still come where no name is like it, until the run has ended or is far', () => {
    const asked = askedMetrics(run(maximize('eval/bits')));
    expect(unwrittenAmong(asked, ['loss', 'lr'], 3)).toEqual({
      words: 'the metric `eval/bits` (`metric`) is not written; written: loss, lr',
      isCertain: false,
    });
    expect(unwrittenAmong(asked, ['loss', 'lr'], 500)?.isCertain).toBe(true);
  });
});

describe('a metric of which an evaluation is written first', () => {
  it('is said to be missing only when it should be there', () => {
    const asked = askedMetrics(run(maximize('env/all/reward/total')));
    const at = (rows: number) => unwrittenAmong(asked, ['test/env/all/reward/total'], rows);
    expect([at(1)?.isCertain, at(20)?.isCertain]).toEqual([false, true]);
    expect(unwrittenAmong(asked, ['test/env/all/reward/total', 'env/all/reward/total'], 20)).toBeNull();
  });
});

describe('a metric that the sweep file names and two files of a run have', () => {
  it('is said with the names of both, and counts as before from the one of the training', () => {
    const directory = mkdtempSync(join(tmpdir(), 'two-files-'));
    const rules: string[] = [];
    const own = { directory, objective: { name: 'loss', goal: 'minimize' as const } };
    const note = (row: Readonly<Record<string, number>>) => void rules.push(String(row['loss']));
    const callbacks = { restart: () => void rules.splice(0), remember: note, note, judge: () => null };
    const monitor = new MetricsMonitor(run(own), 0, callbacks);
    writeFileSync(join(directory, 'train.jsonl'), '{"step": 1, "loss": 3}\n{"step": 2, "loss": 2}\n');
    writeFileSync(join(directory, 'eval.jsonl'), '{"step": 1, "loss": 9}\n');
    monitor.look();
    while (monitor.refresh().more);
    const { metrics, unwritten } = monitor.vitals(0);
    expect(metrics).toMatchObject({ loss: 2, 'train/loss': 2, 'eval/loss': 9 });
    expect(unwritten).toEqual({
      words: 'the metric `loss` (`metric`) is in several files, as `train/loss`, `eval/loss`: `train/loss` counts',
      isCertain: true,
    });
    expect(rules.filter((loss) => loss !== 'undefined')).toEqual(['3', '2']);
    removeFolder(directory);
  });
});
