import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Watcher } from '../../src/supervisor/watcher.js';
import { plan, waitFor } from './testbed.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'memrl-watcher-'))));
afterEach(() => rmSync(folder, { recursive: true }));

const ignore = () => ({
  ...{ now: () => 1_000_000, changed: vi.fn(), recalled: vi.fn() },
  ...{ ruleMet: vi.fn(), targetReached: vi.fn(), ailing: vi.fn(), hindered: vi.fn() },
});

it('reads what a run wrote that ended before it was followed', async () => {
  const objective = { name: 'acc', goal: 'maximize' as const, target: 0.9 };
  const run = plan(folder, 's', [{ directory: folder, objective }]).runs[0]!;
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step": 1, "acc": 0.95}\n');
  const listener = ignore();
  const watcher = new Watcher(listener);
  const caughtUp = vi.fn();
  watcher.catchUp(run, 1, caughtUp);
  expect(caughtUp).toHaveBeenCalledOnce();
  expect(listener.targetReached).toHaveBeenCalledExactlyOnceWith(run, expect.stringContaining('acc 0.95'));
  await watcher.close();
});

it('says when all is read that runs of the past wrote last', async () => {
  const runs = Array.from({ length: 9 }, (_, n) => {
    const directory = join(folder, String(n));
    mkdirSync(directory);
    writeFileSync(join(directory, 'metrics.jsonl'), `{"step": 1, "acc": ${n}}\n`);
    return { name: `r${n}`, directory };
  });
  const planned = plan(folder, 's', runs).runs;
  const listener = ignore();
  const watcher = new Watcher(listener);
  expect(watcher.unread).toBe(0);
  watcher.recall(planned);
  expect(watcher.unread).toBe(9);
  await waitFor('everything to be read', () => watcher.unread === 0);
  expect(listener.recalled).toHaveBeenCalledOnce();
  expect(planned.map(({ id }) => watcher.vitals(id).metrics['acc'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  await watcher.close();
});

it('says nothing any more once it is closed', async () => {
  const listener = ignore();
  const watcher = new Watcher(listener);
  watcher.recall(plan(folder, 's', [{ directory: folder }]).runs);
  await watcher.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(listener.recalled).not.toHaveBeenCalled();
});
