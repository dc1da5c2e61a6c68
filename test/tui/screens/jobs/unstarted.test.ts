import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import type { RunFilesPort, RunSummary } from '../../../../src/tui/state/port.js';
import { aWindow, frameOf, screenText } from '../../frames.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../../simulated-fleet.js';

let open: WindowStore[] = [];
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  open.forEach((store) => store.close());
  open = [];
  vi.useRealTimers();
});

const reason = 'held: 3 runs in a row failed within 10 s of starting; `release` them once the cause is fixed';
const held = (name: string, over: Partial<RunSummary> = {}) =>
  aRun(name, {
    ...{ state: 'held', heldBy: 'breaker', reason, argv: ['python', 'train.py', '--lr=1'] },
    ...{ parameters: { lr: 1, seed: name.length }, ...over },
  });

/** As of a directory in which there is no file of metrics. */
const files: RunFilesPort = {
  ...memorySweep().files,
  runDetails: () => null,
  metrics: () => ({
    refresh: () => false,
    keys: () => [],
    series: () => ({ x: new Float64Array(), y: new Float64Array() }),
    describe: () => ({
      ...{ sources: [], passedOver: [], refused: [], fix: null },
      folders: 1,
      isCut: false,
      lookedFor: ['metrics.jsonl'],
    }),
  }),
};

/** The window on these runs after some keys, once the files have been read. */
function shown(runs: readonly RunSummary[], width: number, height: number, ...keys: string[]): string {
  const fleet = new SimulatedFleet([aSweep({ groups: [{ name: 'A', title: null, needs: [] }] })], runs);
  const store = aWindow({ fleet, files, now: 1_000_000 });
  open.push(store);
  store.resize(width, height);
  for (const key of keys) {
    frameOf(store);
    store.press(key);
  }
  frameOf(store);
  vi.advanceTimersByTime(2000);
  return screenText(store).join('\n');
}

describe('a run that has not begun', () => {
  it.each([
    ['beside the list', 140, 40, ['down']],
    ['below it', 90, 40, ['down']],
    ['opened', 120, 40, ['down', 'enter']],
  ] as const)('shows why, the key that lets it go, and what it will be: %s', (where, width, height, keys) => {
    const text = shown([held('A_1')], width, height, ...keys);
    expect(text).toContain('held: 3 runs in a row failed within 10 s of starting');
    expect(text).toMatch(where === 'opened' ? /h release/ : /h releases it/);
    expect(text).toContain('python train.py --lr=1');
    expect(text).toMatch(/lr +1 .*seed +3/);
    expect(text).not.toMatch(/metrics yet|no values|no output|once the cause is fixed/i);
  });

  it('is told of together with others that wait for the same', () => {
    const text = shown(
      ['A_1', 'A_22', 'A_333', 'A_4444'].map((name) => held(name)),
      140,
      40,
      'down',
    );
    expect(text).toContain('▸ ‖ 4 held: 3 runs in a row failed within 10 s of starting');
    expect(text).toMatch(/H releases them/);
    expect(text).toMatch(/seed 3 4 5 6 {2}lr 1/);
    expect(text).not.toMatch(/metrics yet|no values/i);
  });

  it('has curves and log again once it has begun', () => {
    const text = shown([held('A_1', { attempt: 1 })], 140, 40, 'down');
    expect(text).toMatch(/no values of|metrics yet/i);
  });
});
