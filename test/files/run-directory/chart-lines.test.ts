import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChartLines } from '../../../src/files/run-directory/chart-lines.js';
import { removeFolder } from '../../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'chart-lines-'));
afterAll(() => removeFolder(root));
let sweeps = 0;
let sweep = '';
let now = 0;

beforeEach(() => {
  sweep = join(root, `s${sweeps++}`);
  for (const run of ['a', 'b']) mkdirSync(join(sweep, run), { recursive: true });
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => void vi.restoreAllMocks());

function write(path: string, study: unknown): void {
  writeFileSync(join(sweep, path), typeof study === 'string' ? study : JSON.stringify(study));
}

const line = (text: string) => ({ lines: [{ metrics: 'loss', y: 1, text }] });

/** The texts of the lines for a run, as a window has them that looks a while later. */
async function textsOf(lines: ChartLines, run: string): Promise<string[]> {
  now += 10_000;
  lines.of(join(sweep, run));
  await vi.dynamicImportSettled();
  now += 10_000;
  return lines.of(join(sweep, run)).map(({ text }) => text);
}

describe('the lines for the charts of a run', () => {
  it('are those of its own study, and of all studies of its sweep', async () => {
    write('a/study.json', line('of a'));
    write('b/study.json', line('of b'));
    write('study.json', line('of all'));
    write('study-people.json', line('people'));
    write('other.json', line('none'));
    const lines = new ChartLines();
    expect((await textsOf(lines, 'a')).sort()).toEqual(['of a', 'of all', 'people']);
    expect(await textsOf(lines, 'b')).toContain('of b');
  });

  it('are the same list until a file changes, comes or goes', async () => {
    const lines = new ChartLines();
    expect(await textsOf(lines, 'a')).toEqual([]);
    write('a/study.json', line('first'));
    expect(await textsOf(lines, 'a')).toEqual(['first']);
    const first = lines.of(join(sweep, 'a'));
    expect(await textsOf(lines, 'a')).toEqual(['first']);
    expect(lines.of(join(sweep, 'a'))).toBe(first);
    write('a/study.json', line('the second'));
    expect(await textsOf(lines, 'a')).toEqual(['the second']);
    rmSync(join(sweep, 'a/study.json'));
    expect(await textsOf(lines, 'a')).toEqual([]);
  });

  it.each([
    ['is no JSON', '{"lines": ['],
    ['is of another program', '{"trials": []}'],
    ['has lines of nothing', { lines: [{ y: 1 }] }],
  ])('are none where a file %s', async (_, content) => {
    write('a/study.json', content);
    mkdirSync(join(sweep, 'study.json'));
    expect(await textsOf(new ChartLines(), 'a')).toEqual([]);
    expect(await textsOf(new ChartLines(), 'of no folder/at all')).toEqual([]);
  });
});
