import fc from 'fast-check';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LogFile, startOfLastLines } from '../../../src/cli/logs/log-file.js';
import { LogPrinter, type LogOptions } from '../../../src/cli/logs/log-printer.js';

let folder = '';
let path = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-logs-'));
  path = join(folder, 'output.log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function printer(options: Partial<LogOptions> = {}, prefix = ''): { it: LogPrinter; out: () => string } {
  const written: Buffer[] = [];
  const how = { count: 50, grep: null, raw: false, ...options };
  return {
    it: new LogPrinter(folder, prefix, how, (bytes) => written.push(bytes)),
    out: () => Buffer.concat(written).toString('latin1'),
  };
}

describe('the end of a log', () => {
  it.each<[number, string, string]>([
    [2, 'a\nb\nc\n', 'b\nc\n'],
    [2, 'a\nb\nc', 'b\nc\n'],
    [9, 'a\nb\n', 'a\nb\n'],
    [1, '\n\n', '\n'],
    [0, 'a\nb\n', ''],
    [5, '', ''],
  ])('of %i lines of %j is %j', (count, text, last) => {
    writeFileSync(path, text);
    const { it: log, out } = printer({ count });
    log.printLast();
    log.printRest();
    expect(out()).toBe(last);
  });

  it('of a run that wrote nothing is empty', () => {
    const { it: log, out } = printer();
    log.printLast();
    log.printRest();
    expect(out()).toBe('');
  });

  it('has of a progress bar its last state, and nothing that moves the cursor', () => {
    writeFileSync(path, '10 %\r20 %\r30 %\n\u001b[2J\u001b[31mred\u0007\n40 %\r50 %');
    const { it: log, out } = printer();
    log.printLast();
    log.printRest();
    expect(out()).toBe('30 %\nred\n50 %\n');
  });

  it('is left as it is when raw, every byte of it', () => {
    const bytes = Buffer.from([0xff, 0x1b, 0x5b, 0x41, 0x0d, 0x0a, 0xc3, 0x0a]);
    writeFileSync(path, bytes);
    const { it: log, out } = printer({ raw: true });
    log.printLast();
    expect(Buffer.from(out(), 'latin1')).toEqual(bytes);
  });

  it('can be what matches, wherever it stands', () => {
    writeFileSync(path, `needle 1\n${'hay\n'.repeat(5000)}needle 2\n${'hay\n'.repeat(5000)}needle 3 and no end`);
    const { it: log, out } = printer({ count: 2, grep: /^needle/ }, 'run | ');
    log.printLast();
    log.printRest();
    expect(out()).toBe('run | needle 1\nrun | needle 2\nrun | needle 3 and no end\n');
  });
});

describe('a log that grows', () => {
  it('gives each line once, when it is whole', () => {
    writeFileSync(path, 'a\nb');
    const { it: log, out } = printer({ count: 1 });
    log.printLast();
    appendFileSync(path, 'c\nd\n');
    log.printAdded();
    log.printAdded();
    appendFileSync(path, 'e');
    log.printAdded();
    log.printRest();
    expect(out()).toBe('bc\nd\ne\n');
  });

  it('is read from its start once it was emptied', () => {
    writeFileSync(path, 'old old old\n');
    const { it: log, out } = printer({ count: 0 });
    log.printLast();
    writeFileSync(path, 'new\n');
    log.printAdded();
    expect(out()).toBe('new\n');
  });

  it('loses nothing, however it is cut', () => {
    const chunk = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', 'a\n', '\n\n', 'x'.repeat(70_000)));
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), (chunks) => {
        writeFileSync(path, '');
        const file = new LogFile(path, 0);
        const lines: string[] = [];
        for (const text of chunks) {
          appendFileSync(path, text);
          for (const line of file.added()) lines.push(line.toString());
        }
        expect([...lines, file.takeRest()?.toString() ?? ''].join('\n')).toBe(Buffer.from(chunks.join('')).toString());
      }),
      { numRuns: 60 },
    );
  });

  it('begins where its last lines begin, by a plain count', () => {
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
