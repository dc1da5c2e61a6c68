import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileTemplate, ExpressionError } from '../../../../src/spec/expand/expression/expression.js';

describe('a template', () => {
  it.each([
    { source: 'plain', is: 'plain' },
    { source: 'N{N}_B{B * 2}', is: 'N16_B8' },
    { source: '{{N}} {N}', is: '{N} 16' },
    { source: `{N > 3 ? "}" : '{'}`, is: '}' },
    { source: '{{"a": N}["a"]}', is: null },
    { source: '{ {"a": N}["a"] }', is: '16' },
    { source: '{flag}{none}{half}', is: 'TrueNone0.5' },
  ])('$source gives $is', ({ source, is }) => {
    const values = { N: 16n, B: 4n, flag: true, none: null, half: 0.5 };
    if (is === null) expect(() => compileTemplate(source)).toThrow(ExpressionError);
    else expect(compileTemplate(source).render(values)).toBe(is);
  });

  it.each([
    { source: 'abc{N +}', start: 7 },
    { source: 'abc{N', start: 3 },
    { source: 'ab}c', start: 2 },
    { source: 'abc{foo(N)}', start: 4 },
  ])('tells where it is wrong: $source', ({ source, start }) => {
    expect(() => compileTemplate(source)).toThrow(expect.objectContaining({ start }) as Error);
  });

  it('without braces is itself', () => {
    fc.assert(
      fc.property(
        fc.string().filter((text) => !/[{}]/.test(text)),
        (text) => {
          expect(compileTemplate(text).render({})).toBe(text);
        },
      ),
    );
  });

  it('with braces doubled is the text with braces', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(compileTemplate(text.replace(/[{}]/g, '$&$&')).render({})).toBe(text);
      }),
    );
  });
});
