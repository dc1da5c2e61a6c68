import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import type { RunSummary } from '../../../../src/tui/state/port.js';
import { aWindow, screenText } from '../../frames.js';
import { aRun, memorySweep } from '../../simulated-fleet.js';

const now = 10_000_000;
const exit = { class: 'failed', code: 1, signal: null } as const;

/** Of 120 runs those with batches of 64 run out of memory, and two fail of something else. */
function someFailures(): RunSummary[] {
  return Array.from({ length: 120 }, (_, index) => {
    const parameters = { batch_size: [16, 32, 64][index % 3]!, seed: index % 5 };
    const base = aRun(`A_bs${parameters.batch_size}_${index}`, { parameters, endedAt: now - 60_000 * (index + 1) });
    const memory = `CUDA out of memory. Tried to allocate ${index}.50 GiB`;
    const reason =
      parameters.batch_size === 64 ? memory : index === 3 || index === 40 ? `OSError: [Errno ${index}] gone` : null;
    return reason === null ? { ...base, state: 'done' } : { ...base, state: 'failed', exit, reason };
  });
}

describe('the failures', () => {
  let store: WindowStore;
  beforeEach(() => {
    vi.useFakeTimers();
    const { fleet, files } = memorySweep();
    fleet.runs.clear();
    for (const run of someFailures()) fleet.runs.set(run.id, run);
    store = aWindow({ fleet, files, now });
    store.resize(100, 20);
  });
  afterEach(() => {
    store.close();
    vi.useRealTimers();
  });

  const press = (...keys: string[]): void => keys.forEach((key) => store.press(key));
  // Without the dots of the curves that are drawn, which go with the selection.
  const list = (): string[] => screenText(store).map((line) => line.split('│')[0]!.replace('•', ' ').trim());

  it('are shown by kind, the commonest first, with the parameter that goes with each', async () => {
    press('F');
    expect(list().join('\n')).toMatch(/1 CUDA.* 40 +…/);
    await vi.advanceTimersByTimeAsync(10_000);
    const rows = list().filter((line) => line.startsWith('▸'));
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/^▸ 1 CUDA out.* 40 +batch_size=64 .* 2h00m$/);
    expect(rows[1]).toMatch(/^▸ 2 OSError.* 2 +– +41m00s$/);
  });

  it('say of the selected kind what it said, how often, and how sure its cause is', async () => {
    press('F');
    screenText(store);
    await vi.advanceTimersByTimeAsync(10_000);
    store.resize(200, 30);
    const text = screenText(store).join('\n');
    expect(text).toContain('CUDA out of memory. Tried to allocate 119.50 GiB');
    expect(text).toContain('40 of 120 runs');
    expect(text).toMatch(/With batch_size=64: 40 of 40 runs, else 0 of the 78 others \(p < 1e-\d+\)\./);
  });

  it('open an example with Enter, and go with Esc as they came', () => {
    press('/', ...'bs', 'enter');
    const before = list();
    press('F', 'enter');
    expect(list().join('\n')).toContain('✗ A_bs64_2');
    press('escape', 'escape');
    expect(list().slice(0, -2)).toEqual(before.slice(0, -2));
    press('F', 'F');
    expect(list().slice(0, -2)).toEqual(before.slice(0, -2));
  });

  it('are refused where there are none', () => {
    store.close();
    const { fleet, files } = memorySweep();
    for (const run of fleet.runs.values()) fleet.change(run.id, { state: 'done', reason: null });
    store = aWindow({ fleet, files, now });
    press('F');
    expect(list().join('\n')).toContain('No run has failed, and nothing is wrong with any.');
  });

  it('come by themselves where runs are not read yet, and until then it says so', () => {
    store.close();
    const { fleet, files } = memorySweep();
    const [first] = fleet.runs.keys();
    for (const run of fleet.runs.values()) fleet.change(run.id, { state: 'done', reason: null });
    fleet.status = { ...fleet.status, unread: 30 };
    store = aWindow({ fleet, files, now });
    store.resize(100, 20);
    press('F');
    expect(list().join('\n')).toContain('No failure so far, but 30 of the runs are not read yet.');
    const publish = () => {
      fleet.publish();
      vi.advanceTimersByTime(5000);
    };
    fleet.status = { ...fleet.status, unread: 0 };
    publish();
    expect(list().join('\n')).toContain('No run has failed, and nothing is wrong with any.');
    fleet.change(first!, { health: 'diverged', healthReason: 'loss 1e22' });
    publish();
    expect(list().join('\n')).toMatch(/1 diverged.* 1 /);
    press('escape');
    expect(list().join('\n')).toContain('reward resolution');
  });
});
