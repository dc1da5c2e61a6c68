import { describe, expect, it } from 'vitest';
import { UserError } from '../../../../src/base/user-error.js';
import { celEnvironment, celFunctions, type CelValue } from '../../../../src/spec/expand/expression/cel-environment.js';
import { compileExpression, ExpressionError } from '../../../../src/spec/expand/expression/expression.js';
import { withinTime } from '../../../../src/spec/expand/expression/time-limit.js';

const list = (length: number) => `[${Array.from({ length }, (_, index) => index).join(', ')}]`;
const nested = (macro: string, depth: number, body: string) =>
  Array.from({ length: depth }, (_, level) => `${list(30)}.${macro}(v${level}, `).join('') + body + ')'.repeat(depth);
const doubled = (times: number, of = '["aa"]', body = (name: string) => `${name} + ${name}`) =>
  of + Array.from({ length: times }, (_, index) => `.map(v${index}, ${body(`v${index}`)})`).join('');
const ofOneList = (macro: string, depth: number, not = '') =>
  `cel.bind(l, ${list(30)}, ${Array.from({ length: depth }, (_, level) => `l.${macro}(v${level}, `).join('')}${not}(loss > 0)${')'.repeat(depth + 1)}`;
const bound = (times: number, body: string, of = 'a') =>
  `cel.bind(a, ${of}, ${'cel.bind(a, a + a, '.repeat(times)}${body}${')'.repeat(times + 1)}`;

const variables: Record<string, CelValue> = { loss: 1, s: 'x', a: 'xx', d: 1 };

/** What an expression is refused for; empty: it is not. */
function refusalOf(source: string, values = variables): string {
  try {
    withinTime('It', 500, () => compileExpression(source).evaluate(values));
    return '';
  } catch (error) {
    if (error instanceof ExpressionError || error instanceof UserError) return error.message;
    throw error;
  }
}

const tooLarge =
  /^this makes more than 1,000,000 characters and elements: use shorter lists|would make more than 1,000,000/;
/** Lists that are written out are made anew each time; but `all` and `exists` look at further items when one has failed. */
const either = /^this makes more than|^It took more than/;
const tooLong = /^It took more than 0.5 s, and was at the expression `/;

describe('an expression that would take for ever, or all memory', () => {
  it.each<{ what: string; source: string; why?: RegExp }>([
    { what: 'all in all', source: nested('all', 5, 'true'), why: either },
    { what: 'exists in exists', source: nested('exists', 5, 'loss > 5'), why: either },
    { what: 'all in all of one list', source: ofOneList('all', 7), why: tooLong },
    { what: 'exists in exists of one list', source: ofOneList('exists', 7, '!'), why: tooLong },
    { what: 'map in map', source: `size(${nested('map', 5, '1')}) > 0` },
    { what: 'filter in filter', source: nested('filter', 7, 'true'), why: /predicate must return bool/ },
    { what: 'texts that double', source: doubled(40) },
    { what: 'lists that double', source: doubled(40, '[[1]]') },
    { what: 'types that double, of nothing', source: doubled(40, '[]', (name) => `{${name}: ${name}}`), why: tooLong },
    { what: 'bindings that double', source: bound(40, 'a') },
    { what: 'lists in bindings that double', source: bound(40, 'a', '[1]') },
    { what: 'a text that joins', source: bound(12, `a.join("${'y'.repeat(1000)}")`, '["x"]') },
    { what: 'a text that is joined with itself', source: bound(15, '[a, a, a, a].join(a).split("")', '"aaaaaaaa"') },
    { what: 'a long text', source: `"${'x'.repeat(20_000)}" == s`, why: /at most/ },
    { what: 'a text that is a list of durations', source: `duration("${'1'.repeat(2000)}") == d`, why: tooLong },
  ])('is ended: $what', ({ source, why = tooLarge }) => {
    expect(refusalOf(source)).toMatch(why);
  });

  it('is ended where its variables are too large for it', () => {
    const source = 'xs.all(a, xs.all(b, xs.all(c, a + b + c >= 0)))';
    const numbers = (length: number) => Array.from({ length }, (_, index) => BigInt(index));
    expect(refusalOf(source, { xs: numbers(10) })).toBe('');
    expect(refusalOf(source, { xs: numbers(1000) })).toMatch(tooLong);
  });

  it('is shown with the part that makes too much', () => {
    const part = nested('map', 5, '1');
    const source = `loss < 1 || size(${part}) > 2`;
    const caught = (() => {
      try {
        compileExpression(source).evaluate({ loss: 1 });
        return null;
      } catch (error) {
        return error as ExpressionError;
      }
    })();
    expect(caught?.message).toMatch(tooLarge);
    expect(source.slice(caught!.start, caught!.end)).toMatch(/^\[0, 1/);
  });

  it('leaves the next one all its time and memory', () => {
    const half = compileExpression(`size(${nested('map', 3, `"${'x'.repeat(10)}"`)}) == 30`);
    for (let times = 0; times < 20; times++) expect(half.evaluate({})).toBe(true);
    expect(refusalOf(ofOneList('all', 7))).toMatch(tooLong);
    expect(refusalOf('loss > 0')).toBe('');
  });
});

describe('an expression that people write', () => {
  it.each<[string, Record<string, CelValue>, CelValue]>([
    ['(seed * 9973 + 12345) % N', { seed: 3n, N: 64n }, 24n],
    ['optimizer.matches("^(adam|sgd)w?$") && lr < 0.1', { optimizer: 'adamw', lr: 0.01 }, true],
    ['"^(a+)+$".size() == 7 && name.matches("^(a+)+$")', { name: `${'a'.repeat(5000)}b` }, false],
    ['sizes.exists(n, n > 2) ? "big" : "small"', { sizes: [1n, 2n, 3n] }, 'big'],
    ['sizes.map(n, string(n)).join("-")', { sizes: [1n, 2n] }, '1-2'],
    ['cel.bind(k, N * 2, k + k)', { N: 2n }, 8n],
    ['N in [16, 64, 256] && "x" in ["x", "y"]', { N: 64n }, true],
    ['{"b": 2}["b"]', {}, 2n],
    ['"a,b,c".split(",")[1]', {}, 'b'],
    ['path.substring(0, 3).upperAscii()', { path: 'abcdef' }, 'ABC'],
  ])('%s', (source, variables, value) => {
    expect(compileExpression(source).evaluate(variables)).toEqual(value);
  });

  it('may call every function of the library but those of values that may be absent', () => {
    const known = new Set(
      celEnvironment()
        .getDefinitions()
        .functions.map(({ name }) => name),
    );
    expect([...known].filter((name) => !celFunctions().includes(name)).sort()).toEqual([
      ...['hasValue', 'joinInstead', 'json', 'matchesInstead', 'none', 'of', 'or', 'orValue', 'value'],
    ]);
  });

  it('says what is wrong with a pattern, with its place', () => {
    expect(refusalOf('s.matches("a(?=b)")')).toContain(
      'the pattern cannot be used: invalid or unsupported Perl syntax: `(?=`',
    );
    expect(refusalOf('s.matches(p)', { s: 'a', p: '(' })).toContain(
      'the pattern "(" cannot be used: missing closing )',
    );
    expect(refusalOf('s.matches(1)')).not.toContain('Instead');
  });
});
