import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { event } from '../../bench/support/event-file.js';
import { describeSources, reportLines } from '../../src/metrics/describe-sources.js';
import { type MetricRow, openMetrics, type RunMetrics } from '../../src/metrics/run-metrics.js';
import { writtenRows } from '../../src/metrics/written-rows.js';
import { removeFolder } from '../remove-folder.js';

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'curves-of-files-'))));
afterEach(() => removeFolder(run));

const places = { folders: [], patterns: {} };
const jsonLines = (losses: readonly number[]) =>
  losses.map((loss, step) => `${JSON.stringify({ step: step + 1, loss })}\n`).join('');
const table = (losses: readonly number[]) => `step,loss\n${losses.map((loss, at) => `${at + 1},${loss}\n`).join('')}`;
const events = (losses: readonly number[]) => Buffer.concat(losses.map((loss, at) => event('loss', loss, at + 1)));

function write(file: string, text: string | Buffer): void {
  mkdirSync(dirname(join(run, file)), { recursive: true });
  writeFileSync(join(run, file), text);
}

function written(files: Readonly<Record<string, string | Buffer>>): RunMetrics {
  for (const [file, text] of Object.entries(files)) write(file, text);
  return openMetrics(run, { places }).readNow();
}

const curvesOf = (metrics: RunMetrics) =>
  Object.fromEntries(
    metrics
      .keys()
      .filter((key) => key !== 'step')
      .map((key) => [key, [...metrics.series(key).y]]),
  );

const train = [3, 2, 1];
const evaluation = [9, 8];

describe('two files of one run that have a metric of the same name', () => {
  it.each<{ files: [string, string]; text: (losses: readonly number[]) => string | Buffer; names: [string, string] }>([
    { files: ['train.jsonl', 'eval.jsonl'], text: jsonLines, names: ['train/loss', 'eval/loss'] },
    { files: ['train/metrics.jsonl', 'val/metrics.jsonl'], text: jsonLines, names: ['train/loss', 'val/loss'] },
    { files: ['train_log.csv', 'test_log.csv'], text: table, names: ['train/loss', 'test/loss'] },
    { files: ['train/log.csv', 'eval/log.csv'], text: table, names: ['train/loss', 'eval/loss'] },
    { files: ['dvclive/plots/metrics/train/loss.tsv', 'dvclive/plots/metrics/eval/loss.tsv'], text: (losses) => table(losses).replaceAll(',', '\t'), names: ['train/loss', 'eval/loss'] }, // prettier-ignore
    { files: ['metrics.jsonl', 'eval.jsonl'], text: jsonLines, names: ['loss', 'eval/loss'] },
    { files: ['metrics.csv', 'eval/metrics.csv'], text: table, names: ['loss', 'eval/loss'] },
    { files: ['train-2026-11-28.jsonl', 'eval-2026-11-28.jsonl'], text: jsonLines, names: ['train/loss', 'eval/loss'] },
    { files: ['actor/log.csv', 'critic/log.csv'], text: table, names: ['actor/loss', 'critic/loss'] },
    { files: ['seed_1/log.csv', 'seed_2/log.csv'], text: table, names: ['seed_1/loss', 'seed_2/loss'] },
    { files: ['actor/events.out.tfevents.1.h.1.0', 'critic/events.out.tfevents.2.h.1.0'], text: events, names: ['actor/loss', 'critic/loss'] }, // prettier-ignore
  ])('$files are the curves $names', ({ files, text, names }) => {
    const metrics = written({ [files[0]]: text(train), [files[1]]: text(evaluation) });
    expect(curvesOf(metrics)).toEqual({ [names[0]]: train, [names[1]]: evaluation });
    expect(metrics.last()).toMatchObject({ [names[0]]: 1, [names[1]]: 8 });
  });

  it('are named so only where they share a name, and a file that comes later takes nothing from the first', () => {
    write('train.jsonl', jsonLines(train));
    const metrics = openMetrics(run, { places }).readNow();
    expect(curvesOf(metrics)).toEqual({ loss: train });
    appendFileSync(join(run, 'eval.jsonl'), '{"step": 1, "acc": 0.5}\n');
    expect(curvesOf(metrics.readNow())).toEqual({ loss: train, acc: [0.5] });
    appendFileSync(join(run, 'eval.jsonl'), '{"step": 2, "acc": 0.6, "loss": 7}\n');
    expect(curvesOf(metrics.readNow())).toEqual({ 'train/loss': train, 'eval/loss': [7], acc: [0.5, 0.6] });
  });

  it('keep what was chosen: the bare name means the training, and the name with the file is known before there are two', () => {
    write('eval.jsonl', jsonLines(evaluation));
    const metrics = openMetrics(run, { places }).readNow();
    expect([...metrics.series('eval/loss').y]).toEqual(evaluation);
    write('train.jsonl', jsonLines(train));
    metrics.readNow();
    expect([...metrics.series('loss').y]).toEqual(train);
    expect(metrics.among('loss')).toEqual(['train/loss', 'eval/loss']);
    expect(metrics.keys(['loss', 'nobody'])).toEqual(['step', 'eval/loss', 'train/loss', 'loss']);
    expect(metrics.last(['loss'])).toMatchObject({ 'eval/loss': 8, 'train/loss': 1, loss: 1 });
    expect([...writtenRows(run, 'loss')].map(({ values }) => values['loss'])).toEqual(train);
    expect([...writtenRows(run, 'eval/loss')].map(({ values }) => values['eval/loss'])).toEqual(evaluation);
  });

  it('are told row by row under both names, once more from the first when the second file comes', () => {
    write('train.jsonl', jsonLines([3, 2]));
    const told: (MetricRow | string)[] = [];
    const row = (values: MetricRow, isPast: boolean) => void told.push({ ...values, past: Number(isPast) });
    const listener = { row, restart: () => void told.push('restart') };
    const metrics = openMetrics(run, { places, listener, hasPast: true }).readNow();
    write('eval.jsonl', jsonLines([9]));
    metrics.readNow();
    expect(told).toEqual([
      ...[{ step: 1, loss: 3, past: 1 }, { step: 2, loss: 2, past: 1 }, { step: 1, 'eval/loss': 9, past: 0 }, 'restart'], // prettier-ignore
      ...[3, 2].map((loss, at) => ({ step: at + 1, 'train/loss': loss, loss, past: 0 })),
      { step: 1, 'eval/loss': 9, past: 0 },
    ]);
    appendFileSync(join(run, 'train.jsonl'), '{"step": 3, "loss": 1}\n');
    metrics.readNow();
    expect(told.slice(-1)).toEqual([{ step: 3, 'train/loss': 1, loss: 1, past: 0 }]);
  });

  it('are both in the report of the run, each with its file', () => {
    const metrics = written({ 'train.jsonl': jsonLines(train), 'eval.jsonl': jsonLines(evaluation) });
    const lines = reportLines(describeSources(metrics)).map(({ text }) => text);
    expect(lines).toContain('metrics: step, eval/loss');
    expect(lines).toContain('metrics: train/loss');
  });
});

