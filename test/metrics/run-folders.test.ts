import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunFolders } from '../../src/metrics/run-folders.js';
import { removeFolder } from '../remove-folder.js';

const HOUR_MS = 3_600_000;

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), 'run-folders-'))));
afterEach(() => {
  vi.restoreAllMocks();
  removeFolder(root);
});

const makeFolders = (count: number) => {
  for (let n = 0; n < count; n++) mkdirSync(join(root, `wandb/run-${n}`), { recursive: true });
};
const shiftClock = (ms: number) => {
  const now = Date.now.bind(Date);
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
};

/** Number of steps that a look takes. */
const steps = (folders: RunFolders) => [...folders.lookInSteps()].length;

it('lists no folder again that has not changed', () => {
  makeFolders(3);
  const folders = new RunFolders(root);
  shiftClock(1000);
  folders.look();
  expect(steps(folders)).toBe(0);
  writeFileSync(join(root, 'wandb/run-1/new.csv'), '');
  expect(folders.look()).toBe(true);
  expect(folders.files.map(({ place }) => place)).toEqual(['wandb/run-1/new.csv']);
});

it.each([1, 255, 257, 1500])('has %d files in their natural order, however many steps that takes', (count) => {
  const names = Array.from({ length: count }, (_, n) => `rows_${(n * 7919) % count}.csv`);
  for (const name of names) writeFileSync(join(root, name), '');
  const folders = new RunFolders(root);
  expect(steps(folders)).toBeGreaterThan(count / 256);
  const inOrder = Array.from({ length: count }, (_, n) => `rows_${n}.csv`);
  expect(folders.files.map(({ place }) => place)).toEqual(inOrder);
});

it.each([-HOUR_MS, HOUR_MS])('does the same where the clock of the file server is %d ms off', (skew) => {
  makeFolders(3);
  const folders = new RunFolders(root);
  shiftClock(skew);
  folders.look();
  expect(steps(folders)).toBe(0);
});

describe('a search with more folders than are searched', () => {
  it('says so, also while the next one is going on', () => {
    makeFolders(5);
    const folders = new RunFolders(root, 4);
    folders.look();
    expect([folders.isCut, folders.folders]).toEqual([true, 4]);
    makeFolders(6);
    const search = folders.lookInSteps();
    while (search.next().done !== true) expect([folders.isCut, folders.folders]).toEqual([true, 4]);
    expect(folders.isCut).toBe(true);
  });
});
