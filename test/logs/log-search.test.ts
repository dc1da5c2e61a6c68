import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LogFile } from '../../src/logs/log-file.js';
import { LogSearch } from '../../src/logs/log-search.js';
import { LogInMemory } from './log-bytes.js';

const CHUNK = 256 << 10;

function logOf(text: string): LogFile {
  const file = new LogFile(new LogInMemory(text));
  file.look();
  return file;
}

type Way = { from: number; direction: number; isHinted?: boolean };

/** Offset of the first match, and the steps it took. */
function search(
  file: LogFile,
  word: string,
  { from, direction, isHinted = true }: Way,
): { offset: number | null; steps: number; done: number[] } {
  const test = { matches: (text: string) => text.includes(word), hint: isHinted ? new RegExp(word, 'gm') : null };
  const looking = new LogSearch(file, test, from, direction > 0 ? 1 : -1);
  const done: number[] = [];
  for (let steps = 1; ; steps++) {
    const step = looking.step();
    if (step.kind === 'searching') done.push(step.done);
    else return { offset: step.kind === 'found' ? step.offset : null, steps, done };
  }
}

describe('a search through a log', () => {
  const file = logOf('red\ngreen\nred\nblue\nred\n');

  it.each<{ when: string; word: string; from: number; direction: 1 | -1; offset: number | null }>([
    { when: 'finds the next from here on', word: 'red', from: 4, direction: 1, offset: 10 },
    { when: 'may find the line it begins at', word: 'red', from: 10, direction: 1, offset: 10 },
    { when: 'goes on at the start', word: 'green', from: 10, direction: 1, offset: 4 },
    { when: 'finds the one before', word: 'red', from: 10, direction: -1, offset: 0 },
    { when: 'goes on at the end', word: 'red', from: 0, direction: -1, offset: 19 },
    { when: 'comes back to the only one', word: 'blue', from: 14, direction: -1, offset: 14 },
    { when: 'finds nothing forward', word: 'pink', from: 4, direction: 1, offset: null },
    { when: 'finds nothing backward', word: 'pink', from: 4, direction: -1, offset: null },
  ])('$when', ({ word, from, direction, offset }) => {
    for (const isHinted of [true, false]) expect(search(file, word, { from, direction, isHinted }).offset).toBe(offset);
  });

  it('finds nothing in an empty log', () => {
    expect(search(logOf(''), 'a', { from: 0, direction: 1 }).offset).toBeNull();
  });

  it('goes through a long log a bounded part at a time and says how far it is', () => {
    const line = `${'x'.repeat(99)}\n`;
    const source = new LogInMemory(line.repeat(40_000) + 'needle\n');
    const long = new LogFile(source);
    long.look();
    const { offset, steps, done } = search(long, 'needle', { from: 0, direction: 1 });
    expect(offset).toBe(4_000_000);
    expect(source.bytesRead / steps).toBeLessThan(1.2 * CHUNK);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(done.at(-1)).toBeGreaterThan(0.8);
  });

  it('finds what lies over the border of two parts, both ways', () => {
    const line = `${'x'.repeat(63)}\n`;
    for (const shift of [-7, -6, -3, -1, 0, 1]) {
      const text = `${line.repeat(CHUNK / 64).slice(0, CHUNK + shift - 1)}\nneedle\n${line.repeat(CHUNK / 64)}`;
      const here = logOf(text);
      expect(search(here, 'needle', { from: 0, direction: 1 }).offset).toBe(text.indexOf('needle'));
      expect(search(here, 'needle', { from: text.length, direction: -1 }).offset).toBe(text.indexOf('needle'));
    }
  });

  it('finds what a search of the whole text finds', () => {
    const words = fc.array(fc.constantFrom('a', 'b', 'needle', 'é', '\u001b[1mneedle\u001b[0m'), { maxLength: 40 });
    fc.assert(
      fc.property(words, fc.nat(), fc.constantFrom(1, -1), (lines, at, direction) => {
        const text = lines.map((line) => `${line}\n`).join('');
        const offsets = lines.map((_, index) =>
          Buffer.byteLength(
            lines
              .slice(0, index)
              .map((l) => `${l}\n`)
              .join(''),
          ),
        );
        const matches = offsets.filter((_, index) => lines[index]!.includes('needle'));
        const from = offsets[at % Math.max(1, offsets.length)] ?? 0;
        const expected =
          direction > 0
            ? (matches.find((offset) => offset >= from) ?? matches[0])
            : (matches.findLast((offset) => offset < from) ?? matches.at(-1));
        for (const isHinted of [true, false]) {
          expect(search(logOf(text), 'needle', { from, direction, isHinted }).offset).toBe(expected ?? null);
        }
      }),
    );
  });

  it.each([
    ['forward', 1],
    ['backward', -1],
  ] as const)('gives up %s what takes years to tell, hinted or not, plain or not', (_, direction) => {
    const catastrophe = /(a+)+$/gm;
    for (const line of ['a'.repeat(60), `\u001b[1m${'a'.repeat(60)}`]) {
      for (const hint of [catastrophe, null]) {
        const file = logOf(`${line}!\nrest\n`);
        const test = { matches: (text: string) => text.search(catastrophe) >= 0, hint };
        expect(new LogSearch(file, test, direction > 0 ? 0 : file.size, direction).step()).toEqual({
          kind: 'too long',
        });
      }
    }
  });

  it('ends when the log becomes shorter under it', () => {
    const source = new LogInMemory(`${'x'.repeat(63)}\n`.repeat(CHUNK / 16));
    const shrinking = new LogFile(source);
    shrinking.look();
    const looking = new LogSearch(shrinking, { matches: () => false, hint: null }, 0, 1);
    expect(looking.step().kind).toBe('searching');
    source.truncate(10);
    const kinds = Array.from({ length: 4 }, () => looking.step().kind);
    expect(kinds.at(-1)).toBe('nothing');
  });
});
