import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { initialLogChoice, type LogChoice, type LogPlace } from '../../../../src/tui/state/run-choice.js';
import { LogWindow } from '../../../../src/tui/widgets/log/log-viewer.js';
import { logPane, logRoom } from '../../../../src/tui/widgets/log/log-pane.js';
import { type LogPage, placeAfter, rowsOf, shownText, topOf } from '../../../../src/tui/widgets/log/log-scroll.js';
import { textWidth } from '../../../../src/text/display-width.js';
import { lineWidth, plainText } from '../../../../src/tui/surface/span.js';
import { LogInMemory } from '../../../logs/log-bytes.js';

function pageOf(log: string | Uint8Array, place: LogPlace = { kind: 'end' }, hasFailed = false): LogPage {
  const window = new LogWindow(new LogInMemory(Buffer.from(log)));
  while (window.improve(place, hasFailed));
  return window.page!;
}

const aLine = (text: string) => ({ offset: 0, end: text.length, text, endsLine: true, isWhole: true });
const numbered = (count: number) => Array.from({ length: count }, (_, at) => `line ${at}\n`).join('');

function shown(page: LogPage | null, over: Partial<LogChoice> = {}, size = { width: 40, height: 6 }): string[] {
  const log = { page, choice: { ...initialLogChoice, ...over }, progress: null, isLive: true };
  return logPane(log, size).map((line) => plainText(line).trimEnd());
}

const places = fc.oneof(
  fc.constant<LogPlace>({ kind: 'opening' }),
  fc.constant<LogPlace>({ kind: 'end' }),
  fc.record({ kind: fc.constant('top' as const), offset: fc.nat(3000), row: fc.nat(9) }),
  fc.record({ kind: fc.constant('around' as const), offset: fc.nat(3000) }),
);
const logs = fc.oneof(
  fc.uint8Array({ maxLength: 2000 }),
  fc.array(fc.string({ unit: 'binary', maxLength: 90 }), { maxLength: 30 }).map((lines) => lines.join('\n')),
  fc
    .array(fc.constantFrom('你好 ', 'e\u0301', '👩‍👧 ', 'word ', '\t', '\r', '\u001b[31m', '\n', 'שלום '), {
      maxLength: 200,
    })
    .map((parts) => parts.join('')),
);

