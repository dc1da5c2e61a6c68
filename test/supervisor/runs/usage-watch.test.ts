import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { openMetrics, relativeTime } from '../../../src/metrics/run-metrics.js';
import { pidsNow } from '../../../src/processes/process-usage.js';
import { UsageSampler, UsageWatch } from '../../../src/supervisor/runs/usage-watch.js';
import { PATIENCE_MS } from '../../patience.js';

type Tools = ConstructorParameters<typeof UsageWatch>[0];

const id = RunId.parse('sweep/run');
let directory = '';
let child: ChildProcess | null = null;
let watch: UsageWatch | null = null;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'usage-'));
});

afterEach(() => {
  watch?.close();
  // Its whole group: what it has started would go on computing.
  if (child?.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
});

/** A run whose root is a process of its own session, measured every 20 ms. */
function watched(command: string, args: string[] = ['-c', command], gpu: Record<string, number> = {}) {
  child = spawn(args[0] === '-c' ? '/bin/sh' : command, args, { detached: true, stdio: 'ignore' });
  const active = new Set([id]);
  const told: RunId[] = [];
  const sampler = new UsageSampler(1);
  let looks = 0;
  const state = { phase: 'running', slot: { kind: 'cpu', number: 0 } };
  watch = new UsageWatch({
    state: { active, runs: new Map([[id, { state }]]) } as unknown as Tools['state'],
    executor: { rootOf: () => child!.pid! },
    plannedRuns: { of: () => ({ directory }) } as unknown as Tools['plannedRuns'],
    gpus: { usageOf: () => gpu },
    sampler: {
      measure: (runs, heard) => {
        looks += 1;
        return sampler.measure(runs, heard);
      },
    },
    loop: { changed: (ids) => void told.push(...ids) },
    isWatched: () => true,
    everyMs: 20,
  });
  watch.follow();
  return { watch, active, told, looks: () => looks };
}

/** The largest value of a metric in the run's directory. */
function most(metric: string): number {
  return Math.max(0, ...openMetrics(directory).readNow().series(metric, relativeTime).y);
}

describe.skipIf(pidsNow().length === 0)('what a run uses of the machine', () => {
  it('is seen while it computes, also in what it has started', async () => {
    const { watch, told } = watched('sh -c "while :; do :; done"; true');
    // Under load it gets a part of a core only.
    await vi.waitFor(() => expect(watch.of(id).cpu).toBeGreaterThan(10), PATIENCE_MS);
    expect(watch.of(id).memory).toBeGreaterThan(0);
    expect(watch.of(id).system).toMatchObject({ 'system/cpu_percent': watch.of(id).cpu });
    expect(told).toContain(id);
  });

  it('is a curve of the run: a program that computes', async () => {
    watched('while :; do :; done');
    await vi.waitFor(() => expect(most('system/cpu_percent')).toBeGreaterThan(10), PATIENCE_MS);
  });

  it('is a curve of the run: a program that holds 200 MB', async () => {
    const hold = 'const held = Buffer.alloc(200 << 20, 1); setInterval(() => held[0]++, 1000)';
    watched(process.execPath, ['-e', hold]);
    await vi.waitFor(() => expect(most('system/memory_mib')).toBeGreaterThan(200), PATIENCE_MS);
  });

  it('has what is known of its GPUs', async () => {
    watched('sleep 1000', undefined, { 'system/gpu_percent': 83, 'system/gpu_watts': 301.5 });
    await vi.waitFor(() => expect(most('system/gpu_percent')).toBe(83), PATIENCE_MS);
    expect(most('system/gpu_watts')).toBe(301.5);
  });

  it('falls to nothing while it stands still, which is told once', async () => {
    const { watch, told, looks } = watched('sleep 1000');
    await vi.waitFor(() => expect(watch.of(id)).toMatchObject({ cpu: 0 }), PATIENCE_MS);
    // The memory of a shell that has just begun may still move.
    let [known, since] = [told.length, looks()];
    await vi.waitFor(() => {
      if (told.length !== known) [known, since] = [told.length, looks()];
      expect(looks()).toBeGreaterThan(since + 5);
    }, PATIENCE_MS);
  });

  it('is not known of a run that is not up', async () => {
    const { watch, active } = watched('while :; do :; done');
    await vi.waitFor(() => expect(watch.of(id).memory).not.toBeNull(), PATIENCE_MS);
    active.clear();
    expect(watch.of(id)).toEqual({ cpu: null, memory: null, system: null });
  });
});
