import { appendFileSync, closeSync, mkdtempSync, openSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { LEAST_READ, LogFile, type LogLine, PIECE } from '../../src/logs/log-file.js';
import { fileSource, type LogSource } from '../../src/logs/log-source.js';
import { LogInMemory } from './log-bytes.js';
import { removeFolder } from '../remove-folder.js';

const directory = mkdtempSync(join(tmpdir(), 'log-file-'));
afterAll(() => removeFolder(directory));

function opened(source: LogSource): LogFile {
  const file = new LogFile(source);
  file.look();
  return file;
}

const logOf = (text: string | Buffer): LogFile => opened(new LogInMemory(text));
const texts = (lines: readonly LogLine[]): string[] => lines.map(({ text }) => text);

/** All lines, read from the start to the end. */
function forwards(file: LogFile): LogLine[] {
  const lines: LogLine[] = [];
  for (let at = 0; at < file.size;) {
    const stretch = file.linesAfter(at, LEAST_READ);
    expect(stretch.from).toBe(at);
    expect(stretch.to).toBeGreaterThan(at);
    lines.push(...stretch.lines);
    at = stretch.to;
  }
  return lines;
}

/** All lines, read from the end to the start. */
function backwards(file: LogFile): LogLine[] {
  const lines: LogLine[] = [];
  for (let at = file.size; at > 0;) {
    const stretch = file.linesBefore(at, LEAST_READ);
    expect(stretch.to).toBe(at);
    expect(stretch.from).toBeLessThan(at);
    lines.unshift(...stretch.lines);
    at = stretch.from;
  }
  return lines;
}

describe('a log read by place', () => {
  it('gives its lines with the bytes they fill, an unfinished one too', () => {
    expect(logOf('one\n\ntwo\nthr').linesAfter(0, 0)).toEqual({
      from: 0,
      to: 12,
      lines: [
        { offset: 0, end: 4, text: 'one', endsLine: true, isWhole: true },
        { offset: 4, end: 5, text: '', endsLine: true, isWhole: true },
        { offset: 5, end: 9, text: 'two', endsLine: true, isWhole: true },
        { offset: 9, end: 12, text: 'thr', endsLine: false, isWhole: false },
      ],
    });
  });

  it('gives the lines before a place, and none before the first', () => {
    const file = logOf('one\ntwo\nthree\n');
    expect(texts(file.linesBefore(8, 0).lines)).toEqual(['one', 'two']);
    expect(file.linesBefore(0, 0)).toEqual({ from: 0, to: 0, lines: [] });
  });

  it('is empty where there is no file, and a directory is none', () => {
    for (const path of [join(directory, 'absent'), directory]) {
      const file = new LogFile(fileSource(path));
      expect(file.look().isThere).toBe(false);
      expect([file.linesAfter(0, 0).lines, file.linesBefore(0, 0).lines]).toEqual([[], []]);
    }
  });

  it('breaks a line without an end into pieces that are the same from either side', () => {
    const file = logOf(`short\n${'x'.repeat(10 * PIECE)}\nshort\n`);
    const lines = forwards(file);
    expect(lines).toEqual(backwards(file));
    expect(lines.map(({ endsLine }) => endsLine)).toEqual([true, ...Array<boolean>(9).fill(false), true, true]);
    expect(texts(lines).join('')).toBe(`short${'x'.repeat(10 * PIECE)}short`);
  });

  it('shows of a progress bar that wrote for hours its last state alone', () => {
    const bar = Array.from({ length: 20_000 }, (_, at) => `\rstep ${at}/20000 [loss 0.12]`).join('');
    const file = logOf(`begin\n${bar}\nend\n`);
    expect(bar.length).toBeGreaterThan(20 * PIECE);
    const lines = forwards(file);
    expect(texts(lines)).toEqual(['begin', 'step 19999/20000 [loss 0.12]', 'end']);
    expect(texts(backwards(file))).toEqual(texts(lines));
    expect(lines.every(({ endsLine }) => endsLine)).toBe(true);
  });

  it.each<[what: string, bytes: string | Buffer, shown: string]>([
    ['a progress bar', ' 10%\r 50%\r100%\n', '100%'],
    ['the end of a line of Windows', 'done\r\n', 'done'],
    ['colours and titles', '\u001b[31mred\u001b[0m\u001b]0;title\u0007!\n', 'red!'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x41, 0x80, 0x0a]), '��A�'],
    ['wide and right-to-left letters', '損失 خسارة\n', '損失 خسارة'],
    ['an order to reorder', 'a\u202eb\n', 'ab'],
  ])('is safe to draw: %s', (_, bytes, shown) => {
    expect(texts(logOf(bytes).linesAfter(0, 0).lines)).toEqual([shown]);
  });

  it('reads the same lines from both ends, whatever the bytes', () => {
    const kind = fc.constantFrom('bytes', '\n', '\r', '\r\n', 'word ', '\u001b[1m', 'long ', '\rbar');
    const part = fc.tuple(kind, fc.uint8Array({ maxLength: 20 }), fc.integer({ min: PIECE - 3, max: 3 * PIECE }));
    const bytesOf = ([what, bytes, length]: [string, Uint8Array, number]): Buffer =>
      what === 'bytes'
        ? Buffer.from(bytes)
        : ['long ', '\rbar'].includes(what)
          ? Buffer.alloc(length, what)
          : Buffer.from(what);
    fc.assert(
      fc.property(fc.array(part, { maxLength: 30 }), (parts) => {
        const file = logOf(Buffer.concat(parts.map(bytesOf)));
        const lines = forwards(file).map(
          ({ offset, end, text }) => `${offset} ${end} ${text.slice(0, 20)} ${text.length}`,
        );
        expect(
          backwards(file).map(({ offset, end, text }) => `${offset} ${end} ${text.slice(0, 20)} ${text.length}`),
        ).toEqual(lines);
        expect(lines.filter((text) => /\p{Cc}/u.test(text))).toEqual([]);
      }),
      { numRuns: 80 },
    );
  });

  it('grows, and notices when it was emptied or replaced', () => {
    const path = join(directory, 'growing');
    const file = new LogFile(fileSource(path));
    expect(file.look()).toEqual({ isThere: false, restarted: false });
    writeFileSync(path, 'one\n');
    expect(file.look()).toEqual({ isThere: true, restarted: false });
    appendFileSync(path, 'two\n');
    expect([file.look().restarted, texts(file.linesAfter(4, 0).lines)]).toEqual([false, ['two']]);
    truncateSync(path, 3);
    expect([file.look().restarted, texts(file.linesAfter(0, 0).lines)]).toEqual([true, ['one']]);
    writeFileSync(`${path}.new`, 'another\n');
    renameSync(`${path}.new`, path);
    expect([file.look().restarted, texts(file.linesAfter(0, 0).lines)]).toEqual([true, ['another']]);
  });

  it('reads of a gigabyte only what is asked for', () => {
    const path = join(directory, 'large');
    closeSync(openSync(path, 'w'));
    truncateSync(path, 1 << 30);
    appendFileSync(path, '\nnear the end\nthe end\n');
    let read = 0;
    const whole = fileSource(path);
    const counted: LogSource = {
      look: () => whole.look(),
      read: (from, length) => {
        const bytes = whole.read(from, length);
        read += bytes.length;
        return bytes;
      },
    };
    const file = opened(counted);
    expect(texts(file.linesBefore(file.size, LEAST_READ).lines).slice(-2)).toEqual(['near the end', 'the end']);
    expect(texts(file.linesAfter(0, LEAST_READ).lines)[0]).toBe('');
    expect(texts(file.linesBefore(512 << 20, LEAST_READ).lines).length).toBeGreaterThan(0);
    expect(read).toBeLessThan(3 * (LEAST_READ + PIECE + 1));
  });
});
