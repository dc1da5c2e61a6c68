import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deletedWords } from '../../../src/cli/verbs/clean.js';
import { type CleanWish, isNothing, planOf } from '../../../src/cli/clean/clean-plan.js';
import { aRun } from '../../tui/simulated-fleet.js';
import { removeFolder } from '../../remove-folder.js';

let directory = '';
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'memrl-clean-')), 'run');
  write('run.json', '{}');
});
afterEach(() => removeFolder(dirname(directory)));

const nothing: CleanWish = { checkpoints: null, attempts: false, logs: false, failed: false, done: false };
const pruning = (keep = 1, pattern: string | null = null): CleanWish => ({
  ...nothing,
  checkpoints: { keep, pattern },
});

function write(path: string, text = 'x'.repeat(5000)): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), text);
}

function rows(...all: object[]): void {
  write('checkpoints.jsonl', all.map((row) => `${JSON.stringify(row)}\n`).join(''));
}

function plan(wish: CleanWish, doneFile: string | null = null, state: 'done' | 'failed' = 'done') {
  return planOf(aRun('A_s0', { directory, state }), wish, doneFile);
}

const paths = (...given: Parameters<typeof plan>) => plan(...given).items.map(({ discard }) => discard.path);

/** Four checkpoints with what one resumes from, the last but one also with a sampler. */
function fourCheckpoints(): void {
  for (const name of ['1', '2', '3', '4']) write(`checkpoints/${name}/state`);
  write('checkpoints/3s');
  rows(
    { name: '1', state_path: 'checkpoints/1' },
    { name: '2', state_path: 'checkpoints/2' },
    { name: '3', state_path: 'checkpoints/3', sampler_path: 'checkpoints/3s' },
    { name: '4', state_path: 'checkpoints/4' },
  );
}

describe('pruning checkpoints', () => {
  it('keeps the last, and the last of each kind of path', () => {
    fourCheckpoints();
    expect(paths(pruning())).toEqual(['checkpoints/1', 'checkpoints/2', 'checkpoints/3']);
    expect(plan(pruning()).bytes).toBeGreaterThanOrEqual(3 * 5000);
  });

  it.each<[number, string[]]>([
    [2, ['checkpoints/1', 'checkpoints/2']],
    [3, ['checkpoints/1']],
    [9, []],
  ])('keeps %i', (keep, gone) => {
    fourCheckpoints();
    expect(paths(pruning(keep))).toEqual(gone);
  });

  it.each(['*', 'attempts/*', 'output.log'])(
    'counts nothing twice, and takes no log or attempt for one: %s',
    (pattern) => {
      write('output.log');
      for (const attempt of ['1', '2']) write(`attempts/${attempt}/exit`, '0\n');
      for (const attempt of ['1', '2']) write(`attempts/${attempt}/pid`, '');
      for (const name of ['1.pt', '2.pt']) write(name);
      const both = { ...pruning(1, pattern), logs: true, attempts: true };
      const all = paths(both);
      expect(all.toSorted()).toEqual([...new Set([...all, 'attempts/1', 'output.log'])].toSorted());
      expect(plan(both).items.filter(({ kind }) => kind === 'checkpoint')).toHaveLength(pattern === '*' ? 1 : 0);
      expect(paths(pruning(1, pattern))).not.toContain('output.log');
      expect(paths(pruning(1, pattern))).not.toContain('attempts/1');
    },
  );

  it('keeps the one to resume from, though a row without it was written later', () => {
    fourCheckpoints();
    write('sampler');
    rows(
      { name: '1', state_path: 'checkpoints/1' },
      { name: '2', state_path: 'checkpoints/2' },
      { name: 'eval', sampler_path: 'sampler' },
    );
    expect(paths(pruning())).toEqual(['checkpoints/1']);
  });

  it('keeps what a link leads to, what is named again, and the file by which the run is done', () => {
    fourCheckpoints();
    symlinkSync('checkpoints/1', join(directory, 'best'));
    expect(paths(pruning())).toEqual(['checkpoints/2', 'checkpoints/3']);
    const { items, remarks } = plan(pruning(), 'checkpoints/2/state');
    expect(items.map(({ discard }) => discard.path)).toEqual(['checkpoints/3']);
    expect(remarks).toEqual(['checkpoints/2/state stays: it says that the run is done']);
  });

  it.each([
    ['.', '..', '../other', 'run.json', 'metrics.jsonl', 'config.json', 'checkpoints.jsonl', 'attempts', 'attempts/1'],
    ['link', 'link/state', '/etc/hostname', 'annotation.json', '', 'gone'],
  ])('never deletes what is no checkpoint: %s, …', (...hostile) => {
    for (const file of ['metrics.jsonl', 'config.json', 'annotation.json', 'attempts/1/pid', '../other/file', 'last'])
      write(file);
    symlinkSync('../other', join(directory, 'link'));
    rows(...hostile.map((path) => ({ state_path: path })), { state_path: 'last' });
    expect(paths(pruning())).toEqual([]);
  });

  it('finds them by a pattern: the newest stay, whatever their names', () => {
    for (const [index, name] of ['500', '1000', '90'].entries()) {
      write(`checkpoint-${name}/model`);
      utimesSync(join(directory, `checkpoint-${name}/model`), 1000 + index, 1000 + index);
    }
    expect(paths(pruning(1, 'checkpoint-*'))).toEqual(['checkpoint-500', 'checkpoint-1000']);
    expect(paths(pruning(2, 'checkpoint-*/mod?l'))).toEqual(['checkpoint-500/model']);
    expect(paths(pruning(1, '*'))).not.toContain('run.json');
    expect(paths(pruning())).toEqual([]);
  });

  it('counts no bytes of a file that has another name', () => {
    write('a.pt');
    write('b.pt');
    linkSync(join(directory, 'a.pt'), join(directory, '../elsewhere'));
    rows({ path: 'a.pt' }, { path: 'b.pt' });
    expect(plan(pruning())).toMatchObject({ bytes: 0, items: [{ discard: { path: 'a.pt' } }] });
  });
});

