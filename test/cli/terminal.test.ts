import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { painted } from '../../src/cli/show/run-table.js';
import { type OwnProcess, withPorts } from '../../src/cli/ports.js';
import { passingLine, print, remark, safeLine } from '../../src/cli/terminal.js';
import { terminalJson } from '../../src/text/display-text.js';

/** What a terminal could obey, and what would reorder a line on it. */
const obeyed = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/u;

describe('what is printed', () => {
  it.each<[string, string, string]>([
    ['a clipboard', 'a\u001b]52;c;aGk=\u0007b', 'ab'],
    ['a clipboard, ended otherwise', 'a\u001b]52;c;aGk=\u001b\\b', 'ab'],
    ['a title that never ends', 'a\u001b]0;title\nb', 'a\nb'],
    ['another screen', '\u001b[?1049ha', 'a'],
    ['a colour that is not ours', '\u001b[31mred\u001b[0m', 'red'],
    ['a code of eight bits', '\u009b31mred\u009d0;title\u009cb', 'redb'],
    ['a question that the terminal answers', '\u001b[6n\u001b[>c\u001bZ', ''],
    ['a code within a code', '\u001b\u001b[0m]52;c;aGk=\u0007', ']52;c;aGk='],
    ['the way back to the start of the line', 'safe\rsure\b\b', 'safesure'],
    ['text from right to left', 'a\u202eb\u2066c', 'abc'],
    ['half of a character', 'a\ud800b', 'ab'],
    ['lines and tabs, which stay', 'a\tb\nc', 'a\tb\nc'],
    ['words in any language, which stay', 'Größe 学習 🧪 עברית', 'Größe 学習 🧪 עברית'],
  ])('has nothing of %s', (_what, text, printed) => {
    expect(safeLine(text)).toBe(printed);
    expect(safeLine([painted(text, 'good')])).toBe(`\u001b[32m${printed}\u001b[0m`);
  });

  it('is never obeyed, whatever it was', () => {
    const piece = fc.constantFrom('\u001b', '\u001b[', '\u001b]', '\u009b', '\u0007', '\\', '\n', '31m', 'P', ';', '?');
    const text = fc.array(fc.oneof(piece, fc.string({ unit: 'binary', maxLength: 3 }))).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (each) => void expect(safeLine(each)).not.toMatch(obeyed)),
      { numRuns: 2000 },
    );
    // Nor is a look of ours a way in.
    fc.assert(
      fc.property(text, text, (each, look) => {
        const line = safeLine([{ text: each, look }]);
        expect(line.replace(/^\u001b\[[\d;]*m|\u001b\[0m$/g, '')).not.toMatch(obeyed);
      }),
    );
  });

  it('says the same as JSON, with nothing left to obey', () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: false }), fc.string({ unit: 'binary' }), (value, key) => {
        const json = JSON.stringify({ [key]: value, c1: '\u009b31m\u202e\ufeff\u007f' });
        expect(terminalJson(json)).not.toMatch(obeyed);
        expect(JSON.parse(terminalJson(json))).toEqual(JSON.parse(json));
      }),
    );
  });
});

describe('a line that passes', () => {
  const said = (isTTY: boolean, TERM: string, work: () => void): string => {
    let text = '';
    const stdout = { isTTY, columns: 20, write: (part: string) => (text += part) !== '' };
    const process = { stdout, stderr: stdout, stdin: { isTTY }, env: { TERM } } as unknown as OwnProcess;
    withPorts({ process, programs: '' }, [], work);
    return text;
  };
  const work = () => {
    passingLine('reading \u001b[31ma long\nname …');
    passingLine('submitting …');
    print(['a']);
    remark('b');
  };

  it('is replaced by the next one, and by what is printed', () => {
    const start = '\r\u001b[K';
    expect(said(true, 'xterm', work)).toBe(`${start}reading a long nam…${start}submitting …${start}a\nb\n`);
  });

  it.each<[boolean, string]>([
    [false, 'xterm'],
    [true, 'dumb'],
  ])('is nothing to a pipe, or a terminal that cannot replace it (%s, %s)', (isTTY, term) => {
    expect(said(isTTY, term, work)).toBe('a\nb\n');
  });
});

describe('the door to the terminal', () => {
  /**
   * Who writes there besides: the window, whose painter cleans each cell; the supervisor, to its log; a worker of a
   * Slurm job, to the job's log; the lab, and what stands before a command, to a run's.
   */
  const others = [
    ...[/^cli\/terminal\.ts$/, /^cli\/watch\.ts$/, /^supervisor\/main\.ts$/, /^lab\//],
    /^executors\/slurm\/packs\/pack-worker\.ts$/,
    ...[/^executors\/attempt\/environment-carrier\.ts$/, /^wandb\/main\.ts$/],
  ];
  const isOther = (path: string) => others.some((other) => other.test(path));

  it('is the only one', () => {
    const ways = /process\s*\.\s*(?:stdout|stderr)|\bconsole\s*\.|writeSync\(\s*[12]\b|'\/dev\/(?:tty|stdout|stderr)'/;
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
    expect(sources.length).toBeGreaterThan(300);
    const others = sources.filter((path) => !isOther(path) && ways.test(readFileSync(join('src', path), 'utf8')));
    expect(others).toEqual([]);
  });

  it('is the only place outside the window where codes are written', () => {
    const sources = readdirSync('src/cli', { recursive: true, encoding: 'utf8' }).filter((path) =>
      /\.tsx?$/.test(path),
    );
    const codes = /\\u001b|\\x1b|\\e\[|\\033/i;
    expect(sources.filter((path) => codes.test(readFileSync(join('src/cli', path), 'utf8')))).toEqual(['terminal.ts']);
  });
});