describe('files of one run that have the same curve', () => {
  it.each<{ files: Record<string, string | Buffer> }>([
    { files: { 'progress.csv': table(train), 'progress.json': jsonLines(train) } },
    { files: { 'train.jsonl': jsonLines(train), 'metrics.csv': table(train) } },
    { files: { 'a/scalars.json': jsonLines(train), 'a/20261128_120000.json': jsonLines(train) } },
    { files: { 'log.csv': table(train), 'events.out.tfevents.1': events(train) } },
    { files: { 'lightning_logs/version_0/metrics.csv': table([3, 2]), 'lightning_logs/version_1/metrics.csv': 'step,loss\n3,1\n' } }, // prettier-ignore
    { files: { 'eval_1.jsonl': jsonLines(train), 'eval_2.jsonl': jsonLines([4]), 'eval_10.jsonl': jsonLines([5]) } },
    { files: { 'samples/step_1.csv': table(train), 'samples/step_2.csv': table([4, 4]) } },
    { files: { '2026-11-28_12-00-00/log.csv': table(train), '2026-11-28_13-00-00/log.csv': table([4, 4]) } },
  ])('are one under the bare name: $files', ({ files }) => {
    expect(curvesOf(written(files))).toEqual({ loss: train });
  });

  it('are told apart as soon as their values differ', () => {
    const metrics = written({ 'left/log.csv': table([0]), 'right/log.csv': table([0]) });
    expect(curvesOf(metrics)).toEqual({ loss: [0] });
    for (const [side, loss] of [['left', 1], ['right', 2]]) appendFileSync(join(run, `${side}/log.csv`), `2,${loss}\n`); // prettier-ignore
    expect(curvesOf(metrics.readNow())).toEqual({ 'left/loss': [0, 1], 'right/loss': [0, 2] });
  });

  it('never hide a metric that is called like another file and its metric', () => {
    const metrics = written({
      'train.jsonl': '{"step": 1, "loss": 3, "eval/loss": 5}\n',
      'eval.jsonl': jsonLines([9]),
    });
    expect(curvesOf(metrics)).toEqual({ 'train/loss': [3], 'eval/loss': [5], 'eval.jsonl/loss': [9] });
  });
});
