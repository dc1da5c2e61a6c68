import type { ASTNode } from '@marcbachmann/cel-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { celEnvironment, celFunctions } from '../../../../src/spec/expand/expression/cel-environment.js';
import { boundOf } from '../../../../src/spec/expand/expression/expression-bound.js';
import {
  compileExpression,
  ExpressionError,
  rowLimits,
  usualLimits,
} from '../../../../src/spec/expand/expression/expression.js';
import { type CelValue, sizeOf } from '../../../../src/spec/expand/expression/function-bounds.js';

const list = (length: number) => `[${Array.from({ length }, (_, index) => index).join(', ')}]`;
const nested = (macro: string, depth: number, body: string) =>
  Array.from({ length: depth }, (_, level) => `${list(30)}.${macro}(v${level}, `).join('') + body + ')'.repeat(depth);
const doubled = (times: number, of = '["aa"]', body = (name: string) => `${name} + ${name}`) =>
  of + Array.from({ length: times }, (_, index) => `.map(v${index}, ${body(`v${index}`)})`).join('');

/** What an expression is refused for, and in what time, ms. */
function refusalOf(source: string, variables?: Record<string, CelValue>): { why: string; took: number } {
  const begin = performance.now();
  const took = () => performance.now() - begin;
  try {
    const expression = compileExpression(source);
    if (variables) expression.evaluate(variables);
    return { why: '', took: took() };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return { why: error.message, took: took() };
  }
}

/** More in the long form: `MUTATIONS=100000 npx vitest run test/spec/expand/expression/expression-bound.test.ts`. */
const examples = Number(process.env['MUTATIONS'] ?? 800);

