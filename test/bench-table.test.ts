import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInTable, tableLines, writeTable } from '../scripts/bench-table.js';
import { removeFolder } from './remove-folder.js';

const adoption = (ms: number) => [
  { name: 'adopt', text: `adopt 1000 live runs after kill -9: median ${ms} ms until a client sees them all (1, 2, 3)` },
];

describe('the table at the end of the benches', () => {
  it('has the median over the rounds of each build, beside what is wanted', () => {
    const builds = [
      { name: 'now', rounds: [450, 900, 470].map(adoption) },
      { name: 'before', rounds: [1770].map(adoption) },
    ];
    expect(tableLines(['adopt'], builds)).toEqual([
      '| what | now | before | wanted |',
      '| --- | --- | --- | --- |',
      '| 1,000 running runs taken over after `kill -9` | 470 ms | 1,770 ms | ≤ 480 ms |',
    ]);
  });

  it('has a dash where a build has no such bench', () => {
    const lines = tableLines(['adopt'], [{ name: 'older', rounds: [[{ name: 'adopt', text: '' }]] }]);
    expect(lines.at(-1)).toContain('| – |');
  });

  it('tells the figures of 1,000 runs from those of 10,000', () => {
    const text = [
      '1,000 runs, 120 × 40',
      '  control window                 3.5 ms  10.1 ms  10.9 ms   14.2 %    100 MB   39 kB/s',
      '10,000 runs, 120 × 40',
      '  control window                 6.4 ms  41.0 ms  43.0 ms   42.0 %    175 MB   39 kB/s',
    ].join('\n');
    const figures = tableLines(['latency'], [{ name: 'now', rounds: [[{ name: 'latency', text }]] }]).slice(2);
    expect(figures.map((line) => line.split(' | ')[1])).toEqual([
      '3.5 ms',
      '10.9 ms',
      '14.2 % of a core',
      '100 MB',
      '43 ms',
      '175 MB',
    ]);
  });

  it('takes the place of the table before it in a page, and of nothing else', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bench-table-'));
    const page = join(folder, 'figures.md');
    writeFileSync(page, 'Above\n<!-- budgets -->\n\nold\n\n<!-- end of budgets -->\nBelow\n');
    writeTable(page, ['| new |']);
    expect(readFileSync(page, 'utf8')).toBe('Above\n<!-- budgets -->\n\n| new |\n\n<!-- end of budgets -->\nBelow\n');
    removeFolder(folder);
  });

  it('has no rows of benches that compare with peers alone', () => {
    expect([isInTable('latency'), isInTable('view')]).toEqual([true, false]);
  });
});
