import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pythonLine, reportLines } from '../../../src/metrics/describe-sources.js';
import { openOutlinedMetrics } from '../../../src/metrics/outlined-metrics.js';
import { lineWidth, plainText } from '../../../src/tui/surface/span.js';
import { chartSection } from '../../../src/tui/widgets/chart/chart-section.js';
import { metricsReport } from '../../../src/tui/widgets/metrics-report.js';
import { removeFolder } from '../../remove-folder.js';

let run: string;
beforeEach(() => void (run = mkdtempSync(join(tmpdir(), 'metrics-report-'))));
afterEach(() => removeFolder(run));

const reportOf = (files: Readonly<Record<string, string>>) => {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(run, name), text);
  const metrics = openOutlinedMetrics(run);
  do metrics.refresh();
  while (metrics.more);
  return metrics.describe();
};
const strange = { 'data.csv': 'a,b\n1,2\n3,4\n' };
const section = (width: number, height: number, files = strange) => {
  const report = reportOf(files);
  return chartSection(
    { metric: 'loss', curves: [] },
    { xKey: 'step', isLoaded: true, report: () => report },
    { width, height },
  );
};

describe('a chart of a run without metrics', () => {
  it('says what was found and why it is none, then what to write, then what was looked for', () => {
    const text = section(160, 20).map(plainText).join('\n');
    expect(text).toMatch(/No metrics yet: looked into 1 folder\n {2}data\.csv: it has no column of steps/);
    expect(text).toContain(`\n  ${pythonLine}\nLooked for\n  metrics.jsonl\n`);
  });

  it.each([
    [80, 20],
    [40, 10],
    [24, 6],
  ])('fills exactly its room of %i × %i, and says where the rest is', (width, height) => {
    const lines = section(width, height);
    expect(lines).toHaveLength(height);
    expect(Math.max(...lines.map(lineWidth))).toBeLessThanOrEqual(width);
    if (height < 20) expect(plainText(lines.at(-1)!)).toMatch(/^… more in/);
  });

  it('is drawn as ever where there is no room, or where the run has other metrics', () => {
    const short = section(60, 4).map(plainText).join('\n');
    const other = section(60, 12, { 'data.csv': 'step,acc\n1,2\n3,4\n' }).map(plainText).join('\n');
    for (const text of [short, other]) expect(text).toContain('no values of loss yet');
  });
});

describe('what is said of the metrics of a run', () => {
  it('is what was read, and from where', () => {
    const report = reportOf({ ...strange, 'progress.csv': 'step,loss\n0,1\n1,2\n' });
    expect(metricsReport(reportLines(report), 44).map(plainText).join('\n')).toMatchInlineSnapshot(`
      "looked into 1 folder

      progress.csv (CSV): 2 rows
        found because of: it has columns of
        numbers and \`step\`
        metrics: step, loss

      output.log (log): not used
        found because of: what the run prints
        counts while no file has metrics

      Passed over
        data.csv: it has no column of steps
        beside others of numbers"
    `);
  });

  it('says where a line can be copied whole that has to be cut', () => {
    const lines = (width: number) =>
      metricsReport(reportLines(reportOf({})), width)
        .map(plainText)
        .join('\n');
    expect(lines(60)).toContain('as one line, to copy: memrl-tui doctor --metrics RUN');
    expect(lines(160)).not.toContain('to copy');
    expect(lines(160)).toContain(pythonLine);
  });
});
