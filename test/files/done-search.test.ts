import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DoneSearch } from '../../src/files/completion-facts.js';
import { removeFolder } from '../remove-folder.js';

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
