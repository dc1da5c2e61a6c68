import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timesAsMuch } from '../times-as-much.js';
import { compiledPattern, PatternError } from '../../src/text/pattern.js';

describe('a pattern', () => {
  it.each<{ pattern: string; yes: string[]; no: string[] }>([
    { pattern: 'abc', yes: ['abc', 'xabcx'], no: ['ab', ''] },
    { pattern: '^a.c$', yes: ['abc'], no: ['a\nc', 'xabc', 'abcx'] },
    { pattern: '(?s)^a.c$', yes: ['a\nc'], no: ['ac'] },
    { pattern: '(?i)ADAM', yes: ['adamw', 'Adam'], no: ['sgd'] },
    { pattern: '(?m)^b$', yes: ['a\nb\nc'], no: ['a\nbb'] },
    { pattern: '^(?:a|bc|)$', yes: ['a', 'bc', ''], no: ['b', 'abc'] },
    { pattern: '^a{2,3}$', yes: ['aa', 'aaa'], no: ['a', 'aaaa'] },
    { pattern: '^a{2,}$', yes: ['aa', 'aaaaa'], no: ['a'] },
    { pattern: '^a{2}?$', yes: ['aa'], no: ['a', 'aaa'] },
    { pattern: '^[^a-c\\]]+$', yes: ['xyz'], no: ['xa', 'x]'] },
    { pattern: '^[]a]+$', yes: [']a'], no: ['b'] },
    { pattern: '^[[:alpha:]_]+$', yes: ['a_b'], no: ['1'] },
    { pattern: '^\\d+\\.\\d*$', yes: ['1.', '12.5'], no: ['1,5'] },
    { pattern: '\\bnet\\b', yes: ['a net.', 'net'], no: ['resnet', 'network'] },
    { pattern: '^\\pL+\\x41\\x{1F600}$', yes: ['éA😀'], no: ['1A😀'] },
    { pattern: '^(?P<size>small|large)-\\w+$', yes: ['small-x'], no: ['tiny-x'] },
    { pattern: 'a{,2}', yes: ['a{,2}'], no: ['aa'] },
    { pattern: '^[\\w\\-.@]+$', yes: ['a-b.c@d'], no: ['a b'] },
  ])('$pattern', ({ pattern, yes, no }) => {
    const test = (text: string) => compiledPattern(pattern).test(text);
    expect(yes.filter((text) => !test(text))).toEqual([]);
    expect(no.filter(test)).toEqual([]);
  });

  it.each(['(', ')', 'a)', '[a', '*a', 'a\\', '(?=a)', '(?<!a)b', '(a)\\1', 'a{3,2}', '\\q', '[z-a]', '(?z)a'])(
    'refuses %s',
    (pattern) => expect(() => compiledPattern(pattern)).toThrow(PatternError),
  );

  it.each(['(a{1000}){1000}', '((((){1000}){1000}){1000}){1000}', '('.repeat(500) + ')'.repeat(500), 'a'.repeat(2000)])(
    'refuses what would be a large machine: %.40s',
    (pattern) => {
      const refuse = () => expect(() => compiledPattern(pattern)).toThrow(PatternError);
      // Beside the longest pattern that is not refused.
      expect(timesAsMuch(refuse, () => compiledPattern('a'.repeat(900)))).toBeLessThan(20);
    },
  );

  it.each(['^(a+)+$', '^(a|a)*$', '(.*)*b', '(a*)*(a*)*$x', '^((a?){20}a{20})+$'])(
    'is done in a moment where trying one way after the other takes for ever: %s',
    (pattern) => {
      const compiled = compiledPattern(pattern);
      const look = (length: number) => {
        expect(compiled.test(`${'a'.repeat(length)}!`)).toBe(false);
        expect(compiled.matcher(`${'a'.repeat(length)}!`).find()).toBe(false);
      };
      // Four times the text.
      const growth = timesAsMuch(
        () => look(8000),
        () => look(2000),
      );
      expect(growth).toBeLessThan(9);
    },
  );

  it('says what JavaScript says, for patterns that both know', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', '\\d', '^', '$', '\\b', 'A');
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => left + right),
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(${left}|${right})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{0,2}', '{1,}', '*?'))
          .map(([inner, times]) => `(?:${inner})${times}`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', ' ', '\n'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(compiledPattern(source).test(subject)).toBe(new RegExp(source).test(subject));
      }),
      { numRuns: 3000 },
    );
  });
});
