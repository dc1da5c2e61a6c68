import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runFiles } from '../../src/contract/files.js';
import { describeSources, hasMetrics } from '../../src/metrics/describe-sources.js';
import { openMetrics, relativeTime } from '../../src/metrics/run-metrics.js';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'system-usage-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const began = 1_790_000_000;
const write = (name: string, rows: readonly object[]) =>
  writeFileSync(join(directory, name), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
/** A sample of the machine every 10 s from 5 s before the first step on: 0 %, 10 %, 20 % … */
const samples = (count: number) =>
  write(
    runFiles.usage,
    Array.from({ length: count }, (_, index) => ({
      time: new Date(1000 * (began - 5 + 10 * index)).toISOString(),
      'system/cpu_percent': 10 * index,
    })),
  );
const read = () => openMetrics(directory).readNow();

it('places what a run used of the machine at the steps that it had reached, and on any other axis of its own', () => {
  // A step lasts 5 s, and each has 100 tokens.
  const rows = Array.from({ length: 9 }, (_, step) => ({
    step,
    loss: 1,
    tokens: 100 * step,
    _timestamp: began + 5 * step,
  }));
  write(runFiles.metrics, rows);
  samples(5);
  const metrics = read();
  expect([...metrics.series('system/cpu_percent').x]).toEqual([0, 1, 3, 5, 7]);
  expect([...metrics.series('system/cpu_percent').y]).toEqual([0, 10, 20, 30, 40]);
  expect([...metrics.series('system/cpu_percent', 'tokens').x]).toEqual([0, 100, 300, 500, 700]);
  expect([...metrics.series('system/cpu_percent', relativeTime).x]).toEqual([0, 10, 20, 30, 40]);
  // A chart is drawn anew for another object only.
  expect(metrics.series('system/cpu_percent')).toBe(metrics.series('system/cpu_percent'));
});

it('shows it over seconds for a run without metrics, which still counts as one', () => {
  samples(3);
  const metrics = read();
  expect([...metrics.series('system/cpu_percent').x]).toEqual([0, 10, 20]);
  expect(hasMetrics(describeSources(metrics))).toBe(false);
});

it('still reads the log of a run that has no file of metrics but that of the machine', () => {
  samples(30);
  writeFileSync(
    join(directory, runFiles.log),
    Array.from({ length: 5 }, (_, step) => `step ${step} loss ${step}\n`).join(''),
  );
  expect([...read().series('loss').y]).toEqual([0, 1, 2, 3, 4]);
});

it('is not read by who judges the run', () => {
  samples(3);
  expect(openMetrics(directory, { hasUsage: false }).readNow().keys()).toEqual([]);
});
