import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DoneSearch } from '../../../src/files/run-directory/completion-facts.js';
import { removeFolder } from '../../remove-folder.js';

let path: string;
beforeEach(() => void (path = join(mkdtempSync(join(tmpdir(), 'done-')), 'checkpoints.jsonl')));
afterEach(() => removeFolder(join(path, '..')));

const isFinal = ({ name }: Record<string, unknown>) => name === 'final';
const final = '{"name": "final"}\n';
/** Some 900 kB. */
const others = '{"name": "000020", "batch": 20}\n'.repeat(30_000);

/** Looks to the end; gives what was found in how many steps. */
function searched(wanted = isFinal) {
  const search = new DoneSearch(path, wanted);
  let steps = 0;
  for (; !search.isOver; steps++) search.step();
  return { found: search.rows.length > 0, steps, obstacle: search.obstacle };
}

describe('a line that is no row', () => {
  const malformed = () => {
    const search = new DoneSearch(path, isFinal);
    while (!search.isOver) search.step();
    return search.malformed;
  };

  it.each<{ where: string; text: string; is: string | null }>([
    { where: 'before the row', text: `garbage\n${final}`, is: 'line 1' },
    { where: 'after it', text: `${final}{"name": "fin\n{"name": "x"}\n`, is: 'line 2' },
    { where: 'cut off by a crash, in the middle', text: `{"name": "0001"}\n{"na\n${final}`, is: 'line 2' },
    { where: 'merged with the row', text: `{"name": "0001", "ba${final}`, is: 'line 1' },
    { where: 'a number', text: `1\n${final}`, is: 'line 1' },
    { where: 'at the end, without a newline', text: `${final}garbage`, is: 'line 2' },
    {
      where: 'in the middle of a file of several parts',
      text: `${others.slice(0, 320_000)}oops\n${final}`,
      is: 'line 10001',
    },
    { where: 'at the end of a long file', text: `${others}oops\n${final}`, is: 'a line at the end' },
    { where: 'too long to be one', text: `${'x'.repeat(300_000)}\n${final}`, is: 'a line that is too long' },
    { where: 'nowhere, but its writer is in the middle of one', text: `${final}{"name": "00`, is: null },
    { where: 'nowhere, as blank lines are none', text: `\n  \n\r\n${final}\n`, is: null },
    { where: 'nowhere, though Python writes NaN', text: `{"name": "1", "loss": NaN}\n${final}`, is: null },
  ])('is found: $where', ({ text, is }) => {
    writeFileSync(path, text);
    expect(malformed()).toBe(is);
  });

  it('is no matter of a file of output', () => {
    writeFileSync(path, 'anything\nfinished\n');
    const search = new DoneSearch(path, null, (line) => (line === 'finished' ? {} : null));
    expect([search.step(), search.malformed, search.rows.length]).toEqual([undefined, null, 1]);
  });

  it('does not hide a last row that has no newline', () => {
    writeFileSync(path, `${others.slice(0, 320_000)}${final.trimEnd()}`);
    expect(searched()).toMatchObject({ found: true });
    expect(malformed()).toBeNull();
  });
});

describe('the row that says that a run is done', () => {
  it.each([
    { where: 'at the end of a short file', text: `{"name": "1"}\n${final}`, found: true, steps: 1 },
    { where: 'at the end of a short file without a newline', text: final.trimEnd(), found: true, steps: 1 },
    { where: 'nowhere in a short file', text: '{"name": "1"}\n', found: false, steps: 1 },
    { where: 'in the last line of a long file', text: others + final, found: true, steps: 1 },
    { where: 'in the last line of a long file, torn', text: others + final.trimEnd(), found: true, steps: 1 },
    { where: 'in the first line of a long file', text: final + others, found: true, steps: 2 },
    { where: 'in the middle of a long file', text: others + final + others, found: true, steps: 9 },
    { where: 'nowhere in a long file', text: others, found: false, steps: 9 },
    {
      where: 'behind a line that never ends',
      text: `${'x'.repeat(1 << 20)}\n${final}${others}`,
      found: true,
      steps: 12,
    },
  ])('is looked for a part at a time: $where', ({ text, found, steps }) => {
    writeFileSync(path, text);
    const search = searched();
    expect(search).toMatchObject({ found, obstacle: null });
    expect(search.steps).toBeLessThanOrEqual(steps);
  });

  it('is nowhere when there is no file, and that is no obstacle', () => {
    expect(searched()).toEqual({ found: false, steps: 1, obstacle: null });
  });

  it('is nowhere in what is no file, which is said', () => {
    mkdirSync(path);
    expect(searched()).toEqual({ found: false, steps: 1, obstacle: 'it is a directory, not a regular file' });
  });
});
