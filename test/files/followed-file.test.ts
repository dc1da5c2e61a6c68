import { appendFileSync, mkdtempSync, renameSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { Tail } from '../../src/files/followed-file.js';
import { removeFolder } from '../remove-folder.js';

const directory = mkdtempSync(join(tmpdir(), 'tail-'));
afterAll(() => removeFolder(directory));
let files = 0;
const freshPath = () => join(directory, `file-${files++}`);

/** Reads until there is no more, as a reader does that has fallen behind. */
function drain(tail: Tail, maxBytes?: number): { restarted: boolean; lines: string[] } {
  const all = { restarted: false, lines: [] as string[] };
  for (let more = true; more;) {
    const read = tail.read(maxBytes);
    if (read.restarted) all.lines.length = 0;
    all.restarted ||= read.restarted;
    all.lines.push(...read.lines);
    more = read.more;
  }
  return all;
}

describe('Tail', () => {
  it('gives no lines of a file that is not there yet, then all of it', () => {
    const path = freshPath();
    const tail = new Tail(path);
    expect(tail.read()).toEqual({ restarted: false, lines: [], more: false });
    writeFileSync(path, 'a\nb\n');
    expect(tail.read()).toEqual({ restarted: false, lines: ['a', 'b'], more: false });
    expect(tail.read().lines).toEqual([]);
  });

  it('holds a torn last line until its newline comes', () => {
    const path = freshPath();
    const tail = new Tail(path);
    writeFileSync(path, 'whole\n{"ste');
    expect(tail.read().lines).toEqual(['whole']);
    appendFileSync(path, 'p": 1}');
    expect(tail.read().lines).toEqual([]);
    appendFileSync(path, '\nnext\n');
    expect(tail.read().lines).toEqual(['{"step": 1}', 'next']);
  });

  it.each<{ what: string; change: (path: string) => void; lines: string[] }>([
    { what: 'truncated to nothing', change: (path) => writeFileSync(path, ''), lines: [] },
    { what: 'truncated and grown again', change: (path) => writeFileSync(path, 'x\n'), lines: ['x'] },
    { what: 'cut below what was read', change: (path) => truncateSync(path, 6), lines: ['first'] },
    {
      what: 'truncated and grown past the old end',
      change: (path) => writeFileSync(path, 'first\nSECOND\nthird\nfourth\n'),
      lines: ['first', 'SECOND', 'third', 'fourth'],
    },
    {
      what: 'rewritten in place with a new header of the same length',
      change: (path) => writeFileSync(path, 'FIRST\nsecond\n', { flag: 'r+' }),
      lines: ['FIRST', 'second'],
    },
    {
      what: 'replaced by rename with the same beginning',
      change: (path) => {
        writeFileSync(`${path}.new`, 'first\nsecond\nlonger\n');
        renameSync(`${path}.new`, path);
      },
      lines: ['first', 'second', 'longer'],
    },
    {
      what: 'removed and made anew',
      change: (path) => {
        unlinkSync(path);
        writeFileSync(path, 'other\n');
      },
      lines: ['other'],
    },
  ])('says that it starts again when the file was $what', ({ change, lines }) => {
    const path = freshPath();
    writeFileSync(path, 'first\nsecond\n');
    const tail = new Tail(path);
    expect(tail.read().lines).toEqual(['first', 'second']);
    change(path);
    expect(drain(tail)).toEqual({ restarted: true, lines });
    expect(drain(tail)).toEqual({ restarted: false, lines: [] });
  });

  it('waits, and forgets nothing, while the file is missing', () => {
    const path = freshPath();
    writeFileSync(path, 'a\nb\n');
    const tail = new Tail(path);
    tail.read();
    renameSync(path, `${path}.away`);
    expect(tail.read()).toEqual({ restarted: false, lines: [], more: false });
    renameSync(`${path}.away`, path);
    appendFileSync(path, 'c\n');
    expect(tail.read()).toEqual({ restarted: false, lines: ['c'], more: false });
  });

  it('leaves out the carriage return of a Windows line', () => {
    const path = freshPath();
    writeFileSync(path, 'a\r\n\r\nb\n');
    expect(new Tail(path).read().lines).toEqual(['a', '', 'b']);
  });

  it('reads no more than asked for, except to finish one long line', () => {
    const path = freshPath();
    const long = 'x'.repeat(1000);
    writeFileSync(path, `a\nb\n${long}\nc\n`);
    const tail = new Tail(path);
    expect(tail.read(4)).toEqual({ restarted: false, lines: ['a', 'b'], more: true });
    expect(drain(tail, 4).lines).toEqual([long, 'c']);
  });

  it('gives every line once, however the text is chopped into writes and reads', () => {
    const line = fc.string({ unit: 'binary', maxLength: 20 }).map((text) => text.replace(/[\r\n]/g, 'é🙂'));
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 20 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 40 })),
        (lines, sizes) => {
          const path = freshPath();
          const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
          const tail = new Tail(path);
          const seen: string[] = [];
          for (let at = 0; at < bytes.length;) {
            const size = sizes.next().value as number;
            appendFileSync(path, bytes.subarray(at, at + size));
            at += size;
            const read = tail.read(sizes.next().value as number);
            expect(read.restarted).toBe(false);
            seen.push(...read.lines);
          }
          seen.push(...drain(tail, 7).lines);
          expect(seen).toEqual(bytes.toString('utf8').split('\n').slice(0, -1));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('ends with the lines of the file, whatever is done to it between reads', () => {
    const names = fc.constantFrom('append', 'append', 'append', 'truncate', 'replace', 'shrink');
    const steps = fc.array(fc.tuple(names, fc.integer({ min: 1, max: 60 }), fc.boolean()), { maxLength: 12 });
    let unique = 0;
    const text = (count: number) => Array.from({ length: count }, () => `line ${unique++} ü\n`).join('');
    fc.assert(
      fc.property(steps, (actions) => {
        const path = freshPath();
        const tail = new Tail(path);
        let content = '';
        let seen: string[] = [];
        const look = () => {
          const { restarted, lines } = drain(tail, 64);
          seen = restarted ? lines : [...seen, ...lines];
        };
        for (const [action, amount, read] of actions) {
          if (action === 'append') content += text(amount);
          else if (action === 'shrink') content = content.slice(0, content.indexOf('\n') + 1);
          else content = text(amount);
          if (action === 'replace') {
            writeFileSync(`${path}.new`, content);
            renameSync(`${path}.new`, path);
          } else writeFileSync(path, content);
          if (read) look();
        }
        look();
        expect(seen).toEqual(content.split('\n').slice(0, -1));
      }),
      { numRuns: 60 },
    );
  });
});

describe('a line that is too long', () => {
  const long = (kilobytes: number) => 'x'.repeat(kilobytes << 10);

  it.each([1000, 64 << 10, 128 << 10, 1 << 20])(
    'is skipped, and what follows is read, in parts of %d bytes',
    (part) => {
      const path = freshPath();
      writeFileSync(path, `a\n${long(300)}\n${long(700)}\nb\n${long(300)}\nc\n`);
      const seen: string[] = [];
      const tail = new Tail(path);
      for (let more = true; more;) {
        const read = tail.read(part);
        seen.push(...read.lines.filter((line) => line.length < 9));
        more = read.more;
      }
      expect(seen).toEqual(['a', 'b', 'c']);
    },
  );
});
