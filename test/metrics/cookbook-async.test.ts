import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { describeSources, reportLines } from '../../src/metrics/describe-sources.js';
import { openMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

const log = join(import.meta.dirname, '../fixtures/metrics/cookbook-async/metrics.jsonl');
type Row = { readonly step: number } & Readonly<Record<string, number>>;

it("has every reward and every evaluation of the tinker-cookbook's asynchronous loop, and says what was written twice", () => {
  const directory = mkdtempSync(join(tmpdir(), 'cookbook-'));
  cpSync(log, join(directory, 'metrics.jsonl'));
  const metrics = openMetrics(directory, { places: { folders: [], patterns: {} } }).readNow();
  const rows = readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
  const names = new Set(rows.flatMap((row) => Object.keys(row)).filter((key) => key !== 'step'));
  let twice = 0;
  for (const name of names) {
    const written = rows.filter((row) => name in row);
    // Of two values at one step the later counts.
    const points = new Map(written.map((row) => [row.step, row[name]]));
    const { x, y } = metrics.series(name);
    expect([name, new Map(Array.from(x, (step, at) => [step, y[at]]))]).toEqual([name, points]);
    twice += written.length - points.size;
  }
  const stepsOf = (name: string) => [...metrics.series(name).x];
  expect(stepsOf('env/all/reward/total')).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(stepsOf('test/env/all/reward/total')).toEqual([0, 2, 4, 6, 8]);
  expect([names.size, twice]).toEqual([66, 5]);
  const words = reportLines(describeSources(metrics)).map(({ text }) => text);
  expect(words.join('\n')).toMatch(/of which the last counts: 5/);
  removeFolder(directory);
});
