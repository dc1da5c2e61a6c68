import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WindowStore } from '../../../src/tui/app/window-store.js';
import { lineWidth } from '../../../src/tui/surface/span.js';
import { aWindow, screenText, frameOf } from '../frames.js';
import { knownSummary } from '../known-summary.js';
import { memorySweep } from '../simulated-fleet.js';

let store: WindowStore;
beforeEach(() => {
  vi.useFakeTimers();
  store = aWindow(memorySweep(), { summary: knownSummary(() => ['setting  bits/episode', 'A_B8  0.0121']) });
});
afterEach(() => {
  store.close();
  vi.useRealTimers();
});

/** The screen after some keys, once the files of the selection have been read. */
function shown(width: number, height: number, ...keys: string[]): string {
  store.resize(width, height);
  frameOf(store);
  keys.forEach((key) => store.press(key));
  frameOf(store);
  vi.advanceTimersByTime(500);
  return `\n${screenText(store).join('\n')}\n`;
}

describe('the jobs screen', () => {
  it('at 120 × 40: tree, curve, parameters and log', () => {
    expect(shown(120, 40, '3', 'down', 'down', 'down', 'down')).toMatchSnapshot();
  });

  it('at 200 × 60: a group with its curves by subgroup', () => {
    expect(shown(200, 60, '2')).toMatchSnapshot();
  });

  it.each([
    { size: [200, 60], columns: 1 },
    { size: [320, 30], columns: 2 },
  ] as const)('has as many charts as there is room for: $columns beside each other at $size', ({ size, columns }) => {
    const titles = /── (test\/bits_known|env\/reward) ─/g;
    const rows = shown(size[0], size[1], '1')
      .split('\n')
      .map((row) => [...row.matchAll(titles)].length);
    expect(rows.filter((count) => count > 0)).toEqual(columns === 1 ? [1, 1] : [2]);
  });

  it('at 80 × 24: the list alone, a failed run with its reason', () => {
    expect(shown(80, 24, '/', ...'N64', 'enter')).toMatchSnapshot();
  });

  it('at 90 × 34: the curve below the list', () => {
    expect(shown(90, 34, '4')).toMatchSnapshot();
  });

  it('at 40 × 10: still usable', () => {
    expect(shown(40, 10, '2', 'down', 'down')).toMatchSnapshot();
  });

  it('says so when there is no room at all', () => {
    expect(shown(39, 9)).toContain('39×9 is too small');
  });
});

describe('other screens', () => {
  it('opens a run with its charts and its log', () => {
    expect(shown(140, 36, '2', 'down', 'down', 'enter')).toMatchSnapshot();
  });

  it('opens a group with its charts and the table of its runs', () => {
    expect(shown(140, 36, '4', 'enter')).toMatchSnapshot();
  });

  it.each<[string, string[]]>([
    ['the keys', ['?']],
    ['the metrics', ['m', 'down']],
    ['the chart menu', ['a', 'down']],
    ['the filter prompt', ['/', ...'status:do']],
    ['the question before a kill', ['3', 'down', 'down', 'down', 'down', 'k']],
  ])('asks and tells over the list: %s', (_, keys) => {
    expect(shown(100, 32, ...keys)).toMatchSnapshot();
  });
});

describe('every screen', () => {
  const keys = [
    'down',
    'up',
    'pagedown',
    'end',
    'left',
    'right',
    'enter',
    'escape',
    '?',
    'm',
    's',
    'a',
    '/',
    'k',
    '2',
    'x',
  ];

  it('has exactly the size of the terminal, whatever is on it', { tags: ['long'] }, () => {
    const size = fc.record({ width: fc.integer({ min: 1, max: 400 }), height: fc.integer({ min: 1, max: 120 }) });
    fc.assert(
      fc.property(size, fc.array(fc.constantFrom(...keys), { maxLength: 12 }), ({ width, height }, pressed) => {
        store.resize(width, height);
        pressed.forEach((key) => store.press(key));
        const lines = frameOf(store);
        vi.advanceTimersByTime(100);
        expect(lines).toHaveLength(height);
        expect(lines.filter((line) => lineWidth(line) !== width)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });
});
