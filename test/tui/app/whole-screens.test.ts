import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { property } from '../../tiers.js';
import type { WindowStore } from '../../../src/tui/app/window-store.js';
import { lineWidth, type Line } from '../../../src/tui/surface/span.js';
import { aWindow, screenText, frameOf } from '../frames.js';
import { aSweep, memorySweep, SimulatedFleet } from '../simulated-fleet.js';

let store: WindowStore;
beforeEach(() => {
  vi.useFakeTimers();
  store = aWindow(memorySweep());
});
afterEach(() => {
  store.close();
  vi.useRealTimers();
});

/** The screen after some keys, once the files have been read. */
function shown(width: number, height: number, ...keys: string[]): string {
  store.resize(width, height);
  frameOf(store);
  for (const key of keys) {
    store.press(key);
    frameOf(store);
    vi.advanceTimersByTime(200);
  }
  frameOf(store);
  vi.advanceTimersByTime(1500);
  return `\n${screenText(store).join('\n')}\n`;
}

/** The line of the screen that says this. */
function lineOf(text: string, words: string): string {
  return text.split('\n').find((line) => line.includes(words)) ?? '';
}

describe('the compare screen', () => {
  it('beside each other: what differs, values and deltas', () => {
    expect(shown(120, 26, '2', 'c', 'right', 'b')).toMatchSnapshot();
  });

  it('below each other when they are many', () => {
    const most = (group: string) => [group, 'space', 'down', 'down', 'space'];
    expect(shown(100, 24, ...most('home'), ...most('2'), 'c', 'down', 'b')).toMatchSnapshot();
  });

  it('a heatmap of each metric, and the axes to choose', () => {
    expect(shown(100, 30, '2', 'c', 'tab', 'tab', 'x')).toMatchSnapshot();
  });

  it('fits the smallest window', () => {
    expect(shown(40, 10, 'home', 'c')).toMatchSnapshot();
  });

  it('goes through its views with Tab, and its values with c', () => {
    expect(shown(120, 40, 'home', 'c')).toContain('compare · table');
    expect(shown(120, 40, 'tab')).toContain('compare · overlay');
    expect(shown(120, 40, 'tab')).toContain('compare · heatmap');
    expect(lineOf(shown(120, 40, 'tab', 'c'), 'compare · table')).toContain('best');
    expect(lineOf(shown(120, 40, 'c'), 'compare · table')).toContain('mean of last 10');
    expect(lineOf(shown(120, 40, 'c'), 'compare · table')).toContain('auc');
    // The curves have no cursor, so there is no value at it.
    expect(lineOf(shown(120, 40, 'c'), 'compare · table')).toContain('last ·');
    expect(shown(120, 40, 'tab', 'left', 'tab', 'tab', 'c', 'c', 'c', 'c')).toContain('at episodes 80000');
  });

  function judgedBy(name: string): void {
    const { fleet, files, now } = memorySweep();
    fleet.sweeps.set('abcd', { ...fleet.sweeps.get('abcd')!, objective: { name, goal: 'maximize' } });
    store.close();
    store = aWindow({ fleet, files, now });
  }

  it('shows both ends where the sweep says what is good, and that is another metric; and colours no difference', () => {
    judgedBy('another');
    const text = shown(120, 40, 'home', 'c', 'c', 'b');
    expect(lineOf(text, 'test/bits_known')).toMatch(/\d…\d/);
    expect(text.split('\n').slice(3).join('\n')).not.toContain('●');
    expect(tonesOf('to the baseline')).not.toContain('good');
  });

  it('marks the best of each metric, and orders by the first of them, the best first or last', () => {
    judgedBy('test/bits_known');
    const before = shown(120, 40, '2', 'c');
    expect(lineOf(before, 'test/bits_known ↑')).toMatch(/9\.746 ±0\.0492 +● 11\.69/);
    const columns = (text: string) => lineOf(text, 'N16').trim().split(/ +/);
    expect(columns(before)).toEqual(['N16', 'N64', 'N256', 'N1024', 'N4096']);
    const sorted = shown(120, 40, 's');
    expect(columns(sorted)).toEqual(['N4096', 'N1024', 'N256', 'N64', 'N16']);
    expect(sorted).toContain('Ordered by test/bits_known, the best first.');
    expect(columns(shown(120, 40, 's'))).toEqual(['N16', 'N64', 'N256', 'N1024', 'N4096']);
  });

  it('knows better from worse where the sweep says it', () => {
    judgedBy('test/bits_known');
    const text = shown(120, 40, '2', 'c', 'b');
    expect(text).toContain('test/bits_known ↑');
    expect(tonesOf('to the baseline')).toContain('good');
    expect(lineOf(shown(120, 40, 'c'), 'test/bits_known')).not.toContain('…');
  });

  it('pins what the cursor is on, goes back, and opens what it is on', () => {
    expect(shown(120, 40, 'home', 'c', 'right', 'right', 'b')).toContain('baseline B8');
    expect(shown(120, 40, 'b')).toContain('b pins a baseline');
    expect(shown(120, 40, 'enter')).toContain('B8');
    expect(shown(120, 40, 'escape', 'escape')).toContain('A  reward resolution');
  });

  it.each<[string, string[], RegExp]>([
    ['nothing to compare with', ['down', 'down', 'c'], /Mark two runs or groups first: space/],
    ['a key of the list', ['c', 'k'], /k acts on the list of runs; Esc goes back/],
    ['beyond the last', ['c', 'left'], /This is the first one/],
  ])('refuses %s and says why', (_, keys, why) => {
    expect(shown(120, 40, '1', ...keys)).toMatch(why);
  });
});