describe('cleaning attempts and logs', () => {
  const two = 'of the first\n\n──── attempt 2, 2026-01-01T00:00:00.000Z ────\nsecond\n';

  it('takes the folders of attempts before the last whose end is known, and their part of the log', () => {
    for (const [attempt, exit] of [
      ['1', '1\n'],
      ['2', ''],
      ['3', '1\n'],
      ['4', '0\n'],
    ] as const) {
      write(`attempts/${attempt}/pid`);
      write(`attempts/${attempt}/exit`, exit);
    }
    write('output.log', `first\n${two}`);
    const found = plan({ ...nothing, attempts: true });
    expect(found.items.map(({ discard, cutAt }) => [discard.path, cutAt])).toEqual([
      ['attempts/1', undefined],
      ['attempts/3', undefined],
      ['output.log', Buffer.from(`first\n${two}`).indexOf('──── attempt')],
    ]);
    expect(deletedWords(found)).toBe('2 attempt folders, the log of earlier attempts');
  });

  it('takes the whole log, but not where it is all there is of the metrics, or says that the run is done', () => {
    write('output.log', 'words\n');
    expect(paths({ ...nothing, logs: true })).toEqual(['output.log']);
    expect(deletedWords(plan({ ...nothing, logs: true }, 'output.log'))).toBe(
      'output.log stays: it says that the run is done',
    );
    write('output.log', Array.from({ length: 20 }, (_, step) => `step=${step} loss=0.${step}\n`).join(''));
    const { items, remarks } = plan({ ...nothing, logs: true });
    expect({ items, remarks }).toEqual({ items: [], remarks: ["output.log stays: the run's metrics are in it"] });
    write('metrics.jsonl', '{"step":1,"loss":1}\n');
    expect(paths({ ...nothing, logs: true })).toEqual(['output.log']);
  });
});

describe('cleaning done runs', () => {
  it('takes their whole directories, and nothing of the others', () => {
    expect(plan({ ...nothing, done: true })).toMatchObject({ all: true, items: [] });
    expect(isNothing(plan({ ...nothing, done: true }, null, 'failed'))).toBe(true);
  });
});

describe('cleaning failed runs', () => {
  it('takes their whole directories, and nothing of those that are done', () => {
    const wish = { ...nothing, failed: true };
    expect(plan(wish, null, 'failed')).toMatchObject({ all: true, items: [] });
    expect(isNothing(plan(wish))).toBe(true);
    rmSync(directory, { recursive: true });
    expect(isNothing(plan(wish, null, 'failed'))).toBe(true);
  });

  it('takes what an interrupted clean left, of this run and of no other', () => {
    const mark = '0123456789abcdef';
    write(`checkpoints/.memrl-deleted-${mark}-0/state`);
    write(`../.memrl-deleted-${mark}-run/file`);
    write(`../.memrl-deleted-${mark}-run2/file`);
    expect(plan(pruning()).left).toEqual([
      join(dirname(directory), `.memrl-deleted-${mark}-run`),
      join(directory, `checkpoints/.memrl-deleted-${mark}-0`),
    ]);
  });
});
