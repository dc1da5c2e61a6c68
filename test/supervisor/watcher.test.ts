import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Watcher } from '../../src/supervisor/watcher.js';
import { plan } from './testbed.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'memrl-watcher-'))));
afterEach(() => rmSync(folder, { recursive: true }));

it('reads what a run wrote that ended before it was followed', async () => {
  const objective = { name: 'acc', goal: 'maximize' as const, target: 0.9 };
  const run = plan(folder, 's', [{ directory: folder, objective }]).runs[0]!;
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step": 1, "acc": 0.95}\n');
  const [changed, ruleMet, targetReached, ailing] = [vi.fn(), vi.fn(), vi.fn(), vi.fn()];
  const watcher = new Watcher({ now: () => 1_000_000, changed, ruleMet, targetReached, ailing });
  watcher.catchUp(run, 1);
  expect(targetReached).toHaveBeenCalledExactlyOnceWith(run, expect.stringContaining('acc 0.95'));
  await watcher.close();
});
