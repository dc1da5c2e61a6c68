import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { ownJsonLines } from '../../src/metrics/formats/line-format.js';
import { MetricOutline } from '../../src/metrics/outlined-metrics.js';
import { removeFolder } from '../remove-folder.js';

const directory = mkdtempSync(join(tmpdir(), 'metric-outline-'));
afterAll(() => removeFolder(directory));
let files = 0;

function fileOf(text: string): string {
  const path = join(directory, `metrics-${files++}.jsonl`);
  writeFileSync(path, text);
  return path;
}

function outlineOf(text: string, places: number): MetricOutline {
  const outline = new MetricOutline(ownJsonLines.pickFrom!(fileOf(text), places), places);
  while (!outline.isComplete) outline.take(7);
  return outline;
}

const row = (step: number, padding = 0) => `{"step":${step},"v":${step * 2},"note":"${'x'.repeat(padding)}"}\n`;

describe('the outline of a file of metrics', () => {
  it('has lines from all over the file, the first and the last among them', () => {
    const text = Array.from({ length: 50_000 }, (_, step) => row(step)).join('');
    const { x, y } = outlineOf(text, 100).table.series('v');
    expect(x.length).toBeGreaterThan(95);
    expect([x[0], x.at(-1)]).toEqual([0, 49_999]);
    expect(Math.max(...x.slice(1).map((at, index) => at - x[index]!))).toBeLessThan(1200);
    expect([...y]).toEqual(Array.from(x, (at) => at * 2));
  });

  it('passes over a torn last line', () => {
    const { x } = outlineOf(`${row(0)}${row(1)}${row(2)}{"step":3,"v`, 5).table.series('v');
    expect(x.at(-1)).toBe(2);
  });

  it('looks further where lines are long', () => {
    const text = Array.from({ length: 60 }, (_, step) => row(step, 20_000)).join('');
    const { x } = outlineOf(text, 30).table.series('v');
    expect(x.length).toBeGreaterThan(25);
    expect(x.at(-1)).toBe(59);
  });

  it('follows the last try where a run went back to a checkpoint', () => {
    const rows = [...Array(3000).keys(), ...Array.from({ length: 3000 }, (_, index) => 1000 + index)];
    const { x } = outlineOf(rows.map((step) => row(step, 100)).join(''), 200).table.series('v');
    expect(x.every((at, index) => index === 0 || at > x[index - 1]!)).toBe(true);
    expect(x.at(-1)).toBe(3999);
  });

  it('is empty where there is no file, no line and nothing but foreign text', () => {
    const absent = new MetricOutline(ownJsonLines.pickFrom!(join(directory, 'absent'), 10), 10);
    absent.take(1);
    expect([absent.isComplete, absent.table.keys()]).toEqual([true, []]);
    for (const text of ['', 'x'.repeat(1 << 20), 'Traceback\n'.repeat(1000)])
      expect(outlineOf(text, 10).table.keys()).toEqual([]);
  });

  it('never tells a row that is not in the file', () => {
    const line = fc.record({ step: fc.nat(1000), v: fc.integer(), text: fc.string({ maxLength: 300 }) });
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 60 }), fc.integer({ min: 2, max: 40 }), (lines, places) => {
        const { x, y } = outlineOf(lines.map((each) => `${JSON.stringify(each)}\n`).join(''), places).table.series('v');
        const known = new Set(lines.map(({ step, v }) => `${step} ${v}`));
        Array.from(x, (at, index) => expect(known).toContain(`${at} ${y[index]}`));
      }),
      { numRuns: 100 },
    );
  });
});
