import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runFiles } from '../../../src/contract/files.js';
import { openMetrics, relativeTime } from '../../../src/metrics/run-metrics.js';
import { lastUsage, UsageFile } from '../../../src/supervisor/reading/usage-file.js';

let directory = '';
const path = () => join(directory, runFiles.usage);
const began = Date.UTC(2026, 0, 1);
const cpu = 'system/cpu_percent';
const memory = 'system/memory_mib';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'usage-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Adds a sample every five seconds, and writes all rows. */
function sampled(count: number, { from = 0, file = new UsageFile(directory) } = {}): UsageFile {
  for (let at = from; at < from + count; at++) file.add({ [cpu]: at % 100, [memory]: at }, began + 5000 * at);
  file.flush();
  return file;
}

const rows = () => readFileSync(path(), 'utf8').trimEnd().split('\n');
const curve = (metric: string) => openMetrics(directory).readNow().series(metric, relativeTime);

describe('the file of a run’s use of the machine', () => {
  it('holds a row for each sample, which readers find as metrics', () => {
    sampled(10);
    expect(Array.from(curve(cpu).y)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(Array.from(curve(cpu).x.subarray(0, 3))).toEqual([0, 5, 10]);
    expect(lastUsage(directory)).toEqual({ [cpu]: 9, [memory]: 9 });
  });

  it('never has more than a thousand rows: halving keeps means, and the peak of memory', () => {
    sampled(50_000);
    expect(rows().length).toBeLessThanOrEqual(1000);
    expect(rows().length).toBeGreaterThan(400);
    expect(readFileSync(path()).length).toBeLessThan(150_000);
    const [percent, peaks] = [curve(cpu).y, curve(memory).y];
    expect(percent.reduce((sum, value) => sum + value, 0) / percent.length).toBeCloseTo(49.5, -1);
    expect(peaks.at(-1)).toBeGreaterThan(49_000);
    // The rows are evenly spread.
    const { x } = curve(cpu);
    expect(x[Math.floor(x.length / 2)]! / x.at(-1)!).toBeCloseTo(0.5, 1);
  });

  it('goes on at its resolution in another supervisor, also after a pause', () => {
    sampled(1500);
    const before = rows().length;
    sampled(100, { from: 100_000 });
    const added = rows().length - before;
    expect(added).toBeGreaterThan(30);
    expect(added).toBeLessThan(70);
  });

  it.each([1, 20, 60, 90])('is read whatever byte was the last to be written: %i bytes missing', (missing) => {
    sampled(3);
    const bytes = readFileSync(path());
    writeFileSync(path(), bytes.subarray(0, bytes.length - missing));
    sampled(3, { from: 3 });
    expect(Array.from(curve(memory).y).slice(-3)).toEqual([3, 4, 5]);
    expect(curve(memory).y.length).toBeGreaterThanOrEqual(4);
  });

  it('follows a row that could only be written in part', () => {
    const file = sampled(3);
    const was = readFileSync(path());
    rmSync(path());
    mkdirSync(path());
    sampled(3, { from: 3, file });
    rmSync(path(), { recursive: true });
    writeFileSync(path(), was);
    appendFileSync(path(), '{"time":"2026-01-01T00:0');
    sampled(3, { from: 6, file });
    expect(Array.from(curve(memory).y)).toEqual([0, 1, 2, 6, 7, 8]);
  });

  it('is not written through a link, nor where something else is', () => {
    const elsewhere = join(directory, 'elsewhere');
    writeFileSync(elsewhere, '');
    symlinkSync(elsewhere, path());
    sampled(5);
    expect(readFileSync(elsewhere, 'utf8')).toBe('');
    expect(() => sampled(5, { file: new UsageFile(join(directory, 'missing')) })).not.toThrow();
  });

  it('does not stop with a clock that was set back', () => {
    const file = sampled(1200);
    for (let at = 0; at < 40; at++) file.add({ [cpu]: 1, [memory]: 1 }, began - 3_600_000 + 5000 * at);
    file.flush();
    expect(Array.from(curve(memory).y).at(-1)).toBe(1);
  });
});
