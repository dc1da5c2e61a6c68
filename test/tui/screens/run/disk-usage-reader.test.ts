import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UsageReading } from '../../../../src/files/disk/disk-usage.js';
import { DiskUsageReader } from '../../../../src/tui/screens/run/disk-usage-reader.js';
import { removeFolder } from '../../../remove-folder.js';

let run: string;
beforeEach(() => {
  vi.useFakeTimers();
  run = mkdtempSync(join(tmpdir(), 'memrl-usage-'));
  for (let file = 0; file < 500; file++) writeFileSync(join(run, `${file}`), 'x');
});
afterEach(() => {
  vi.useRealTimers();
  removeFolder(run);
});

describe('what the open run takes on its disk', () => {
  it('is measured once it is looked at, a part at a time, and no more once it is not', () => {
    const opened: UsageReading[] = [];
    const usage = (directory: string) => opened[opened.push(new UsageReading(directory)) - 1]!;
    const changed = vi.fn<() => void>();
    const reader = new DiskUsageReader({ usage }, changed);
    reader.want(run);
    reader.want(null);
    vi.runAllTimers();
    expect(opened).toEqual([]);

    reader.want(run);
    vi.advanceTimersByTime(200);
    expect(reader.usage(run)).toBeNull();
    vi.runAllTimers();
    expect(reader.usage(run)!.other).toBeGreaterThanOrEqual(500 * 512);
    expect([changed.mock.calls.length, opened.length, reader.usage('/elsewhere')]).toEqual([1, 1, null]);

    reader.want(null);
    reader.want(run);
    vi.advanceTimersByTime(200);
    reader.close();
    expect([opened.length, opened[1]!.isOver]).toEqual([2, true]);
  });
});
