import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lastBoxed, readNumber, sameAnswer } from '../../../../src/lab/environments/word-problems/answers.js';

/** Pairs of texts, and whether math-verify finds them the same; its head says which versions were asked, and how. */
const table = JSON.parse(readFileSync('test/fixtures/answers/math-verify.json', 'utf8')) as {
  readonly 'math-verify': string;
  readonly pairs: readonly (readonly [right: string, said: string, same: boolean])[];
};

/** Where the verdict is another on purpose. */
const exceptions = [
  // math-verify reads some words as products of symbols, e among them; others it passes over.
  ['5', '5 dollars'],
  ['5', '5 dollars.'],
  ['18', '18 eggs'],
  ['12 apples', '12 oranges'],
  // It knows `^\circ`, and mixed numbers that are no percentages.
  ['45°', '45'],
  ['33\\frac{1}{3}\\%', '1/3'],
];

describe('answers that are numbers', () => {
  it('are equal exactly where math-verify finds them equal', () => {
    expect(table['math-verify']).toBe('0.9.0');
    expect(table.pairs.length).toBeGreaterThan(500);
    const others = table.pairs.filter(([right, said, same]) => sameAnswer(right, said) !== same);
    expect(others.map(([right, said]) => [right, said]).sort()).toEqual([...exceptions].sort());
  });

  it('are parsed exactly', () => {
    expect(readNumber('-1,234.50')).toEqual({
      ...{ numerator: -123450n, denominator: 100n, isDecimal: true, isPercent: false },
    });
    expect(readNumber('-2\\frac{1}{3}')).toMatchObject({ numerator: -7n, denominator: 3n });
    expect(readNumber('12.5\\%')).toMatchObject({ numerator: 125n, denominator: 10n, isPercent: true });
    for (const none of ['', 'seven', '1,23', '1/0', '1.2.3', '--1', '4:30', '9'.repeat(201)]) {
      expect(readNumber(none)).toBeNull();
    }
  });

  it('equal themselves in other notations, and no other number', () => {
    const number = fc.integer({ min: -1e6, max: 1e6 });
    fc.assert(
      fc.property(number, fc.integer({ min: 1, max: 999 }), number, (a, b, other) => {
        for (const way of [`\\frac{${a}}{${b}}`, `${3 * a}/${3 * b}`, `$\\dfrac{${a}}{${b}}$`]) {
          expect(sameAnswer(`${a}/${b}`, way)).toBe(true);
        }
        expect(sameAnswer(String(a), a.toLocaleString('en-US'))).toBe(true);
        expect(sameAnswer(String(a), `${a}.0`)).toBe(true);
        if (other !== a) expect(sameAnswer(String(a), `$${other.toLocaleString('en-US')}$`)).toBe(false);
      }),
    );
  });

  it('never throw, whatever the text', () => {
    const part = fc.constantFrom(
      '\\frac',
      '{',
      '}',
      '1',
      ',',
      '.',
      '%',
      '-',
      '/',
      '\\boxed{',
      '\\text{',
      ' ',
      '$',
      'x',
      '=',
      '(',
      ')',
    );
    fc.assert(
      fc.property(
        fc.array(part).map((parts) => parts.join('')),
        (text) => void sameAnswer(text, text),
      ),
    );
    // None of these takes more than a moment.
    const long = ['{'.repeat(1e5), '1,'.repeat(1e5), '\\frac'.repeat(2e4), ' '.repeat(1e5), '\\boxed{'.repeat(2e4)];
    for (const text of [...long, '\\boxed{'.repeat(2e4) + '}'.repeat(2e4)]) expect(sameAnswer(text, '1')).toBe(false);
  });
});

describe('the last box of a text', () => {
  it.each([
    ['so \\boxed{3} is it', '3'],
    ['\\boxed{3} or \\boxed{\\frac{1}{2}}.', '\\frac{1}{2}'],
    ['\\boxed{a{b}c}d', 'a{b}c'],
    ['\\boxed{}', ''],
    ['\\boxed{3', null],
    ['boxed{3}', null],
    ['', null],
  ])('of %j is %j', (text, expected) => expect(lastBoxed(text)).toBe(expected));
});