describe('an expression that would take for ever, or all memory', () => {
  it.each<{ what: string; source: string }>([
    { what: 'all in all', source: nested('all', 5, 'true') },
    { what: 'exists in exists', source: nested('exists', 5, 'loss > 5') },
    { what: 'map in map', source: `size(${nested('map', 5, '1')}) > 0` },
    { what: 'filter in filter', source: nested('filter', 4, 'size([1].filter(w, true)) > 0') },
    { what: 'texts that double', source: doubled(40) },
    { what: 'lists that double', source: doubled(40, '[[1]]') },
    { what: 'lists in lists', source: doubled(60, '[1]', (name) => `[${name}, ${name}]`) },
    { what: 'maps in maps', source: doubled(40, '[1]', (name) => `{"a": ${name}, "b": ${name}}`) },
    { what: 'types that double, of nothing', source: doubled(40, '[]', (name) => `{${name}: ${name}}`) },
    { what: 'bindings that double', source: Array(40).fill('cel.bind(a, a + a, ').join('') + 'a' + ')'.repeat(40) },
    { what: 'a long text', source: `"${'x'.repeat(20_000)}" == s` },
    { what: 'a text that is a list of durations', source: `duration("${'1'.repeat(2000)}") == d` },
  ])('is refused at once: $what', ({ source }) => {
    const { why, took } = refusalOf(source, { loss: 1, s: 'x', a: 'xx', d: 1 });
    expect(why).toMatch(/limit|at most/);
    expect(took).toBeLessThan(500);
  });

  it('is refused where its variables are too large for it', () => {
    const source = 'xs.all(a, xs.all(b, xs.all(c, a + b + c >= 0)))';
    const numbers = (length: number) => Array.from({ length }, (_, index) => BigInt(index));
    expect(compileExpression(source).evaluate({ xs: numbers(10) })).toBe(true);
    expect(refusalOf(source, { xs: numbers(100) }).why).toContain('limit');
    expect(refusalOf('s.duration() == s', { s: 'x' }).why).toContain('duration');
    expect(refusalOf('s.contains(t)', { s: 'a'.repeat(100_000), t: `${'a'.repeat(50_000)}b` }).why).toContain('limit');
  });

  it('is shown with the part that is too much', () => {
    const source = `loss < 1 && ${nested('all', 4, 'true')}`;
    const caught = (() => {
      try {
        compileExpression(source);
        return null;
      } catch (error) {
        return error as ExpressionError;
      }
    })();
    expect(caught?.message).toMatch(/^this can take [\d,]+ steps, and 100,000 are the limit: use shorter lists/);
    expect(source.slice(caught!.start, caught!.end)).toMatch(/^\[0, 1/);
  });

  it('costs a rule that looks at every row less than one that is evaluated once', () => {
    const source = `${list(100)}.all(a, ${list(10)}.all(b, a * b < loss))`;
    expect(() => compileExpression(source, usualLimits)).not.toThrow();
    expect(() => compileExpression(source, rowLimits)).toThrow(ExpressionError);
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

  it('may call every function of the library but those without a bound', () => {
    const known = new Set(celEnvironment.getDefinitions().functions.map(({ name }) => name));
    expect([...known].filter((name) => !celFunctions.includes(name)).sort()).toEqual([
      ...['hasValue', 'json', 'matchesInOnePass', 'none', 'of', 'or', 'orValue', 'value'],
    ]);
  });

  it('says what is wrong with a pattern, with its place', () => {
    expect(refusalOf('s.matches("a(?=b)")').why).toContain(
      'the pattern cannot be used: invalid or unsupported Perl syntax: `(?=`',
    );
    expect(refusalOf('s.matches(p)', { s: 'a', p: '(' }).why).toContain(
      'the pattern "(" cannot be used: missing closing )',
    );
    expect(refusalOf('s.matches(1)').why).not.toContain('InOnePass');
  });
});

describe('the bound of an expression', () => {
  /** Counts every operation that the library evaluates. */
  function counted(source: string): { ast: ASTNode; run: (variables: object) => unknown; count: () => number } {
    let count = 0;
    const parsed = celEnvironment.parse(source);
    const seen = new Set<object>();
    const watch = (value: unknown): void => {
      if (typeof value !== 'object' || value === null || seen.has(value)) return;
      seen.add(value);
      if (Array.isArray(value)) return value.forEach(watch);
      if ('op' in value) watchNode(value as ASTNode & { evaluate: (...args: unknown[]) => unknown });
      Object.values(value).forEach(watch);
    };
    const watchNode = (node: ASTNode & { evaluate: (...args: unknown[]) => unknown; meta?: object }): void => {
      const first = node.evaluate;
      let inner = first;
      const outer = (...args: unknown[]): unknown => {
        // The first one only puts the right one in its place, and calls it through here.
        if (inner !== first) count += 1;
        return inner.apply(node, args);
      };
      Object.defineProperty(node, 'evaluate', { get: () => outer, set: (own) => void (inner = own as typeof inner) });
      Object.values((node as { meta?: object }).meta ?? {}).forEach(watch);
    };
    watch(parsed.ast);
    return { ast: parsed.ast, run: (variables) => parsed(variables) as unknown, count: () => count };
  }

  const weightOf = (value: unknown): number => {
    if (typeof value === 'string') return 1 + value.length;
    if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + weightOf(item), 1);
    if (typeof value !== 'object' || value === null) return 1;
    return Object.entries(value).reduce((sum, [key, item]) => sum + weightOf(key) + weightOf(item), 1);
  };

  const names = ['a', 'b', 'c'];
  const leaf = fc.constantFrom(
    ...['1', '2.5', 'true', '"x"', '"ab cd"', '[]', '[1, 2, 3]', '["p", "qq"]', 'n', 's', 'xs'],
  );
  const { any } = fc.letrec<{ any: string }>((tie) => {
    const some = tie('any');
    const two = fc.tuple(some, some);
    const bound = fc.tuple(some, fc.constantFrom(...names), some);
    return {
      any: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        fc.oneof(leaf, fc.constantFrom(...names)),
        two.map(([left, right]) => `(${left} + ${right})`),
        two.map(([left, right]) => `(${left} == ${right} || ${right} in [${left}])`),
        two.map(([left, right]) => `[${left}, ${right}]`),
        two.map(([left, right]) => `{"k": ${left}, "l": ${right}}`),
        fc.tuple(some, some, some).map(([test, left, right]) => `(${test} == 1 ? dyn(${left}) : dyn(${right}))`),
        bound.map(([from, name, body]) => `dyn(${from}).map(${name}, ${body})`),
        bound.map(([from, name, body]) => `dyn(${from}).map(${name}, ${name} == ${name}, ${body})`),
        bound.map(([from, name, body]) => `dyn(${from}).filter(${name}, ${body} != 3)`),
        bound.map(([from, name, body]) => `dyn(${from}).all(${name}, ${body} != 3)`),
        bound.map(([from, name, body]) => `dyn(${from}).exists(${name}, ${body} == 3)`),
        bound.map(([from, name, body]) => `cel.bind(${name}, ${from}, ${body})`),
        two.map(([text, by]) => `string(${text}).split(string(${by}))`),
        two.map(([texts, by]) => `dyn(${texts}).map(z, string(z)).join(string(${by}))`),
        some.map((text) => `string(${text}).upperAscii().substring(0, 1)`),
        some.map((of) => `size(string(${of}))`),
      ),
    };
  });
  const variables = fc.record({
    n: fc.oneof(fc.bigInt(-3n, 3n), fc.double({ noNaN: true })),
    s: fc.string({ maxLength: 40 }),
    xs: fc.array(fc.oneof(fc.bigInt(0n, 9n), fc.string({ maxLength: 5 })), { maxLength: 8 }),
    ...{ a: fc.constant('free'), b: fc.constant(2n), c: fc.constant(true) },
  });

  it('is never exceeded, neither in steps nor in size nor in time', () => {
    let within = 0;
    let done = 0;
    fc.assert(
      fc.property(any, variables, (source, values) => {
        const watched = counted(source);
        const sizes = new Map(Object.entries(values).map(([name, value]) => [name, sizeOf(value as CelValue)]));
        let bound;
        try {
          bound = boundOf(watched.ast, sizes, usualLimits);
        } catch {
          return;
        }
        within += 1;
        const begin = performance.now();
        let result: unknown = null;
        try {
          result = watched.run(values);
          done += 1;
        } catch {
          // Types that do not go together; what was done until then counts all the same.
        }
        expect(performance.now() - begin).toBeLessThan(200 + bound.steps / 100);
        expect(watched.count()).toBeLessThanOrEqual(bound.steps);
        expect(weightOf(result)).toBeLessThanOrEqual(Math.max(bound.size.weight, bound.size.length + 1, 26));
      }),
      { numRuns: examples },
    );
    expect(within).toBeGreaterThan(examples / 2);
    expect(done).toBeGreaterThan(examples / 20);
  });

  it('counts what is done for each item of a list', () => {
    const watched = counted(`${list(10)}.all(a, ${list(10)}.all(b, a + b >= 0))`);
    expect(watched.run({})).toBe(true);
    expect(watched.count()).toBeGreaterThan(10 * 10 * 5);
  });

  it('is close enough for what people write to be let through', () => {
    const steps = (source: string) => boundOf(celEnvironment.parse(source).ast, new Map(), usualLimits).steps;
    expect(steps('test_bits_known >= 9.9 && step > 100')).toBeLessThan(20);
    expect(steps(`${list(20)}.exists(a, ${list(20)}.exists(b, a * b == N))`)).toBeLessThan(10_000);
  });
});
