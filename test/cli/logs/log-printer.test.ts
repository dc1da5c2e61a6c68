import fc from 'fast-check';
import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogFile, type LogOptions, LogPrinter, PIECE, startOfLastLines } from '../../../src/cli/logs/log-printer.js';
import type { Painted } from '../../../src/cli/terminal.js';
import { removeFolder } from '../../remove-folder.js';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-logs-'));
  path = join(folder, 'output.log');
});
afterEach(() => removeFolder(folder));

function printer(
  options: Partial<LogOptions> = {},
  prefix: string | null = null,
): { it: LogPrinter; out: () => string; parts: Buffer[] } {
  const parts: Buffer[] = [];
  const how = { count: 50, grep: null, raw: false, ...options };
  const output = {
    text: (text: string | Painted) => parts.push(Buffer.from(typeof text === 'string' ? text : text.text)),
    bytes: (bytes: Uint8Array) => parts.push(Buffer.from(bytes)),
    settled: () => Promise.resolve(),
  };
  return {
    it: new LogPrinter(folder, prefix, how, output),
    out: () => Buffer.concat(parts).toString('latin1'),
    parts,
  };
}

describe('the end of a log', async () => {
  it.each<[number, string, string]>([
    [2, 'a\nb\nc\n', 'b\nc\n'],
    [2, 'a\nb\nc', 'b\nc\n'],
    [9, 'a\nb\n', 'a\nb\n'],
    [1, '\n\n', '\n'],
    [0, 'a\nb\n', ''],
    [5, '', ''],
  ])('of %i lines of %j is %j', async (count, text, last) => {
    writeFileSync(path, text);
    const { it: log, out } = printer({ count });
    await log.printLast();
    log.printRest();
    expect(out()).toBe(last);
  });

  it('of a run that wrote nothing is empty', async () => {
    const { it: log, out } = printer();
    await log.printLast();
    log.printRest();
    expect(out()).toBe('');
  });

  it('has of a progress bar its last state, and nothing that moves the cursor', async () => {
    writeFileSync(path, '10 %\r20 %\r30 %\n\u001b[2J\u001b[31mred\u0007\n40 %\r50 %');
    const { it: log, out } = printer();
    await log.printLast();
    log.printRest();
    expect(out()).toBe('30 %\nred\n50 %\n');
  });

  it('is left as it is when raw, every byte of it', async () => {
    const bytes = Buffer.from([0xff, 0x1b, 0x5b, 0x41, 0x0d, 0x0a, 0xc3, 0x0a]);
    writeFileSync(path, bytes);
    const { it: log, out } = printer({ raw: true });
    await log.printLast();
    expect(Buffer.from(out(), 'latin1')).toEqual(bytes);
  });

  it('can be what matches, wherever it stands', async () => {
    writeFileSync(path, `needle 1\n${'hay\n'.repeat(5000)}needle 2\n${'hay\n'.repeat(5000)}needle 3 and no end`);
    const { it: log, out } = printer({ count: 2, grep: /^needle/ }, 'run | ');
    await log.printLast();
    log.printRest();
    expect(out()).toBe('run | needle 1\nrun | needle 2\nrun | needle 3 and no end\n');
  });
});

describe('a line of any length', async () => {
  const long = `${'0123456789'.repeat(400_000)}`;

  it('is printed in pieces, as it is', async () => {
    writeFileSync(path, `first\n${long}\nlast`);
    for (const raw of [false, true]) {
      const { it: log, out, parts } = printer({ count: 2, raw }, 'run | ');
      await log.printLast();
      log.printRest();
      expect(out() === `run | ${long}\nrun | last\n`).toBe(true);
      expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(2 * PIECE);
    }
  });

  it('is printed while it grows, and ends where the run does', async () => {
    writeFileSync(path, '');
    const { it: log, out } = printer();
    appendFileSync(path, long);
    await log.printAdded();
    expect(out().length).toBeGreaterThan(long.length - 3 * PIECE);
    appendFileSync(path, 'x');
    await log.printAdded();
    log.printRest();
    expect(out() === `${long}x\n`).toBe(true);
  });

  it('has the last state alone when it was overwritten all the time', async () => {
    writeFileSync(path, `${'step 1 of many\r'.repeat(20_000)}done\n`);
    const { it: log, out } = printer();
    await log.printLast();
    expect(out()).toBe('done\n');
  });

  it('is looked through piece by piece', async () => {
    writeFileSync(path, `${long} needle ${long}\nneedle\n`);
    const { it: log, out } = printer({ grep: /needle/ });
    await log.printLast();
    const [found, short] = out().trimEnd().split('\n');
    expect(found).toContain(' needle 0123');
    expect(found!.length).toBeLessThanOrEqual(PIECE);
    expect(short).toBe('needle');
  });
});

