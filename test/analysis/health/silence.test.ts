import { describe, expect, it } from 'vitest';
import { silenceOf, type SiblingPauses, WritingRhythm } from '../../../src/analysis/health/silence.js';

const nobody: SiblingPauses = { longest: 0, count: 0 };
const seconds = (each: readonly number[]) => each.map((value) => 1000 * value);

/** Wrote at these times, seconds after its start. */
function wroteAt(...times: number[]): WritingRhythm {
  const rhythm = new WritingRhythm(0);
  for (const time of seconds(times)) rhythm.wrote(time);
  return rhythm;
}

const everyTen = Array.from({ length: 30 }, (_, index) => 10 * (index + 1));

describe('a run', () => {
  it.each<{ that: string; own: WritingRhythm; siblings?: SiblingPauses; at: number; isSilent: boolean }>([
    { that: 'wrote a moment ago', own: wroteAt(10, 20, 30), at: 40, isSilent: false },
    { that: 'is in an evaluation of two minutes', own: wroteAt(1, 2, 3), at: 123, isSilent: false },
    { that: 'has written nothing for far longer than ever', own: wroteAt(1, 2, 3), at: 124, isSilent: true },
    { that: 'writes every 10 s, three minutes on', own: wroteAt(...everyTen), at: 300 + 180, isSilent: false },
    { that: 'writes every 10 s, four minutes on', own: wroteAt(...everyTen), at: 300 + 240, isSilent: true },
    { that: 'has been as quiet before', own: wroteAt(...everyTen, 500), at: 500 + 590, isSilent: false },
    { that: 'has never been that quiet', own: wroteAt(...everyTen, 500), at: 500 + 610, isSilent: true },
    {
      that: 'has come to a part in which its siblings were as quiet',
      own: wroteAt(...everyTen),
      siblings: { longest: 400_000, count: 3 },
      at: 300 + 700,
      isSilent: false,
    },
    {
      that: 'is quieter than its siblings ever were',
      own: wroteAt(...everyTen),
      siblings: { longest: 400_000, count: 3 },
      at: 300 + 801,
      isSilent: true,
    },
    { that: 'has never written, as nobody has', own: wroteAt(), at: 86_400, isSilent: false },
    { that: 'wrote once, at its start', own: wroteAt(1), at: 86_400, isSilent: false },
    {
      that: 'has never written, though its siblings have',
      own: wroteAt(),
      siblings: { longest: 30_000, count: 2 },
      at: 121,
      isSilent: true,
    },
    {
      that: 'has never written, and one sibling is too few to know',
      own: wroteAt(),
      siblings: { longest: 30_000, count: 1 },
      at: 86_400,
      isSilent: false,
    },
    {
      that: 'is quiet to its end, as its siblings that are done were for an hour',
      own: wroteAt(1),
      siblings: { longest: 3_600_000, count: 2 },
      at: 7000,
      isSilent: false,
    },
  ])('that $that is silent: $isSilent', ({ own, siblings = nobody, at, isSilent }) => {
    expect(silenceOf(own, siblings, 1000 * at) !== null).toBe(isSilent);
  });

  it('is silent no more when it writes', () => {
    const own = wroteAt(1, 2, 3);
    expect(silenceOf(own, nobody, 130_000)).not.toBeNull();
    own.wrote(131_000);
    expect(silenceOf(own, nobody, 136_000)).toBeNull();
  });

  it('that was up before it was seen is silent by what its files tell, from when it was seen on', () => {
    const adopted = new WritingRhythm(3_600_000, 1000);
    expect(silenceOf(adopted, nobody, 3_600_000 + 120_000)).toBeNull();
    expect(silenceOf(adopted, nobody, 3_600_000 + 121_000)).toBe('no output and no metrics for 2 min');
    expect(silenceOf(new WritingRhythm(3_600_000), nobody, 86_400_000)).toBeNull();
  });

  it.each<{ own: WritingRhythm; siblings: SiblingPauses; at: number; words: string }>([
    {
      ...{ own: wroteAt(1, 2, 42), siblings: nobody, at: 12 * 60 + 50 },
      words: 'no output and no metrics for 12 min, its longest pause was 40 s',
    },
    {
      ...{ own: wroteAt(), siblings: { longest: 90_000, count: 2 }, at: 8000 },
      words: 'no output and no metrics for 2 h 13 min, others wrote within 1 min',
    },
  ])('tells why: $words', ({ own, siblings, at, words }) => {
    expect(silenceOf(own, siblings, 1000 * at)).toBe(words);
  });

  it('is silent after less where less is asked for', () => {
    expect(silenceOf(wroteAt(0.01, 0.02, 0.03), nobody, 600, 500)).toContain('no output');
    expect(silenceOf(wroteAt(0.01, 0.02, 0.03), nobody, 400, 500)).toBeNull();
  });
});
