import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { firstChange } from '../../src/files/first-change.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'first-change-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('resolves when a file is deleted', async () => {
  const path = join(folder, 'lock.json');
  writeFileSync(path, '{}');
  const change = firstChange([path], 60_000);
  rmSync(path);
  expect(await change).toBe('reported');
});

it('resolves after so long where nothing happens, and where nothing is', async () => {
  expect(await firstChange([folder, join(folder, 'absent')], 20)).toBe('time is up');
});
