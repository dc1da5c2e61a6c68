import { mkdirSync, mkdtempSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nothingWritten } from '../../../src/contract/written-files.js';
import { describeSources } from '../../../src/metrics/describe-sources.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { type FoundRun, RunSearch } from '../../../src/metrics/tree/find-runs.js';
import { readFoundFacts } from '../../../src/metrics/tree/found-facts.js';
import { removeFolder } from '../../remove-folder.js';

/** Written by MLflow 3.17.2: see its README. */
const written = gunzipSync(readFileSync(join(import.meta.dirname, '../../fixtures/mlflow-database/mlflow.db.gz')));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mlflow-'));
  writeFileSync(join(folder, 'mlflow.db'), written);
});
afterAll(() => removeFolder(folder));

function runsIn(root: string): readonly FoundRun[] {
  const steps = new RunSearch(root).search();
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value.runs;
  }
}

/** Python's exponential differs in the last digit. */
const rounded = (value: number) => Number(value.toPrecision(12));
const named = (name: string) => runsIn(folder).find((run) => readFoundFacts(run).name === name)!;
const pointsOf = (directory: string, key: string) => {
  const { x, y } = openMetrics(directory).readNow().series(key);
  return Array.from(x, (at, index) => [at, rounded(y[index]!)]);
};
const lossOf = (step: number, lr: number) => (step === 7 ? NaN : rounded(3 * Math.exp(-step / 5) + lr));

describe("MLflow's database", () => {
  it('has runs with their experiments, parameters and states', () => {
    const facts = runsIn(folder).map(readFoundFacts);
    const heads = facts.map(({ name, group, state, reason, parameters }) => [name, group, state, reason, parameters]);
    const parametersWith = (lr: number) => ({ lr, model: 'llama', 'opt/beta': '(0.9, 0.99)' });
    expect(heads).toHaveLength(7);
    expect(heads).toEqual(
      expect.arrayContaining([
        ['gsm8k-lr-0.1', 'gsm8k', 'done', null, parametersWith(0.1)],
        ['gsm8k-lr-0.01', 'gsm8k', 'done', null, parametersWith(0.01)],
        ['memory-lr-0.1', 'memory', 'done', null, parametersWith(0.1)],
        ['memory-lr-0.01', 'memory', 'failed', 'MLflow says that it failed', parametersWith(0.01)],
        ['parent', 'memory', 'done', null, { sweep: 's' }],
        ['child', 'memory', 'done', null, {}],
        ['goes on', 'memory', 'running', null, {}],
      ]),
    );
  });

  it('has every point of a run alone, each metric with steps of its own, NaN and infinity as they were logged', () => {
    const { directory } = named('memory-lr-0.01');
    expect(pointsOf(directory, 'loss')).toEqual(Array.from({ length: 20 }, (_, step) => [step, lossOf(step, 0.01)]));
    expect(pointsOf(directory, 'eval/acc')).toEqual(
      Array.from({ length: 20 }, (_, step) => [step * 10, rounded(1 - Math.exp(-step / 4))]),
    );
    expect(pointsOf(directory, 'peak')).toEqual([[3, Infinity]]);
  });

  it('gives the same points of a run where the index over runs is missing, as in older versions', () => {
    const old = mkdtempSync(join(folder, 'old-'));
    const name = Buffer.from('CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid)');
    const bytes = Buffer.from(written);
    const at = bytes.indexOf(name);
    expect(at).toBeGreaterThan(0);
    bytes.write('x', at + name.lastIndexOf('uuid'));
    writeFileSync(join(old, 'mlflow.db'), bytes);
    const [first, second] = [folder, old].map(
      (root) =>
      runsIn(root).filter(({ directory }) => directory.startsWith(join(root, 'mlflow.db'))).map(({ directory }) => pointsOf(directory, 'loss')), // prettier-ignore
    );
    expect(first!.flat().length).toBe(82);
    expect(second).toEqual(first);
  });

  it('is left as it is: nothing is created beside it', () => {
    const before = readdirSync(folder);
    for (const { directory } of runsIn(folder)) openMetrics(directory).readNow();
    expect(readdirSync(folder)).toEqual(before);
  });

  it('in the directory of a launched run gives its curves, with the names of its runs where they are several', () => {
    const metrics = openMetrics(folder, { places: { folders: [], patterns: {} } }).readNow();
    expect(metrics.keys()).toEqual(
      expect.arrayContaining(['gsm8k-lr-0.1/loss', 'memory-lr-0.01/eval/acc', 'child/loss']),
    );
    const { y } = metrics.series('gsm8k-lr-0.01/loss');
    expect(Array.from(y, rounded)).toEqual(Array.from({ length: 20 }, (_, step) => lossOf(step, 0.01)));
  });

  it('has run as long as its own points say, whoever writes to the file later', () => {
    utimesSync(join(folder, 'mlflow.db'), new Date(), new Date());
    const { directory } = named('gsm8k-lr-0.1');
    const { startedAt, endedAt } = readFoundFacts(named('gsm8k-lr-0.1'));
    const { from, to } = openMetrics(directory).readNow().written!;
    expect(from).toBeGreaterThanOrEqual(startedAt!);
    expect(to).toBeLessThanOrEqual(endedAt!);
  });
});

describe('a database that several runs share', () => {
  /** Written by MLflow 3.17.2 in two runs at once, whose directories have names of so many letters. */
  const shared = gunzipSync(readFileSync(join(import.meta.dirname, '../../fixtures/mlflow-database/shared.db.gz')));
  const LENGTH = 120;
  const places = { folders: [], patterns: {} };
  /** A run that is known to have written to the database beside others. */
  const runBeside = (database: string, letter: string) => {
    const directory = join(folder, letter.repeat(LENGTH - folder.length - 1));
    mkdirSync(directory);
    const refused = [{ path: database, why: 'another run wrote to it, too' }];
    writeFileSync(join(directory, 'written.json'), JSON.stringify({ ...nothingWritten, refused }));
    return directory;
  };

  it('gives each the runs of MLflow that it has begun, and says so where that cannot be told', () => {
    const database = join(folder, 'shared.db');
    const [a, b, other] = ['a', 'b', 'c'].map((letter) => runBeside(database, letter)) as [string, string, string];
    const text = shared.toString('latin1').replaceAll('A'.repeat(LENGTH), a).replaceAll('B'.repeat(LENGTH), b);
    writeFileSync(database, text, 'latin1');
    const read = (directory: string) => openMetrics(directory, { places }).readNow();
    expect([...read(a).series('loss').y]).toEqual([1, 0.875, 0.75, 0.625, 0.5]);
    expect([...read(b).series('loss').y]).toEqual([9, 8.875, 8.75, 8.625, 8.5]);
    expect(read(other).keys()).toEqual([]);
    expect(describeSources(read(a)).refused).toEqual([]);
    expect(describeSources(read(other)).refused).toEqual([{ file: database, why: 'another run wrote to it, too' }]);
  });
});
