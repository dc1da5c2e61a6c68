import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answerFormats,
  answerWidth,
  nextShare,
  readAnswer,
  writeAnswer,
} from '../../../../src/lab/environments/memory/answer-format.js';

const aFormat = fc.constantFrom(...answerFormats);
const aNumber = fc.integer({ min: 1, max: 5000 }).chain((N) => fc.tuple(fc.constant(N), fc.nat({ max: N - 1 })));
const digits = [...'0123456789'];

describe('the format of an answer', () => {
  it.each([
    ['decimal', 7, 1024, '7'],
    ['fixed_width', 7, 1024, '0007'],
    ['fixed_width', 0, 1, '0'],
    ['gray', 7, 1024, '0007'],
    ['gray', 10, 1024, '0019'],
    ['gray', 19, 1024, '0010'],
    ['gray', 99, 1024, '0090'],
    ['gray', 100, 1024, '0190'],
    ['gray', 399, 1024, '0300'],
    ['gray', 400, 1024, '0400'],
  ] as const)('%s writes %i below %i as %s', (format, value, N, text) => {
    expect(writeAnswer(value, N, format)).toBe(text);
  });

  it('parses its own output, with any white space around it', () => {
    fc.assert(
      fc.property(aNumber, aFormat, fc.constantFrom('', ' ', '\n'), ([N, value], format, space) => {
        expect(readAnswer(`${space}${writeAnswer(value, N, format)}${space}`, N, format)).toBe(value);
      }),
    );
  });

  it('writes neighbours in Gray code that differ by one in one digit', () => {
    fc.assert(
      fc.property(aNumber, ([N, value]) => {
        fc.pre(value + 1 < N);
        const [one, next] = [value, value + 1].map((each) => writeAnswer(each, N, 'gray'));
        const steps = [...one!].map((digit, at) => Math.abs(Number(digit) - Number(next![at])));
        expect(steps.toSorted()).toEqual([...Array<number>(one!.length - 1).fill(0), 1]);
      }),
    );
  });

  it.each([
    ['fixed_width', '7', 16, null],
    ['fixed_width', '007', 16, null],
    ['fixed_width', '16', 16, null],
    ['fixed_width', 'a7', 16, null],
    ['gray', '1a', 16, null],
    ['gray', '', 16, null],
    ['gray', '13', 16, null],
    ['decimal', '007', 16, 7],
  ] as const)('%s reads %j below %i as %s', (format, text, N, value) => {
    expect(readAnswer(text, N, format)).toBe(value);
  });

  it('gives each digit its probability under uniform answers, and invalid continuations 0', () => {
    fc.assert(
      fc.property(aNumber, aFormat, ([N, value], format) => {
        const text = writeAnswer(value, N, format);
        const shares = [...text, ''].map((next, at) => nextShare(text.slice(0, at), next, N, format));
        expect(shares.reduce((product, share) => product * share, 1)).toBeCloseTo(1 / N, 12);
        for (let at = 0; at <= text.length; at++) {
          const all = [...digits, ''].map((next) => nextShare(text.slice(0, at), next, N, format));
          expect(all.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
        }
        expect(nextShare('0'.repeat(answerWidth(N) + 1), '', N, format)).toBe(0);
      }),
    );
  });
});
