import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricsLines } from '../../../src/cli/verbs/doctor.js';
import { runDirectory } from '../../../src/cli/sweep-directory.js';
import { describeSources, pythonLine } from '../../../src/metrics/describe-sources.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { removeFolder } from '../../remove-folder.js';

let runs: string;
beforeEach(() => void (runs = mkdtempSync(join(tmpdir(), 'doctor-metrics-'))));
afterEach(() => removeFolder(runs));

const lines = (files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(runs, name), text);
  return metricsLines('RUN', describeSources(openMetrics(runs).readNow()), 80).join('\n');
};

describe('doctor --metrics', () => {
  it('says what was found, where and why, and what was not used', () => {
    const files = { 'progress.csv': 'step,loss\n0,1\n1,2\n', 'output.log': 'loss=5\n', 'data.csv': 'a,b\n1,2\n3,4\n' };
    expect(lines(files)).toMatchInlineSnapshot(`
      "RUN: looked into 1 folder

      progress.csv (CSV): 2 rows
        found because of: it has columns of numbers and \`step\`
        metrics: step, loss

      output.log (log): not used
        found because of: what the run prints counts while no file has metrics

      Passed over
        data.csv: it has no column of steps beside others of numbers"
    `);
  });

  it('says what was looked for where there is nothing, and the line that writes some', () => {
    const text = lines({ 'output.log': 'hello\n' });
    expect(text).toContain('No metrics. Looked for\n  metrics.jsonl\n');
    expect(text).toContain(`  ${pythonLine}`);
  });

  it('finds a run by its name, its sweep and name, or its directory', () => {
    for (const sweep of ['one', 'two']) mkdirSync(join(runs, sweep, 'same'), { recursive: true });
    mkdirSync(join(runs, 'one', 'other'));
    for (const run of ['one/same', 'two/same', 'one/other']) writeFileSync(join(runs, run, 'run.json'), '{}');
    expect(runDirectory(runs, 'other')).toBe(join(runs, 'one/other'));
    expect(runDirectory(runs, 'two/same')).toBe(join(runs, 'two/same'));
    expect(runDirectory(runs, runs)).toBe(runs);
    expect(() => runDirectory(runs, 'same')).toThrow(/several runs `same`: `one\/same`, `two\/same`/);
    expect(() => runDirectory(runs, 'othe')).toThrow(/There is no run `othe`/);
  });
});
