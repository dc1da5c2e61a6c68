import { afterEach, describe, expect, it } from 'vitest';
import type { WindowStore } from '../../../src/tui/app/window-store.js';
import { aWindow, screenText } from '../frames.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../simulated-fleet.js';

let open: WindowStore[] = [];
afterEach(() => {
  open.forEach((store) => store.close());
  open = [];
});

/** The window of `view` on one run of another program, after some keys. */
function shown(...keys: string[]): string {
  const metrics = { loss: 0.25, _runtime: 12, _timestamp: 1.7e9, 'system/cpu': 80 };
  const run = aRun('A_foreign', { state: 'done', startedAt: 1000, endedAt: 9000, metrics });
  const fleet = new SimulatedFleet([aSweep({ groups: [{ name: 'A', title: null, needs: [] }] })], [run]);
  fleet.status = { ...fleet.status, cpu: { slots: 0, busy: 0 }, readOnly: 'These files are only viewed.' };
  const store = aWindow({ fleet, files: memorySweep().files, now: 1_000_000 });
  open.push(store);
  store.resize(160, 50);
  screenText(store);
  keys.forEach((key) => store.press(key));
  return screenText(store).join('\n');
}

describe('a window on runs of other programs', () => {
  it('has no verbs that cannot be, neither in its help nor in its palette', () => {
    const [help, palette] = [shown('?'), shown(':')];
    expect(help).toMatch(/copy the command/);
    expect(help).not.toMatch(/\bkill\b|\bhold\b|\bresume\b|add a slot|\bdrain\b/);
    expect(palette).toMatch(/\bexport\b/);
    expect(palette).not.toMatch(/\bkill\b|\bhold\b|\bresume\b|\bslots\b|\bundrain\b|\bstar\b/);
  });

  it('lists curves in its menu of metrics, and finds what loggers keep for themselves by name', () => {
    expect(shown('m')).toMatch(/loss/);
    expect(shown('m')).not.toMatch(/_runtime|_timestamp|system\/cpu/);
    for (const [typed, name] of [
      ['_run', '_runtime'],
      ['system', 'system/cpu'],
    ] as const)
      // prettier-ignore
      expect(shown('m', ...typed)).toContain(name);
  });

  it('says nothing of slots that it does not know', () => {
    expect(shown('g')).not.toMatch(/0 of 0|no slots|adds one/);
  });
});
