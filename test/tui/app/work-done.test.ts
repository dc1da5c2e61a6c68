import { afterEach, describe, expect, it, vi } from 'vitest';
import { mountApp } from '../../../src/tui/app/mount-app.js';
import { Cells } from '../../../src/tui/surface/cells.js';
import { Surface } from '../../../src/tui/surface/surface.js';
import { themeFor } from '../../../src/tui/surface/theme.js';
import { TreePainter } from '../../../src/tui/surface/ink-tree.js';
import { LogInMemory } from '../../logs/log-bytes.js';
import { aWindow } from '../frames.js';
import { aRun, aSweep, SimulatedFleet } from '../simulated-fleet.js';
import { PATIENCE_MS } from '../../patience.js';

const now = 1_000_000;
const size = { width: 120, height: 40 };
const files = {
  metrics: () => ({
    refresh: () => false,
    keys: () => [],
    series: () => ({ x: new Float64Array(), y: new Float64Array() }),
  }),
  logTail: () => [],
  openLog: () => new LogInMemory(),
  runDetails: () => null,
};

/** Running runs in groups of forty, the first of them unfolded. */
function aFleet(count: number): SimulatedFleet {
  const groups = Array.from({ length: count / 40 }, (_, at) => ({ name: `group${at}`, title: null, needs: [] }));
  const runs = Array.from({ length: count }, (_, at) =>
    aRun(`run_${at}`, {
      ...{ group: `group${Math.floor(at / 40)}`, state: 'running', attempt: 1, startedAt: now - 1000, progress: 0.5 },
      ...{ metrics: { loss: at }, parameters: { seed: at } },
    }),
  );
  return new SimulatedFleet([aSweep({ groups, show: ['loss'] })], runs);
}

const closers: (() => void)[] = [];
afterEach(() => {
  closers.splice(0).forEach((close) => close());
  vi.restoreAllMocks();
});

/** Lets React's microtasks, the steps of the news, and the frame after them happen. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A mounted window, and what is done for its frames from now on. */
async function watched(fleet: SimulatedFleet) {
  const store = aWindow({ fleet, files, now });
  store.resize(size.width, size.height);
  const written: string[] = [];
  const target = { write: (text: string) => written.push(text), writableLength: 0, once: () => undefined };
  const surface = new Surface(target, themeFor({ colours: 256, ascii: false }), size, (error) => {
    throw error as Error;
  });
  const mounted = mountApp({ store, surface, onError: () => undefined });
  closers.push(() => {
    mounted.unmount();
    store.close();
  });
  store.press('right');
  // Until the selection has rested long enough for its files to have been read.
  await vi.waitUntil(() => store.model().detail.isLoaded, PATIENCE_MS);
  await settled();
  const commits = vi.spyOn(TreePainter.prototype, 'paint');
  const writes = vi.spyOn(Cells.prototype, 'write');
  written.length = 0;
  const painted = (): number =>
    new Set(writes.mock.calls.map(([row], at) => `${row} ${(writes.mock.contexts[at] as Cells).height}`)).size;
  return { store, written, commits, painted };
}

describe('the work for a frame', () => {
  it('is no commit and no new list for a key that moves the cursor', async () => {
    const { store, commits, written } = await watched(aFleet(1000));
    const { rows } = store.model();
    store.press('down');
    await settled();
    expect(written.length).toBe(1);
    expect(commits).not.toHaveBeenCalled();
    expect(store.model().rows).toBe(rows);
  });

  it('is done before any other turn where it is the answer to a key', async () => {
    const { store, written } = await watched(aFleet(40));
    const order: string[] = [];
    setImmediate(() => order.push(`another turn, after ${written.length} frame`));
    store.press('down');
    await settled();
    expect(order).toEqual(['another turn, after 1 frame']);
    expect(written.length).toBe(1);
  });

  it('is nothing at all for a publication that changes nothing that is shown', async () => {
    const fleet = aFleet(1000);
    const { commits, painted, written } = await watched(fleet);
    fleet.change('abcd/run_999', { pid: 77 });
    fleet.publish();
    await settled();
    expect(commits).not.toHaveBeenCalled();
    expect(painted()).toBe(0);
    expect(written).toEqual([]);
  });

  it('is no commit and a handful of rows for one changed run among ten thousand', async () => {
    const fleet = aFleet(10_000);
    const { store, commits, painted, written } = await watched(fleet);
    const before = new Set(store.model().rows);
    fleet.change('abcd/run_3', { progress: 0.9, metrics: { loss: 0.123 } });
    fleet.publish();
    await settled();
    expect(written.length).toBe(1);
    expect(commits).not.toHaveBeenCalled();
    // The run and its group in the list, and the heading of the group beside it.
    expect(painted()).toBeLessThanOrEqual(4);
    expect(store.model().rows.filter((row) => !before.has(row)).length).toBe(2);
  });
});