describe('the pane of a log', () => {
  it('has no more than its rows, of exactly its columns, whatever bytes are in the log', () => {
    const size = fc.record({ width: fc.integer({ min: 8, max: 90 }), height: fc.integer({ min: 2, max: 30 }) });
    const look = fc.record({ place: places, wraps: fc.boolean(), search: fc.constantFrom('', 'o', '[', '.') });
    fc.assert(
      fc.property(logs, look, size, fc.boolean(), (bytes, over, pane, hasFailed) => {
        const page = pageOf(bytes, over.place, hasFailed);
        const log = { page, choice: { ...initialLogChoice, ...over }, progress: null, isLive: true };
        const [rule, ...lines] = logPane(log, pane);
        expect(lines.length).toBeLessThan(pane.height);
        expect(lineWidth(rule!)).toBe(pane.width);
        if (page.lines.length > 0) expect(lines.filter((line) => lineWidth(line) !== pane.width)).toEqual([]);
        expect(lines.map(plainText).join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
      { numRuns: 300 },
    );
  });

  it('says what there is when there are no lines', () => {
    expect(shown(null)[1]).toBe('  reading…');
    expect(shown(pageOf(''))[1]).toBe('  no output yet');
    const ended = { page: pageOf(''), choice: initialLogChoice, progress: null, isLive: false };
    expect(plainText(logPane(ended, { width: 40, height: 6 })[1]!).trimEnd()).toBe('  no output');
  });

  it('follows the end, and says so', () => {
    const [rule, ...lines] = shown(pageOf(numbered(30)), { place: { kind: 'end' } });
    expect(rule).toContain('following');
    expect(lines).toEqual(['  line 25', '  line 26', '  line 27', '  line 28', '  line 29']);
  });

  it('tells the number of the lowest line where it is not at the end', () => {
    const place: LogPlace = { kind: 'top', offset: 'line 0\n'.length * 2, row: 0 };
    const [rule, first] = shown(pageOf(numbered(30), place), { place });
    expect(first).toBe('  line 2');
    expect(rule).toContain('line 7');
  });

  it('points at the line that says why the run failed, with what led to it above', () => {
    const log = `${numbered(30)}Traceback (most recent call last):\n  File "a.py"\nValueError: loss is NaN\n`;
    const lines = shown(pageOf(log, { kind: 'opening' }, true));
    expect(lines).toContain('▸ ValueError: loss is NaN');
    expect(lines.indexOf('▸ ValueError: loss is NaN')).toBeGreaterThan(2);
  });
});

describe('what matches in a pane', () => {
  const grounds = (page: LogPage, search: string) =>
    logPane({ page, choice: { ...initialLogChoice, search }, progress: null, isLive: true }, { width: 80, height: 6 })
      .flat()
      .filter(({ ground }) => ground === 'selected')
      .map(({ text }) => text);

  it('stands out, unless it takes years to tell', () => {
    const page = pageOf(`${'a'.repeat(60)}!\nbaab\n`);
    expect(grounds(page, 'aab')).toEqual(['aab']);
    expect(grounds(page, '(a+)+$')).toEqual([]);
    expect(shown(page, { search: '(a+)+$' }).at(-1)).toContain('baab');
    expect(grounds(page, 'aab')).toEqual(['aab']);
  });
});

describe('a line in rows', () => {
  it('loses nothing, and no row is wider than the pane', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), fc.integer({ min: 2, max: 40 }), (text, width) => {
        const line = aLine(text);
        const rows = rowsOf(line, { width, height: 1, wraps: true });
        expect(rows.map((row) => row.text).join('')).toBe(shownText(line));
        expect(rows.filter((row) => textWidth(row.text) > width)).toEqual([]);
        expect(rows.map(({ start }) => start)).toEqual(
          rows.map(
            (_, at) =>
              rows
                .slice(0, at)
                .map((row) => row.text)
                .join('').length,
          ),
        );
      }),
    );
  });

  it('is broken after a space where that fills more than half of the row', () => {
    const texts = (text: string) => rowsOf(aLine(text), { width: 10, height: 1, wraps: true }).map((row) => row.text);
    expect(texts('alpha beta gamma')).toEqual(['alpha ', 'beta gamma']);
    expect(texts('0123456789abcdef')).toEqual(['0123456789', 'abcdef']);
    expect(texts('ab cdefghijklmn')).toEqual(['ab cdefghi', 'jklmn']);
  });

  it('that is very long ends with how much of it is left out', () => {
    const [row] = rowsOf(aLine('x'.repeat(5000)), { width: 10, height: 1, wraps: false });
    expect(row!.text).toMatch(/^x{4000} …1,000 more characters$/);
  });
});

describe('scrolling', () => {
  const room = logRoom({ width: 22, height: 8 }, true);

  it('down and up again by as much comes back, unless an end was in the way', () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 20 }), (bytes, rows) => {
        const place: LogPlace = { kind: 'top', offset: 0, row: 0 };
        const page = pageOf(bytes, place);
        const top = topOf(page, place, room);
        fc.pre(top !== null);
        const below = placeAfter(page, top, rows, room);
        if (below.kind === 'end') return;
        const back = placeAfter(page, topOf(page, below, room)!, -rows, room);
        expect(topOf(page, back, room)).toEqual(top);
      }),
    );
  });

  it('never leaves rows empty below while there are lines above', () => {
    const page = pageOf(numbered(20));
    expect(topOf(page, { kind: 'top', offset: 10_000, row: 4 }, room)).toEqual(topOf(page, { kind: 'end' }, room));
    expect(topOf(page, { kind: 'end' }, room)).toEqual({ index: 13, row: 0 });
  });
});