describe('the sweep screen', () => {
  it('of any sweep: groups, slowest runs, failures', () => {
    expect(shown(120, 40, 'S')).toMatchSnapshot();
  });

  it('scrolls to its end and not beyond', () => {
    expect(shown(80, 24, 'S')).toMatch(/more lines ↓/);
    const end = shown(80, 24, 'end');
    expect(end).toContain('B_nsweep_single_B8_N64_s2');
    expect(end).toContain('the end');
    expect(shown(80, 24, 'pagedown')).toBe(end);
  });

  it('has a word for a sweep without runs', () => {
    store.close();
    store = aWindow({ fleet: new SimulatedFleet([aSweep()], []), files: memorySweep().files, now: 0 });
    expect(shown(80, 24, 'S')).toContain('The sweep has no runs yet.');
  });
});

/** The tones on the line of the screen that says this. */
function tonesOf(words: string): string[] {
  const isIt = (line: Line): boolean =>
    line
      .map(({ text }) => text)
      .join('')
      .includes(words);
  return frameOf(store)
    .filter(isIt)
    .flatMap((line) => line.map(({ tone }) => tone));
}

describe('both', () => {
  property('have exactly the size of the terminal, whatever is pressed', 25, (examples) => {
    const keys = [
      'c',
      'S',
      'tab',
      'b',
      'x',
      'enter',
      'escape',
      'left',
      'right',
      'down',
      'end',
      'space',
      '*',
      '2',
      'm',
      'a',
    ];
    const size = fc.record({ width: fc.integer({ min: 40, max: 220 }), height: fc.integer({ min: 10, max: 70 }) });
    fc.assert(
      fc.property(size, fc.array(fc.constantFrom(...keys), { maxLength: 10 }), ({ width, height }, pressed) => {
        store.resize(width, height);
        pressed.forEach((key) => store.press(key));
        const lines = frameOf(store);
        vi.advanceTimersByTime(200);
        expect(lines).toHaveLength(height);
        expect(lines.filter((line) => lineWidth(line) !== width)).toEqual([]);
      }),
      examples,
    );
  });
});
