import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { lastLines } from '../../src/logs/log-source.js';
import { displayText } from '../../src/text/display-text.js';
import { removeFolder } from '../remove-folder.js';

const directory = mkdtempSync(join(tmpdir(), 'log-tail-'));
afterAll(() => removeFolder(directory));
let files = 0;
function logWith(text: string | Buffer): string {
  const path = join(directory, `log-${files++}`);
  writeFileSync(path, text);
  return path;
}

describe('the last lines of a log', () => {
  it('are the newest, oldest first, with an unfinished last line', () => {
    expect(lastLines(logWith('a\nb\nc\nd'), 3)).toEqual(['b', 'c', 'd']);
    expect(lastLines(logWith('a\nb\n'), 9)).toEqual(['a', 'b']);
  });

  it('are none of a file that is empty or not there', () => {
    expect(lastLines(logWith(''), 5)).toEqual([]);
    expect(lastLines(join(directory, 'absent'), 5)).toEqual([]);
    expect(lastLines(directory, 5)).toEqual([]);
  });

  it('leave out a line cut by the limit of bytes', () => {
    expect(lastLines(logWith('a long first line\nsecond\nthird\n'), 9, 16)).toEqual(['second', 'third']);
  });

  it('are found at the end of a large file without reading it all', () => {
    const path = logWith(Buffer.alloc(30_000_000, 'x'.repeat(99) + '\n'));
    writeFileSync(path, 'the end\n', { flag: 'a' });
    expect(lastLines(path, 2)).toEqual(['x'.repeat(99), 'the end']);
  });

  it('show of a progress bar its last state', () => {
    const bar = Array.from(
      { length: 100 },
      (_, step) => `\r ${step + 1}%|${'█'.repeat(step / 10)}| ${step + 1}/100`,
    ).join('');
    expect(lastLines(logWith(`start\r\n${bar}\ndone\n`), 3)).toEqual(['start', ' 100%|█████████| 100/100', 'done']);
  });
});

describe('text made safe to draw', () => {
  it.each<[what: string, foreign: string, shown: string]>([
    ['colours', '\x1b[1;31merror\x1b[0m: \x1b[38;5;200mno\x1b[m', 'error: no'],
    ['cursor movement and erasing', '\x1b[2K\x1b[1Gdone\x1b[?25h', 'done'],
    ['a window title', '\x1b]0;my title\x07text', 'text'],
    ['a hyperlink', '\x1b]8;;https://x.y\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['a character set and a two-byte escape', '\x1b(Ba\x1b=b\x1b7c', 'abc'],
    ['an escape cut at the end', 'ok\x1b[3', 'ok'],
    ['a device control string', 'a\x1bPq#0;2\x1b\\b', 'ab'],
    ['an eight-bit introducer', 'a\x9b31mb', 'ab'],
    ['bells, backspaces and zero bytes', 'a\x07b\x08c\0d\x7f', 'abcd'],
    ['text that would be reordered', 'a\u202eb\u2066c', 'abc'],
    ['tabs', 'a\tb\t', 'a       b       '],
    ['a trailing return', 'windows\r', 'windows'],
    ['an erased bar', 'bar 50%\r       \r', 'bar 50%'],
    ['letters of any script', 'naïve 日本 🙂 é', 'naïve 日本 🙂 é'],
  ])('is without %s', (_, foreign, shown) => {
    expect(displayText(foreign)).toBe(shown);
  });

  it('never holds a control character, whatever came', () => {
    const nasty = fc.array(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\x1b', '\x1b[', '\x1b]', '\x9b', '\r', '\t', '\ud800')),
    );
    fc.assert(
      fc.property(nasty, (parts) => {
        expect(displayText(parts.join(''))).not.toMatch(/\p{Cc}|\p{Cs}/u);
      }),
    );
  });
});