describe('what is no log', async () => {
  it.each([
    ['a directory', () => mkdirSync(path)],
    ['a link to itself', () => symlinkSync('output.log', path)],
    ['a named pipe that nobody writes to', () => void execFileSync('mkfifo', [path])],
    ['a device without an end', () => symlinkSync('/dev/zero', path)],
  ])('%s has no lines, and is not waited for', async (_what, make) => {
    make();
    expect(startOfLastLines(path, 5)).toBe(0);
    const { it: log, out } = printer();
    await log.printLast();
    await log.printAdded();
    log.printRest();
    expect(out()).toBe('');
  });
});

describe('an expression that takes for ever', async () => {
  it('is given up, with what to write instead', async () => {
    writeFileSync(path, `${'a'.repeat(60)}b\n`);
    const { it: log } = printer({ grep: /(a+)+$/u });
    await expect(log.printLast()).rejects.toThrow(/^--grep \(a\+\)\+\$ takes too long/);
  });
});

describe('a log that grows', async () => {
  it('gives each line once, when it is whole', async () => {
    writeFileSync(path, 'a\nb');
    const { it: log, out } = printer({ count: 1 });
    await log.printLast();
    appendFileSync(path, 'c\nd\n');
    await log.printAdded();
    await log.printAdded();
    appendFileSync(path, 'e');
    await log.printAdded();
    log.printRest();
    expect(out()).toBe('bc\nd\ne\n');
  });

  it('is read from its start once it was emptied', async () => {
    writeFileSync(path, 'old old old\n');
    const { it: log, out } = printer({ count: 0 });
    await log.printLast();
    writeFileSync(path, 'new\n');
    await log.printAdded();
    expect(out()).toBe('new\n');
  });

  it('loses nothing, however it is cut', async () => {
    const chunk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('\n', 'a\n', '\n\n', 'x'.repeat(70_000), 'é€😀'.repeat(9000)),
    );
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
        writeFileSync(path, '');
        const file = new LogFile(path, 0);
        const read: Buffer[] = [];
        for (const text of chunks) {
          appendFileSync(path, text);
          for (const { bytes, endsLine } of file.added()) {
            expect(bytes.length).toBeLessThanOrEqual(PIECE);
            // A character that is cut is none in either piece.
            if (!endsLine) expect((bytes.toString().match(/\ufffd$/) ?? []).length).toBe(0);
            read.push(bytes, Buffer.from(endsLine ? '\n' : ''));
          }
        }
        read.push(file.takeRest()?.bytes ?? Buffer.alloc(0));
        expect(Buffer.concat(read).toString()).toBe(Buffer.from(chunks.join('')).toString());
      }),
      { numRuns: 60 },
    );
  });

  it('begins where its last lines begin, by a plain count', async () => {
    const line = fc.oneof(fc.constantFrom('', 'a', 'bcd'), fc.constant('y'.repeat(40_000)));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), fc.boolean(), fc.nat({ max: 14 }), (lines, ended, count) => {
        const text = lines.join('\n') + (ended && lines.length > 0 ? '\n' : '');
        writeFileSync(path, text);
        const all = text.split(/(?<=\n)/).filter((each) => each !== '');
        const last = count === 0 ? '' : all.slice(-count).join('');
        expect(text.slice(startOfLastLines(path, count))).toBe(last);
      }),
      { numRuns: 100 },
    );
  });
});
