import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventIn, eventLine, eventLines, headerLine, parseJournal } from '../../../src/supervisor/core/journal-text.js';
import { type Sketch, slots, submitted } from '../../scheduler/play.js';

const many = (count: number) =>
  submitted(
    Array.from({ length: count }, (_, n): Sketch => {
      const retry = { max: n % 2, backoffMs: 1, on: ['crash' as const] };
      return {
        name: `r${n}`,
        group: `g${n % 3}`,
        graceMs: n % 4,
        retry,
        wish: n % 5 === 0 ? 'done' : 'run',
        attempts: n,
      };
    }),
    { g1: ['g0'] },
  );

it.each([1, 99, 100, 5000])('a submission of %d runs is the same after it was written down', (count) => {
  expect(eventIn(JSON.parse(eventLine(many(count))))).toEqual(many(count));
});

it('that of many takes a third of the room', () => {
  expect(eventLine(many(5000)).length).toBeLessThan(JSON.stringify(many(5000)).length / 3);
});

const slotsLine = eventLine(slots(2));
const inPages = () => ({ ...many(2500), portion: 1000 });
const read = (text: string) => parseJournal(Buffer.from(text), 'journal');

describe('a submission that is taken in by the portion', () => {
  const pages = [...eventLines(inPages())];
  const text = `${headerLine}${slotsLine}${pages.join('')}${slotsLine}`;

  it('is written page by page, and is the same when it is read', () => {
    expect(pages).toHaveLength(4);
    expect(read(text)).toMatchObject({ events: [slots(2), inPages(), slots(2)], dropped: [], damaged: 0 });
    expect(read(text).end).toBe(Buffer.byteLength(text));
  });

  it('has not happened before its last line, and leaves nothing behind', () => {
    const before = Buffer.byteLength(headerLine + slotsLine);
    const last = before + Buffer.byteLength(pages.join(''));
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.integer({ min: before + 1, max: last - 1 }), (cut) => {
        const { events, end, damaged, dropped } = parseJournal(bytes.subarray(0, cut), 'journal');
        expect({ events, end, damaged }).toEqual({ events: [slots(2)], end: before, damaged: 0 });
        expect(dropped.join()).toMatch(/torn|without its last line/);
      }),
      { numRuns: 30, examples: [[before + Buffer.byteLength(pages[0]!)], [last - Buffer.byteLength(pages[3]!)]] },
    );
  });

  it.each([
    { what: 'a page is lost', lines: [0, 2, 3] },
    { what: 'a page is there twice', lines: [0, 1, 1, 2, 3] },
    { what: 'its last line is lost', lines: [0, 1, 2] },
    { what: 'all its pages are lost', lines: [3] },
  ])('is damaged as a whole where $what', ({ lines }) => {
    const kept = lines.map((line) => pages[line]!).join('');
    expect(read(`${headerLine}${kept}${slotsLine}`)).toMatchObject({ events: [slots(2)], damaged: 1 });
  });

  it('is damaged where one of its runs is', () => {
    const harmed = text.replace('"s/r1007"', '"s/../r7"');
    expect(harmed).not.toBe(text);
    expect(read(harmed)).toMatchObject({ events: [slots(2), slots(2)], damaged: 2 });
  });
});

it.each([
  { what: 'a run without its terms', harm: (line: string) => line.replace('["s/r7",', '["s/r7",99') },
  { what: 'a run whose name leads elsewhere', harm: (line: string) => line.replace('"s/r7"', '"s/../r7"') },
  { what: 'a wish nobody has', harm: (line: string) => line.replace('"done"', '"gone"') },
  { what: 'terms that are none', harm: (line: string) => line.replace('"graceMs":1', '"graceMs":"1"') },
  { what: 'runs that are none', harm: (line: string) => line.replace(/"runs":\[.*\]/, '"runs":{}') },
])('is damaged where there is $what', ({ harm }) => {
  const line = eventLine(many(200));
  expect(harm(line)).not.toBe(line);
  expect(eventIn(JSON.parse(harm(line)))).toBeUndefined();
});
