import { appendFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { relativeTime } from '../../src/metrics/line.js';
import { openOutlinedMetrics } from '../../src/metrics/outlined-metrics.js';
import { openMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

const directory = mkdtempSync(join(tmpdir(), 'outlined-metrics-'));
afterAll(() => removeFolder(directory));
let files = 0;

/** The directory of a run of so many rows. */
function runOf(rows: number, keyOfStep: string, more: (at: number) => string = () => ''): string {
  const run = join(directory, `run-${files++}`);
  mkdirSync(run);
  const note = 'x'.repeat(2000);
  const lines = Array.from(
    { length: rows },
    (_, at) => `{"${keyOfStep}":${at},${more(at)}"v":${at * 3},"note":"${note}"}\n`,
  );
  writeFileSync(join(run, 'metrics.jsonl'), lines.join(''));
  return run;
}

/** How many points were told of `v`, after each refresh that said there was something new. */
function tellings(log: ReturnType<typeof openOutlinedMetrics>): number[] {
  const told: number[] = [];
  while (log.more) if (log.refresh()) told.push(log.series('v').y.length);
  return told;
}

describe('the metrics of a long file', () => {
  it('are an outline first, and then all of the file', () => {
    const run = runOf(6000, 'step');
    const told = tellings(openOutlinedMetrics(run));
    expect(told).toHaveLength(2);
    expect(told[0]).toBeGreaterThan(200);
    expect(told[0]).toBeLessThan(260);
    expect(told[1]).toBe(6000);
  });

  it('are what a plain reading gives in the end, and keep up with what is added', () => {
    const run = runOf(6000, 'step');
    const log = openOutlinedMetrics(run);
    tellings(log);
    appendFileSync(join(run, 'metrics.jsonl'), '{"step":6000,"v":1}\n');
    expect(log.refresh()).toBe(true);
    expect(log.refresh()).toBe(false);
    const plain = openMetrics(run).readNow();
    expect(log.series('v')).toEqual(plain.series('v'));
    expect(log.keys()).toEqual(['step', 'v']);
  });

  it('are outlined over time too', () => {
    const run = runOf(6000, 'step', (at) => `"ts":${1_700_000_000 + at},`);
    const log = openOutlinedMetrics(run);
    while (log.more && !log.refresh()) continue;
    expect(log.clock).toBe('values');
    const { x } = log.series('v', relativeTime);
    expect(x.length).toBeLessThan(260);
    expect([x[0], x.at(-1)]).toEqual([0, 5999]);
    expect(log.series('v', relativeTime)).toBe(log.series('v', relativeTime));
  });

  it('are read from the beginning where the rows have no step, for an outline would have no x axis', () => {
    const told = tellings(openOutlinedMetrics(runOf(6000, 'size')));
    expect(told.length).toBeGreaterThan(10);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(6000);
  });

  it('are read in small parts', () => {
    const log = openOutlinedMetrics(runOf(6000, 'step'));
    let parts = 0;
    for (; log.more; parts++) log.refresh();
    expect(parts).toBeGreaterThan(30);
  });

  it('need no outline in a short file, and nothing in one that is not there', () => {
    expect(tellings(openOutlinedMetrics(runOf(100, 'step')))).toEqual([100]);
    const absent = openOutlinedMetrics(join(directory, 'absent'));
    expect([absent.refresh(), absent.more, absent.keys()]).toEqual([false, false, []]);
  });
});
