import { type ChildProcess, spawn } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { pidsNow } from '../../../src/processes/process-usage.js';
import { UsageWatch } from '../../../src/supervisor/runs/usage-watch.js';

const id = RunId.parse('sweep/run');
let child: ChildProcess | null = null;
let watch: UsageWatch | null = null;

afterEach(() => {
  watch?.close();
  child?.kill('SIGKILL');
});

/** A run whose root is a shell of its own session, watched every 20 ms. */
function watched(script: string, isWatched = () => true) {
  child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: 'ignore' });
  const active = new Set([id]);
  const told: RunId[] = [];
  watch = new UsageWatch({
    state: { active },
    executor: { rootOf: () => child!.pid! },
    loop: { changed: (ids) => void told.push(...ids) },
    isWatched,
    everyMs: 20,
  });
  watch.follow();
  return { watch, active, told };
}

describe.skipIf(pidsNow().length === 0)('what a run uses of the machine', () => {
  it('is seen while it computes, also in what it has started', async () => {
    const { watch, told } = watched('sh -c "while :; do :; done"; true');
    // Under load it gets a part of a core only.
    await vi.waitFor(() => expect(watch.of(id).cpu).toBeGreaterThan(10), 20_000);
    expect(watch.of(id).memory).toBeGreaterThan(0);
    expect(told).toContain(id);
  });

  it('falls to nothing while it stands still, which is told once', async () => {
    let looks = 0;
    const { watch, told } = watched('sleep 1000', () => ++looks > 0);
    await vi.waitFor(() => expect(watch.of(id)).toMatchObject({ cpu: 0 }), 20_000);
    const [before, since] = [told.length, looks];
    await vi.waitFor(() => expect(looks).toBeGreaterThan(since + 5), 20_000);
    // The memory of a shell that has just begun may still move.
    expect(told.length).toBeLessThanOrEqual(before + 1);
  });

  it('is not known of a run that is not up', async () => {
    const { watch, active } = watched('while :; do :; done');
    await vi.waitFor(() => expect(watch.of(id).memory).not.toBeNull(), 20_000);
    active.clear();
    expect(watch.of(id)).toEqual({ cpu: null, memory: null });
  });

  it('is not looked at while nobody is there to see it', async () => {
    let asked = 0;
    const { watch } = watched('while :; do :; done', () => ++asked < 0);
    await vi.waitFor(() => expect(asked).toBeGreaterThan(3), 20_000);
    expect(watch.of(id)).toEqual({ cpu: null, memory: null });
  });
});
