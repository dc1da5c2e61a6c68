import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { MetricLog } from '../../src/metrics/metric-log.js';
import { OutlinedLog } from '../../src/metrics/outlined-log.js';

const directory = mkdtempSync(join(tmpdir(), 'outlined-log-'));
afterAll(() => rmSync(directory, { recursive: true }));
let files = 0;

function fileOf(rows: number, keyOfStep: string): string {
  const path = join(directory, `metrics-${files++}.jsonl`);
  const note = 'x'.repeat(2000);
  const lines = Array.from({ length: rows }, (_, at) => `{"${keyOfStep}":${at},"v":${at * 3},"note":"${note}"}\n`);
  writeFileSync(path, lines.join(''));
  return path;
}

/** How many points were told of `v`, after each refresh that said there was something new. */
function tellings(log: OutlinedLog): number[] {
  const told: number[] = [];
  while (log.more) if (log.refresh()) told.push(log.series('v').y.length);
  return told;
}

describe('the metrics of a long file', () => {
  it('are an outline first, and then all of the file', () => {
    const path = fileOf(6000, 'step');
    const told = tellings(new OutlinedLog(path));
    expect(told).toHaveLength(2);
    expect(told[0]).toBeGreaterThan(200);
    expect(told[0]).toBeLessThan(260);
    expect(told[1]).toBe(6000);
  });

  it('are what a plain reading gives in the end, and keep up with what is added', () => {
    const path = fileOf(6000, 'step');
    const log = new OutlinedLog(path);
    tellings(log);
    appendFileSync(path, '{"step":6000,"v":1}\n');
    expect(log.refresh()).toBe(true);
    expect(log.refresh()).toBe(false);
    const plain = new MetricLog(path);
    while (plain.refresh() && plain.more);
    expect(log.series('v')).toEqual(plain.series('v'));
    expect(log.keys()).toEqual(['step', 'v']);
  });

  it('are read from the beginning where the rows have no step, for an outline would have no x axis', () => {
    const told = tellings(new OutlinedLog(fileOf(6000, 'size')));
    expect(told.length).toBeGreaterThan(10);
    expect(told).toEqual(told.toSorted((a, b) => a - b));
    expect(told.at(-1)).toBe(6000);
  });

  it('are read in small parts', () => {
    const log = new OutlinedLog(fileOf(6000, 'step'));
    let parts = 0;
    for (; log.more; parts++) log.refresh();
    expect(parts).toBeGreaterThan(30);
  });

  it('need no outline in a short file, and nothing in one that is not there', () => {
    expect(tellings(new OutlinedLog(fileOf(100, 'step')))).toEqual([100]);
    const absent = new OutlinedLog(join(directory, 'absent'));
    expect([absent.refresh(), absent.more, absent.keys()]).toEqual([false, false, []]);
  });
});
