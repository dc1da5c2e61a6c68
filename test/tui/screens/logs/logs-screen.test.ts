import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../../src/tui/app/window-store.js';
import type { RunFilesPort } from '../../../../src/tui/state/port.js';
import { aWindow, screenText } from '../../frames.js';
import { aRun, aSweep, memorySweep, SimulatedFleet } from '../../simulated-fleet.js';

const groups = [{ name: 'A', title: null, needs: [] }];
const up = { state: 'running', attempt: 1 } as const;
const runs = [
  ...['A_0', 'A_1', 'A_2', 'A_3', 'A_4'].map((name) => aRun(name, up)),
  aRun('A_ended', { state: 'failed', attempt: 1, reason: 'ValueError: no' }),
  aRun('A_waits'),
];

let store: WindowStore;
let read: string[];
const written: Record<string, string[]> = {};
const files: RunFilesPort = {
  ...memorySweep().files,
  logTail: (directory) => {
    read.push(directory);
    return written[directory] ?? [`begun ${directory}`, 'x'.repeat(70)];
  },
};

beforeEach(() => {
  vi.useFakeTimers();
  store = aWindow({ fleet: new SimulatedFleet([aSweep({ groups })], runs), files, now: 1_000_000 });
});
afterEach(() => {
  store.close();
  vi.useRealTimers();
});

/** The screen after these keys, once everything has been read. */
function shownAfter(keys: readonly string[], width = 120, height = 30): string[] {
  store.resize(width, height);
  for (const key of keys) store.press(key);
  read = [];
  screenText(store);
  vi.advanceTimersByTime(700);
  return screenText(store);
}

const rulesOf = (lines: readonly string[]) => lines.filter((line) => /^[━─]{2} . A_/.test(line));

describe('several logs side by side', () => {
  it('are those of the marked runs, four at most, two beside each other', () => {
    const lines = shownAfter(['*', 'L']);
    expect(rulesOf(lines)).toEqual([
      expect.stringMatching(/^━━ ● A_0 ━+ running +── ● A_1 ─+ running/),
      expect.stringMatching(/^── ● A_2 ─+ running +── ● A_3 ─+ running/),
    ]);
    expect(lines).toContainEqual(expect.stringMatching(/^begun \/runs\/abcd\/A_0 +begun \/runs\/abcd\/A_1/));
    expect(lines.at(-2)).toContain('The logs of 4 of the 6 marked runs.');
    expect(new Set(read)).toEqual(new Set(['A_0', 'A_1', 'A_2', 'A_3'].map((name) => `/runs/abcd/${name}`)));
  });

  it('are below each other where the terminal is narrow, and fill it', () => {
    expect(rulesOf(shownAfter(['*', 'L'], 80)).map((line) => line.slice(3, 8))).toEqual([
      '● A_0',
      '● A_1',
      '● A_2',
      '● A_3',
    ]);
    const three = shownAfter(['escape', '*', 'down', 'space', 'down', 'space', 'down', 'space', 'L'], 121);
    expect(rulesOf(three).map((line) => line.length)).toEqual([120, 120]);
    expect(rulesOf(three)[1]).toMatch(/^── ● A_2 ─{100,} running$/);
  });

  it('are, without marks, those of the run and of what runs beside it', () => {
    const lines = shownAfter(['end', 'up', 'L']);
    expect(rulesOf(lines)[0]).toMatch(/^━━ ✗ A_ended ━+ failed · ValueError: no +── ● A_0/);
  });

  it('follow what is written, and are read no more once they are left', () => {
    shownAfter(['*', 'L']);
    written['/runs/abcd/A_3'] = ['later'];
    vi.advanceTimersByTime(1000);
    expect(screenText(store)).toContainEqual(expect.stringContaining('later'));
    delete written['/runs/abcd/A_3'];
    expect(shownAfter(['escape']).join()).not.toContain('━━');
    read = [];
    vi.advanceTimersByTime(5000);
    expect(read.filter((directory) => directory.endsWith('A_3'))).toEqual([]);
  });

  it('have a cursor, whose run Enter opens', () => {
    expect(rulesOf(shownAfter(['*', 'L', 'right', 'down']))[1]).toMatch(/^━━ ● A_2/);
    store.press('enter');
    expect([store.model().ui.screen.kind, store.model().ui.selected]).toEqual(['run', 'abcd/A_2']);
  });

  it('are refused where nothing has begun', () => {
    shownAfter(['end', 'L']);
    expect(store.model().ui.screen.kind).toBe('logs');
    const fleet = new SimulatedFleet([aSweep({ groups })], [aRun('A_waits'), aRun('A_too')]);
    store.close();
    store = aWindow({ fleet, files, now: 1_000_000 });
    store.press('L');
    expect(store.model().ui.note?.text).toBe('None of these runs has begun, so there is no log.');
  });
});
