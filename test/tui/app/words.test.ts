import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanText } from '../../../src/text/display-text.js';
import { textWidth } from '../../../src/text/display-width.js';
import { shortDuration } from '../../../src/text/duration.js';
import { wrapWithin } from '../../../src/text/wrap.js';
import { sparkline } from '../../../src/tui/widgets/run-list/list-cells.js';
import { progressBar } from '../../../src/tui/widgets/line-parts.js';
import { runReason } from '../../../src/tui/model/state-look.js';
import { plainText } from '../../../src/tui/surface/span.js';
import { ticks } from '../../../src/tui/widgets/chart/chart-axis.js';
import { aRun } from '../simulated-fleet.js';

describe('durations', () => {
  it.each([
    [-5, '0s'],
    [42_900, '42s'],
    [192_000, '3m12s'],
    [3_840_000, '1h04m'],
    [183_600_000, '2d03h'],
    [86_400_000 * 120, '120d'],
  ])('%i ms is %s', (ms, text) => {
    expect(shortDuration(ms)).toBe(text);
  });
});

describe('ticks', () => {
  it.each<[number, number, number, number[]]>([
    [0, 10, 5, [0, 5, 10]],
    [0, 10, 6, [0, 2, 4, 6, 8, 10]],
    [0.11, 0.47, 4, [0.2, 0.3, 0.4]],
    [-3, 3, 4, [-2, 0, 2]],
    [5, 5, 4, []],
    [0, Infinity, 4, []],
  ])('from %d to %d, at most %i: %j', (low, high, most, expected) => {
    expect(ticks(low, high, most)).toEqual(expected);
  });

  it('are never too many and never outside', () => {
    const bound = fc.double({ noNaN: true, min: -1e9, max: 1e9 });
    fc.assert(
      fc.property(bound, bound, fc.integer({ min: 1, max: 20 }), (a, b, most) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        const marks = ticks(low, high, most);
        const slack = (high - low) * 1e-6;
        expect(marks.length).toBeLessThanOrEqual(most);
        for (const mark of marks) expect(mark >= low - slack && mark <= high + slack).toBe(true);
      }),
    );
  });
});

describe('bars and sparklines', () => {
  it.each([
    [0, '────'],
    [0.1, '╸───'],
    [0.5, '━━──'],
    [0.99, '━━━━'],
    [7, '━━━━'],
    [null, '────'],
  ])('draws %s as %s', (fraction, bar) => {
    expect(plainText(progressBar(fraction, 4, 'busy'))).toBe(bar);
  });

  it.each<[(number | null)[], number, string]>([
    [[0, 1, 2, 3, 4, 5, 6], 7, '▁▂▃▄▅▆▇'],
    [[0, 6], 4, '▁▇  '],
    [[1, null, 1], 3, '▄ ▄'],
    [[], 3, '   '],
    [[0, 0, 0, 6, 6, 6], 2, '▁▇'],
  ])('draws %j in %i columns as %j', (values, width, text) => {
    expect(sparkline(values, width)).toBe(text);
  });
});

describe('foreign text', () => {
  it.each([
    ['\u001b[31mred\u001b[0m', 'red'],
    ['two\nlines', 'two lines'],
    ['\u001b]0;title\u0007text', 'text'],
    ['bell\u0007', 'bell'],
  ])('%j becomes %j', (text, clean) => {
    expect(cleanText(text)).toBe(clean);
  });
});

describe('wrapping', () => {
  it('breaks at spaces, and cuts the last line', () => {
    expect(wrapWithin('the quick brown fox jumps over', 11, 2)).toEqual(['the quick', 'brown fox …']);
    expect(wrapWithin('unbreakable', 4, 5)).toEqual(['unbr', 'eaka', 'ble']);
    expect(wrapWithin('', 4, 2)).toEqual(['']);
  });

  it('never makes a line too wide or too many lines, and always comes to an end', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '你', 'e\u0301', '\u0301', '\u200b'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 20 }), fc.integer({ min: 1, max: 5 }), (words, width, most) => {
        const lines = wrapWithin(words, width, most);
        expect(lines.length).toBeLessThanOrEqual(most);
        for (const line of lines) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

describe('the reason of a run', () => {
  const failed = { state: 'failed', exit: { class: 'failed', code: 1, signal: null } } as const;
  it.each<[string, Parameters<typeof aRun>[1], string | undefined]>([
    ['a waiting run says why', { reason: 'waiting for a slot' }, 'waiting for a slot'],
    ['or at least that it waits', {}, 'queued'],
    ['a failed run: exit code and last words', { ...failed, reason: 'ValueError: x' }, 'exit 1 · ValueError: x'],
    ['not saying the same thing twice', { ...failed, reason: 'exit 1: boom' }, 'exit 1: boom'],
    [
      'a run killed by a signal',
      { state: 'failed', exit: { class: 'signal', code: null, signal: 'SIGSEGV' } },
      'SIGSEGV',
    ],
    ['a stopping run counts down', { state: 'stopping', killAt: 8_500 }, 'stopping · SIGKILL in 8s'],
    [
      'a run that is tried again counts down',
      { reason: 'exit 1, retry 2 of 3', retryAt: 8_500 },
      'again in 8s · exit 1, retry 2 of 3',
    ],
    [
      'a run that waits for its start time counts down, behind that time',
      { reason: 'starts at 22:00', startsAt: 11_521_000 },
      'starts at 22:00, in 3h12m',
    ],
    ['a paused run says so', { state: 'paused' }, 'paused'],
    [
      'a paused run says when its window opens',
      { state: 'paused', reason: 'continues at 20:00' },
      'paused · continues at 20:00',
    ],
    ['a run out of memory', { state: 'failed', exit: { class: 'oom', code: null, signal: null } }, 'out of memory'],
    [
      'a warning is shown, whatever else',
      { state: 'done', warning: '2 processes left behind' },
      '2 processes left behind',
    ],
    ['a warning follows the reason', { state: 'killed', warning: 'pid 7 lives' }, 'killed · pid 7 lives'],
    ['a killed run says so', { state: 'killed' }, 'killed'],
    ['a running run needs none', { state: 'running', reason: 'x' }, undefined],
  ])('%s', (_, over, text) => {
    expect(runReason(aRun('A', over), 1000)?.text).toBe(text);
  });
});
