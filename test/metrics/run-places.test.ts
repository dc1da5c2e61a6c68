import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { nothingWritten, type WrittenFiles } from '../../src/contract/written-files.js';
import { writeWrittenFiles } from '../../src/files/run-directory/supervisor-notes.js';
import { describeSources, reportLines } from '../../src/metrics/describe-sources.js';
import { openMetrics, type RunMetrics } from '../../src/metrics/run-metrics.js';
import { hasLeftNothing } from '../../src/metrics/run-places.js';
import { removeFolder } from '../remove-folder.js';

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'run-places-'))));
afterEach(() => removeFolder(root));

const write = (name: string, text: string) => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
};
const told = (written: Partial<WrittenFiles>) =>
  writeWrittenFiles(join(root, 'runs/a'), { ...nothingWritten, ...written });
const file = (name: string) => ({ path: join(root, name), attempt: 1, by: 'open' as const, why: 'it was seen' });
const open = (folders: string[] = [], options = {}): RunMetrics =>
  openMetrics(join(root, 'runs/a'), {
    places: { folders: folders.map((each) => join(root, each)), patterns: {} },
    ...options,
  });
const losses = (metrics: RunMetrics) => [...metrics.series('loss').y];

it('reads the files elsewhere that were found to be those of the run, and such as are found later', () => {
  mkdirSync(join(root, 'runs/a'), { recursive: true });
  const metrics = open().readNow();
  expect(metrics.keys()).toEqual([]);
  write('logs/0.csv', 'step,loss\n0,2\n1,1\n');
  write('logs/1.csv', 'step,loss\n0,20\n1,10\n');
  told({ files: [file('logs/0.csv')] });
  expect(losses(metrics.readNow())).toEqual([2, 1]);
  appendFileSync(join(root, 'logs/0.csv'), '2,0.5\n');
  expect(losses(metrics.readNow())).toEqual([2, 1, 0.5]);
  expect(metrics.paths).toContain(join(root, 'logs/0.csv'));
});

it('lets go of a file that turns out to be written by another run as well, and says its rows no more', () => {
  write('runs/a/output.log', 'step=1 loss=7\n');
  write('logs/metrics.csv', 'step,loss\n0,2\n1,1\n');
  told({ files: [file('logs/metrics.csv')] });
  const rows: unknown[] = [];
  const listener = { row: (row: unknown) => void rows.push(row), restart: () => void rows.push('restart') };
  const metrics = open([], { listener }).readNow();
  expect(losses(metrics)).toEqual([2, 1]);
  told({ refused: [{ path: join(root, 'logs/metrics.csv'), why: 'b writes it, too' }] });
  expect(losses(metrics.readNow())).toEqual([7]);
  expect(rows.slice(rows.lastIndexOf('restart'))).toEqual(['restart', { step: 1, loss: 7 }]);
});

it('takes of a declared folder that other runs have, too, only what was found to be its own', () => {
  write('lightning_logs/version_0/metrics.csv', 'step,loss\n0,2\n1,1\n');
  write('lightning_logs/version_1/metrics.csv', 'step,loss\n0,20\n1,10\n');
  const folder = 'lightning_logs';
  told({ shared: [join(root, folder)], files: [file('lightning_logs/version_1/metrics.csv')] });
  expect(losses(open([folder]).readNow())).toEqual([20, 10]);
  told({ shared: [join(root, folder)] });
  expect(open([folder]).readNow().keys()).toEqual([]);
});

it('does not look into the directories of other runs below a declared folder', () => {
  write('runs/a/run.json', '{}');
  write('runs/a/metrics.jsonl', '{"step": 0, "loss": 2}\n');
  write('runs/b/run.json', '{}');
  write('runs/b/metrics.csv', 'step,acc\n0,0.1\n1,0.2\n');
  write('tables/eval.csv', 'step,acc\n0,0.5\n1,0.6\n');
  const metrics = open(['.']).readNow();
  expect(losses(metrics)).toEqual([2]);
  expect([...metrics.series('acc').y]).toEqual([0.5, 0.6]);
  expect(describeSources(metrics).sources.flatMap(({ files }) => files)).toContain(join(root, 'tables/eval.csv'));
});

it('lets what the last attempt wrote stand for the run, where each writes to a folder of its own', () => {
  write('logs/version_0/metrics.csv', 'step,loss\n0,2\n1,1\n');
  write('logs/version_1/metrics.csv', 'step,loss\n0,20\n1,10\n');
  told({ files: [file('logs/version_0/metrics.csv'), { ...file('logs/version_1/metrics.csv'), attempt: 2 }] });
  expect(losses(open().readNow())).toEqual([20, 10]);
});

it('says whose each file is, which are not taken for its own, and what settles it', () => {
  mkdirSync(join(root, 'runs/a'), { recursive: true });
  write('logs/0.csv', 'step,loss\n0,2\n1,1\n');
  const refused = [{ path: join(root, 'logs/1.csv'), why: 'b wrote to it, too' }];
  told({ files: [file('logs/0.csv')], refused, fix: "`cwd: '${run_dir}'` gives each run its own" });
  const text = reportLines(describeSources(open().readNow())).map((line) => line.text);
  expect(text).toContain('of this run because: it was seen');
  expect(text).toContain(`${join(root, 'logs/1.csv')}: b wrote to it, too`);
  expect(text).toContain("In the sweep file, `cwd: '${run_dir}'` gives each run its own.");
});

describe('what is to be read of a run', () => {
  const directory = () => join(root, 'runs/a');
  const ours = () => {
    write('runs/a/attempts/1/pid', '1');
    write('runs/a/run.json', '{}');
    write('runs/a/output.log', '');
  };

  it('is nothing where there are only our own files and nothing is printed', () => {
    ours();
    expect(hasLeftNothing(directory(), [])).toBe(true);
    expect(hasLeftNothing(directory(), [join(root, 'elsewhere')])).toBe(false);
  });

  it.each(['metrics.jsonl', 'events.out.tfevents.1', 'wandb/run/x', 'written.json', 'config.json'])(
    'may be something where there is %s',
    (name) => {
      ours();
      write(`runs/a/${name}`, '');
      expect(hasLeftNothing(directory(), [])).toBe(false);
    },
  );

  it('may be something where it prints, and where it cannot be told', () => {
    expect(hasLeftNothing(directory(), [])).toBe(false);
    ours();
    write('runs/a/output.log', 'x');
    expect(hasLeftNothing(directory(), [])).toBe(false);
  });
});
