import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeSources, reportLines } from '../../src/metrics/describe-sources.js';
import { openMetrics, type RunMetrics } from '../../src/metrics/run-metrics.js';
import { FolderFleet } from '../../src/view/folder-fleet.js';
import { removeFolder } from '../remove-folder.js';

let run: string;
beforeEach(() => {
  run = join(mkdtempSync(join(tmpdir(), 'left-out-')), 'run');
  mkdirSync(run);
});
afterEach(() => removeFolder(join(run, '..')));

const write = (file: string, text: string) => writeFileSync(join(run, file), text);
const read = (): RunMetrics => openMetrics(run, { places: { folders: [], patterns: {} } }).readNow();
const said = (metrics: RunMetrics): string[] => reportLines(describeSources(metrics)).map(({ text }) => text);
const lines = (count: number, lineOf: (step: number) => object) =>
  Array.from({ length: count }, (_, step) => `${JSON.stringify({ step, ...lineOf(step) })}\n`).join('');

describe('what is left out of the metrics of a run', () => {
  it('is said of the cells of a table that have no name, except the index of pandas', () => {
    write('log.csv', ',step,loss,\n0,1,0.5,9\n1,2,0.4,9\n2,3,0.3,\n');
    const metrics = read();
    expect([...metrics.series('loss').y]).toEqual([0.5, 0.4, 0.3]);
    expect(metrics.obstacle).toBe('log.csv: 2 cells have no name and are left out');
    expect(said(metrics)).toContain('log.csv: 2 cells have no name and are left out');
    expect(metrics.identity()).toEqual(openMetrics(run).identity());
  });

  it('is said of values under more names than are kept', () => {
    write('metrics.jsonl', lines(2, (step) => Object.fromEntries(Array.from({ length: 1500 }, (_, n) => [`m${step}_${n}`, n])))); // prettier-ignore
    const words = 'values under more than 2000 names are left out: 1001';
    const metrics = read();
    expect(metrics.obstacle).toBe(words);
    expect(said(metrics)).toContain(words);
  });

  it.each([
    { file: 'trainer_state.json', begins: '{"log_history": [{"step": 1, "loss": 0.5}', beside: [] },
    { file: 'metrics.json', begins: '{"loss": {"steps": [1], "values": [0.5]}', beside: ['run.json', 'cout.txt'] },
  ])('is said of $file with gigabytes, and it takes no time', async ({ file, begins, beside }) => {
    for (const name of beside) write(name, '{}');
    write(file, begins);
    truncateSync(join(run, file), 3 * 2 ** 30);
    const words = new RegExp(`${file}.* cannot be read: it has 3\\.0 GiB, and is left out above 256 MiB`);
    const metrics = read();
    expect(metrics.obstacle).toMatch(words);
    const fleet = new FolderFleet([{ path: run, label: 'run' }]);
    await fleet.find();
    await fleet.read();
    expect([...fleet.runs.values()].map(({ warning }) => warning)).toEqual([expect.stringMatching(words)]);
    fleet.close();
  });

  it('is said of points between those that are kept of a long curve', () => {
    write(
      'metrics.jsonl',
      lines(500, (step) => ({ loss: step % 7 })),
    );
    const metrics = openMetrics(run, { keep: { older: 32, exact: 16 } }).readNow();
    const kept = metrics.series('loss').y.length + metrics.series('step').y.length;
    expect(said(metrics)).toContain(`points between those that are kept of a long curve: ${1000 - kept}`);
  });

  it('is said of files that are not opened, as too many have names that tell nothing', () => {
    for (let n = 0; n < 260; n++) write(`sample${n}.txt`, 'once upon a time\n');
    expect(said(read())[0]).toBe('looked into 1 folder; of *.json, *.log and *.txt into 256, not into 4 more');
  });

  it('is said of NaN between numbers, on the row, too', async () => {
    write(
      'metrics.jsonl',
      lines(40, (step) => ({ reward: step % 20 === 5 ? null : step })),
    );
    expect(said(read())).toContain('NaN in 2 of 40 points of reward');
    const fleet = new FolderFleet([{ path: run, label: 'run' }]);
    await fleet.find();
    await fleet.read();
    expect([...fleet.runs.values()].map(({ warning }) => warning)).toEqual(['NaN in 2 of 40 points of reward']);
    fleet.close();
  });
});
