import xterm from '@xterm/headless';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import type { WriteTarget } from '../../../src/tui/surface/terminal-writer.js';
import { LinePainter } from '../line-painter.js';
import { themeFor } from '../../../src/tui/surface/theme.js';
import { cellsOf } from '../../../src/text/display-width.js';
import { backgrounds, type Line, onBackground, plainText, span, tones } from '../../../src/tui/surface/span.js';

const theme = themeFor({ colours: 256, ascii: false });

/** A terminal that remembers what was written to it, and whose line may be slow. */
class Target implements WriteTarget {
  readonly written: string[] = [];
  writableLength = 0;
  readonly #waiting: (() => void)[] = [];

  write(text: string): void {
    this.written.push(text);
  }

  once(_event: 'drain', listener: () => void): void {
    this.#waiting.push(listener);
  }

  drain(): void {
    this.writableLength = 0;
    this.#waiting.splice(0).forEach((listener) => listener());
  }
}

/** What a row of the emulator shows: one entry per column, '' for the second half of a wide character, ' ' for nothing. */
function shownCells(terminal: xterm.Terminal, row: number): string[] {
  const line = terminal.buffer.active.getLine(row)!;
  return Array.from({ length: terminal.cols }, (_, column) => {
    const cell = line.getCell(column)!;
    return cell.getWidth() === 0 ? '' : cell.getChars() || ' ';
  });
}

/** What a line must look like on `width` columns. */
function expectedCells(line: Line, width: number): string[] {
  const cells: string[] = [];
  for (const { glyph, width: columns } of cellsOf(plainText(line))) {
    if (cells.length + columns > width) break;
    cells.push(glyph, ...(columns === 2 ? [''] : []));
  }
  return [...cells, ...Array.from({ length: width - cells.length }, () => ' ')];
}

const text = fc.string({
  unit: fc.constantFrom(...'ab ─▂⣿', '你', '好', 'ガ', 'é', 'e\u0301', 'n\u0303\u0323', '한'),
  maxLength: 12,
});
const line = fc.array(fc.record({ text, tone: fc.constantFrom(...tones), ground: fc.constantFrom(...backgrounds) }), {
  maxLength: 5,
});
const frame = fc.record({
  lines: fc.array(line, { maxLength: 6 }),
  width: fc.constantFrom(7, 12, 20),
  height: fc.constantFrom(2, 5),
  forgets: fc.boolean(),
  // Spans at the beginning of each line that are those of the frame before.
  kept: fc.nat(3),
});

/** A frame whose lines begin as the one before; as a new object each, as a frame is computed. */
function after(before: readonly Line[], lines: readonly Line[], kept: number): Line[] {
  return lines.map((own, row) => [...(before[row] ?? []).slice(0, kept).map((piece) => ({ ...piece })), ...own]);
}

describe('the surface', () => {
  property('leaves the terminal showing exactly the last frame, whatever came before', 150, async (examples) => {
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 8 }), async (frames) => {
        const terminal = new xterm.Terminal({ cols: 20, rows: 5, allowProposedApi: true, scrollback: 0 });
        const target = { write: (codes: string) => terminal.write(codes), writableLength: 0, once: () => undefined };
        const painter = new LinePainter(target, theme);
        let lines: readonly Line[] = [];
        for (const { lines: own, width, height, forgets, kept } of frames) {
          terminal.resize(width, height);
          if (forgets) painter.forget();
          lines = after(lines, own, kept);
          painter.paint(lines, width, height);
        }
        await new Promise<void>((resolve) => terminal.write('', resolve));
        const { width, height } = frames.at(-1)!;
        const shown = Array.from({ length: height }, (_, row) => shownCells(terminal, row));
        const expected = Array.from({ length: height }, (_, row) => expectedCells(lines[row] ?? [], width));
        terminal.dispose();
        expect(shown).toEqual(expected);
      }),
      examples,
    );
  });

  it('shows tones and grounds as colours', async () => {
    const terminal = new xterm.Terminal({ cols: 10, rows: 2, allowProposedApi: true });
    const painter = new LinePainter(
      { write: (codes) => terminal.write(codes), writableLength: 0, once: () => 0 },
      theme,
    );
    painter.paint([[span('ok', 'good')], onBackground([span('row', 'plain')], 'selected')], 10, 2);
    await new Promise<void>((resolve) => terminal.write('', resolve));
    const cell = (row: number, column: number) => terminal.buffer.active.getLine(row)!.getCell(column)!;
    expect([cell(0, 0).getFgColor(), cell(0, 0).isBgDefault()]).toEqual([71, true]);
    expect([cell(1, 0).getFgColor(), cell(1, 0).getBgColor()]).toEqual([255, 237]);
    expect(cell(1, 5).isBgDefault()).toBe(true);
  });

  it('writes nothing when nothing changed, and one cell when one did', () => {
    const target = new Target();
    const painter = new LinePainter(target, theme);
    painter.paint([[span('loss 0.51')]], 40, 3);
    painter.paint([[span('loss 0.51')]], 40, 3);
    expect(target.written).toHaveLength(1);
    painter.paint([[span('loss 0.52')]], 40, 3);
    expect(target.written[1]).toBe('\u001b[?2026h\u001b[1;9H\u001b[0m2\u001b[?2026l');
  });

  it('draws nothing while the terminal is somebody else’s, not even what has waited, and all of it afterwards', () => {
    const target = new Target();
    const painter = new LinePainter(target, theme);
    target.writableLength = 65 * 1024;
    painter.paint([[span('waits')]], 10, 1);
    painter.rest();
    target.drain();
    painter.paint([[span('unseen')]], 10, 1);
    expect(target.written).toEqual([]);
    painter.wake();
    painter.paint([[span('seen')]], 10, 1);
    expect(target.written.join('')).toContain('seen');
  });

  it('draws everything again after forgetting', () => {
    const target = new Target();
    const painter = new LinePainter(target, theme);
    painter.paint([[span('whole')]], 10, 1);
    painter.forget();
    painter.paint([[span('whole')]], 10, 1);
    expect(target.written[1]).toBe(target.written[0]);
  });

  it('skips frames for a slow line and then draws the newest', () => {
    const target = new Target();
    const painter = new LinePainter(target, theme);
    painter.paint([[span('one')]], 10, 1);
    target.writableLength = 65 * 1024;
    painter.paint([[span('two')]], 10, 1);
    painter.paint([[span('six')]], 10, 1);
    expect(target.written).toHaveLength(1);
    target.drain();
    expect(target.written).toHaveLength(2);
    expect(target.written[1]).toContain('six');
  });

  it('never passes a control character on, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (wild) => {
        const target = new Target();
        new LinePainter(target, theme).paint([[span(wild)]], 30, 1);
        const drawn = target.written.join('').replace(/\u001b\[[?0-9;]*[a-zA-Z]/g, '');
        expect(drawn).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });

  it('draws in ASCII alone where the theme says so', () => {
    const target = new Target();
    const ascii = themeFor({ colours: 'none', ascii: true });
    new LinePainter(target, ascii).paint([[span('━━╸─ ✓ done 你 café ⣿')]], 30, 1);
    expect(target.written.join('')).toMatch(/==-- v done \?\? cafe \|/);
  });
});
