import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { timesAsMuch } from '../times-as-much.js';
import { UserError } from '../../src/base/user-error.js';
import { resolved } from '../../src/query/bare-words.js';
import { checkRunQuery } from '../../src/query/check.js';
import { completions } from '../../src/query/completions.js';
import { runTest } from '../../src/query/match.js';
import { finishedPart, parseRunQuery, readRunQuery } from '../../src/query/parser.js';
import { printRunQuery } from '../../src/query/text.js';
import { allOf, anyOf, type RunQuery } from '../../src/query/query.js';
import { factNames, fieldNames, fields } from '../../src/query/words.js';
import { aRun } from '../tui/simulated-fleet.js';

const HOUR = 3_600_000;
const now = 10 * HOUR;
const runs = [
  aRun('A_binary_s0', {
    subgroup: 'two words',
    state: 'done',
    attempt: 1,
    startedAt: now - 3 * HOUR,
    exit: { class: 'done', code: 0, signal: null },
    annotation: { starred: true, tags: ['good', 'Base-line'], note: 'lr too high\nagain' },
    parameters: { N: 64, lr: 1e-4, env: 'multi_step', deep: null },
  }),
  aRun('A_B8_s1', {
    state: 'failed',
    reason: 'RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x128 and 64x10)',
    attempt: 3,
    startedAt: now - HOUR,
    exit: { class: 'oom', code: null, signal: null },
    health: 'diverged',
    parameters: { N: 1024, lr: 4e-5, env: 'single_step', layers: [1, 2], age: 7 },
  }),
  aRun('B_B8_s2', {
    state: 'running',
    reason: 'its shapes are no error',
    attempt: 1,
    startedAt: now - 60_000,
    slot: 'gpu 3',
    gpus: [3, 2000],
    priority: 5,
    progress: 0.25,
    health: 'silent',
    parameters: { N: 16 },
    metrics: { 'test/bits_known': 3.5, N: 99, 'my loss': 2, diverged: null, peak: Infinity, floor: -Infinity },
  }),
];
const all = 'A_binary_s0 A_B8_s1 B_B8_s2';

function found(query: RunQuery): string {
  return runs
    .filter(runTest(query, now))
    .map(({ name }) => name)
    .join(' ');
}

describe('a bare word', () => {
  const names = { sweeps: new Set(['abcd', 'A']), groups: new Set(['A', 'B', 'abcd']), meant: (key: string) => key };
  const printed = (text: string) => printRunQuery(resolved(parseRunQuery(text), names));

  it.each<[string, string]>([
    ['abcd', 'sweep:abcd'],
    ['A', 'sweep:A'],
    ['B', 'group:B'],
    ['B8', 'B8'],
    ['b', 'b'],
    ['abcd/B', 'sweep:abcd (group:B or name:B)'],
    ['abcd/B_s0', 'sweep:abcd name:B_s0'],
    ['no/B', 'no/B'],
    ['abcd/', 'abcd/'],
    ['abcd seed=0', 'sweep:abcd seed=0'],
    ['not (B or x) abcd', 'not (group:B or x) sweep:abcd'],
    ['name:abcd', 'name:abcd'],
  ])('%s means %s', (text, meaning) => {
    expect(printed(text)).toBe(meaning);
  });
});

describe('a query', () => {
  it.each<[string, string]>([
    ['', all],
    ['  ', all],
    ['B8', 'A_B8_s1 B_B8_s2'],
    ['b8', 'A_B8_s1 B_B8_s2'],
    ['A*s1', 'A_B8_s1'],
    ['*', all],
    ['all', all],
    ['ALL B8', 'A_B8_s1 B_B8_s2'],
    ['not all', ''],
    ['B8 or all', all],
    ['"all"', ''],
    ['a.b', ''],
    ['B8 s2', 'B_B8_s2'],
    ['B8 and s2', 'B_B8_s2'],
    ['binary or s2', 'A_binary_s0 B_B8_s2'],
    ['binary OR B8 s2', 'A_binary_s0 B_B8_s2'],
    ['(binary or B8) N>=64', 'A_binary_s0 A_B8_s1'],
    ['not (binary or s2)', 'A_B8_s1'],
    ['not B8', 'A_binary_s0'],
    ['!B8', 'A_binary_s0'],
    ['!(B8)', 'A_binary_s0'],
    ['not not B8', 'A_B8_s1 B_B8_s2'],
    ['"or"', 'A_B8_s1'],
    ['"xor"', ''],
    ['status:failed', 'A_B8_s1'],
    ['status:done,running', 'A_binary_s0 B_B8_s2'],
    ['status:FAIL', 'A_B8_s1'],
    ['!status:failed', 'A_binary_s0 B_B8_s2'],
    ['group:A', 'A_binary_s0 A_B8_s1'],
    ['sweep:abcd', all],
    ['name:*_s?', ''],
    ['name:*_s2', 'B_B8_s2'],
    ['name:B8', ''],
    ['subgroup:"two words"', 'A_binary_s0'],
    ['subgroup:two*', 'A_binary_s0'],
    ['slot:gpu*', 'B_B8_s2'],
    ['gpu:3', 'B_B8_s2'],
    ['gpu:1:0', 'B_B8_s2'],
    ['gpu:0', ''],
    ['class:oom', 'A_B8_s1'],
    ['health:silent', 'B_B8_s2'],
    ['health:nan,s', 'B_B8_s2'],
    ['health:slow', ''],
    ['peak=inf', 'B_B8_s2'],
    ['peak>1e300 floor=-INF', 'B_B8_s2'],
    ['peak=nan', ''],
    ['peak=-inf', ''],
    ['health:diverged', 'A_B8_s1'],
    ['health:diverging', ''],
    ['health:diverg', 'A_B8_s1'],
    // What older versions called it, also in views that were saved.
    ['health:stalled', 'B_B8_s2'],
    ['health:ok,diverged,STALL', all],
    ['error:"shapes cannot"', 'A_B8_s1'],
    ['error:runtimeerror', 'A_B8_s1'],
    ['error:oom,"mat1*(32x128"', 'A_B8_s1'],
    ['error:"is no error"', ''],
    ['not error:*', 'A_binary_s0 B_B8_s2'],
    ['multiplied', 'A_B8_s1'],
    ['tag:good', 'A_binary_s0'],
    ['tag:base*', 'A_binary_s0'],
    ['tag:bad,good', 'A_binary_s0'],
    ['tag:goo', ''],
    ['not tag:*', 'A_B8_s1 B_B8_s2'],
    ['is:starred', 'A_binary_s0'],
    ['!is:star', 'A_B8_s1 B_B8_s2'],
    ['note:"too high"', 'A_binary_s0'],
    ['note:again', 'A_binary_s0'],
    ['too', ''],
    ['shapes', 'A_B8_s1'],
    ['A "shapes cannot"', 'A_B8_s1'],
    ['name:*shapes*', ''],
    ['N=64', 'A_binary_s0'],
    ['N=64.0', 'A_binary_s0'],
    ['N = 64', 'A_binary_s0'],
    ['N!=64', 'A_B8_s1 B_B8_s2'],
    ['N>=64', 'A_binary_s0 A_B8_s1'],
    ['N >= 64 lr<1', 'A_binary_s0 A_B8_s1'],
    ['N>64', 'A_B8_s1'],
    ['N<1024', 'A_binary_s0 B_B8_s2'],
    ['N<=64', 'A_binary_s0 B_B8_s2'],
    ['lr=1e-4', 'A_binary_s0'],
    ['env=MULTI_step', 'A_binary_s0'],
    ['layers=1,2', 'A_B8_s1'],
    ['deep=null', 'A_binary_s0'],
    ['test/bits_known>3', 'B_B8_s2'],
    ['"my loss"<3', 'B_B8_s2'],
    ['diverged=nan', 'B_B8_s2'],
    ['diverged<9', ''],
    ['missing>=0', ''],
    ['missing=3', ''],
    ['missing!=3', all],
    ['attempt>1', 'A_B8_s1'],
    ['age>2h', 'A_binary_s0'],
    ['age<=60', 'B_B8_s2'],
    ['age<90m', 'A_B8_s1 B_B8_s2'],
    ['"age"=7', 'A_B8_s1'],
    ['priority=5', 'B_B8_s2'],
    ['progress<0.5', 'B_B8_s2'],
    ['progress!=0.5', all],
  ])('%j finds %j', (text, names) => {
    expect(found(parseRunQuery(text))).toBe(names);
  });

  it.each<[string, number, string, string]>([
    ['status:ended', 8, 'there is no status "ended".', 'Known: `queued`, `starting`'],
    ['status:faild', 8, 'there is no status "faild".', 'Did you mean `failed`?'],
    ['health:stuck', 8, 'there is no health "stuck".', 'Known: `ok`, `nan`'],
    ['colour:red', 1, 'there is no field colour:.', 'Known: `status`'],
    ['state:done', 1, 'there is no field state:.', 'Did you mean `status`?'],
    ['group:', 7, 'group: needs a value.', 'group:A'],
    ['group: A', 7, 'group: needs a value.', 'group:A'],
    ['N>', 3, 'N> needs a value.', 'N>64'],
    ['ok N>', 6, 'N> needs a value.', 'N>64'],
    ['N>=big', 4, 'N>=big needs a number after >=.', 'N>=64'],
    ['age>soon', 5, 'age>soon needs a time, such as 90s, 30m, 2h or 1d, after >.', '"age" in quotes'],
    ['attempt>2h', 9, 'attempt>2h needs a number after >.', '"attempt" in quotes'],
    ['>3', 1, 'something to compare is missing before >.', 'N>64'],
    ['a or', 5, 'a term is expected here.', 'status:failed'],
    ['or a', 1, 'a term is expected here.', 'go in quotes'],
    ['not', 4, 'a term is expected here.', 'status:failed'],
    ['a and or b', 7, 'a term is expected here.', 'status:failed'],
    ['()', 2, 'a term is expected here.', 'status:failed'],
    ['a (b', 3, 'this parenthesis is not closed.', ')'],
    ['a) b', 2, 'no parenthesis is open here.', 'Remove it'],
    ['a "b', 3, 'this quote is not closed.', '"'],
    ['""', 1, 'these quotes are empty.', 'use all'],
    ['not ""', 5, 'these quotes are empty.', 'use all'],
  ])('%j is refused at character %i', (text, at, problem, fix) => {
    const read = readRunQuery(text);
    expect(read).toMatchObject({ kind: 'problem', problem, at: at - 1, fix: expect.stringContaining(fix) as string });
    expect(() => parseRunQuery(text)).toThrow(new RegExp(`at character ${at}:`));
  });

  it('nested a thousand deep is refused, not overflowed', () => {
    expect(readRunQuery('('.repeat(1000))).toMatchObject({ problem: 'this is nested too deeply.' });
    expect(readRunQuery('!'.repeat(1000))).toMatchObject({ problem: 'this is nested too deeply.' });
  });

  it('of a hundred thousand characters is refused at once, and not repeated', () => {
    const texts = ['x '.repeat(50_000), 'x'.repeat(100_000), '"'.repeat(100_000), '(a or'.repeat(20_000)];
    for (const each of texts) {
      expect(readRunQuery(each)).toMatchObject({ problem: 'it has 100000 characters; the limit is 10000.' });
      expect(caught(() => parseRunQuery(each)).message.length).toBeLessThan(300);
      expect(finishedPart(each)).toBe('');
      expect(completions(each, each.length, runs).candidates).toEqual([]);
    }
    const readAll = (length: number) =>
      texts.forEach((each) => {
        readRunQuery(each.slice(0, length));
        finishedPart(each.slice(0, length));
        completions(each.slice(0, length), length, runs);
      });
    // Less than to read what is just short enough.
    const cost = timesAsMuch(
      () => readAll(100_000),
      () => readAll(10_000),
    );
    expect(cost).toBeLessThan(2);
  });

  it.each<[string, string, string]>([
    ['n_layer=2', 'No run has a parameter or a metric `n_layer`.', 'Known: `N`'],
    ['not layer=2', 'No run has a parameter or a metric `layer`.', 'Did you mean `layers`?'],
    ['A or (B test/bits_knwon>2)', 'No run has a parameter or a metric `test/bits_knwon`.', '`test/bits_known`'],
    ['group:C', 'There is no group `C`.', 'Did you mean `A`?'],
    ['not tag:goodd', 'There is no tag `goodd`.', 'Did you mean `good`?'],
    ['subgroup:"two word"', 'There is no subgroup `two word`.', 'Did you mean `two words`?'],
  ])('%j, of which the runs know nothing, is refused with the nearest word', (text, problem, fix) => {
    const check = () => checkRunQuery(parseRunQuery(text), runs);
    expect(check).toThrow(problem);
    expect(caught(check).fix).toContain(fix);
  });

  it('passes the check when any run has what it names', () => {
    checkRunQuery(parseRunQuery('N=3 (test/bits_known>2 or not group:A,B) gpu:9 age>1d'), runs);
    checkRunQuery(parseRunQuery('anything=1'), []);
  });
});

const text = fc.oneof(
  fc.string(),
  fc.constantFrom('a b', 'not', 'OR', 'all', 'x"y', 'a\\', 'a:b', '(', '=1', 'a,b', '!', '!='),
);
const someText = text.filter((each) => each !== '');
const operator = fc.constantFrom('=' as const, '!=' as const);
const order = fc.constantFrom('>' as const, '<' as const, '>=' as const, '<=' as const);
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (Object.is(value, -0) ? 0 : value));

const term: fc.Arbitrary<RunQuery> = fc.oneof(
  fc.record({ kind: fc.constant('word' as const), text: someText }),
  fc.constantFrom(...fieldNames).chain((field) =>
    fc.record({
      kind: fc.constant('field' as const),
      field: fc.constant(field),
      choices: fc.array(fields[field].words === null ? someText : fc.constantFrom(...fields[field].words), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  ),
  fc.record({
    kind: fc.constant('fact' as const),
    fact: fc.constantFrom(...factNames),
    operator: fc.oneof(operator, order),
    value: number,
  }),
  fc.record({
    kind: fc.constant('value' as const),
    key: fc.oneof(someText, fc.constant('age')),
    operator,
    value: text,
  }),
  fc.record({ kind: fc.constant('value' as const), key: someText, operator: order, value: number.map(String) }),
);
const query: fc.Arbitrary<RunQuery> = fc.letrec<{ query: RunQuery }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    term,
    fc.constant(allOf([])),
    tie('query').map((part): RunQuery => ({ kind: 'not', part })),
    fc.array(tie('query'), { minLength: 1, maxLength: 3 }).map(allOf),
    fc.array(tie('query'), { minLength: 1, maxLength: 3 }).map(anyOf),
  ),
})).query;

describe('any query', () => {
  it('printed and read again is the same', () => {
    fc.assert(fc.property(query, (each) => void expect(parseRunQuery(printRunQuery(each))).toEqual(each)));
  });

  it('obeys De Morgan', () => {
    fc.assert(
      fc.property(query, query, (a, b) => {
        const not = (part: RunQuery): RunQuery => ({ kind: 'not', part });
        expect(found(not(allOf([a, b])))).toBe(found(anyOf([not(a), not(b)])));
        expect(found(not(anyOf([a, b])))).toBe(found(allOf([not(a), not(b)])));
        expect(found(not(not(a)))).toBe(found(a));
      }),
    );
  });

  it('reads any text, or refuses it at one of its characters', () => {
    const piece = fc.constantFrom(
      'status:',
      'N',
      '>=',
      '!',
      '"',
      '(',
      ')',
      ' or ',
      ' and ',
      'not ',
      ',',
      '\\',
      'age',
      '2h',
    );
    const texts = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.oneof(piece, fc.string({ maxLength: 2 }))).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (each) => {
        const read = readRunQuery(each);
        if (read.kind !== 'problem') return void found(read);
        expect(read.at).toBeGreaterThanOrEqual(0);
        expect(read.at).toBeLessThanOrEqual(each.length);
        expect(caught(() => parseRunQuery(each))).toBeInstanceOf(UserError);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the part of a query that can be used while it is typed', () => {
  it.each([
    ['sta', ''],
    ['status:', ''],
    ['status:failed', 'status:failed'],
    ['B8 N>', 'B8 '],
    ['B8 N>=1', 'B8 N>=1'],
    ['B8 or', 'B8 '],
    ['B8 or (A', 'B8 '],
    ['B8 or (A)', 'B8 or (A)'],
    ['dense sub', 'dense '],
    ['B8 "two wo', 'B8 '],
  ])('%j is %j', (typed, part) => {
    expect(finishedPart(typed)).toBe(part);
  });

  it('is a query, whatever is typed', () => {
    fc.assert(
      fc.property(fc.string(), (typed) => void expect(readRunQuery(finishedPart(typed)).kind).not.toBe('problem')),
    );
  });
});

describe('completion', () => {
  it.each<{ typed: string; from: number; offers: string[] }>([
    { typed: 'sta', from: 0, offers: ['status:'] },
    { typed: 'status:f', from: 7, offers: ['failed'] },
    { typed: 'status:failed,que', from: 14, offers: ['queued'] },
    { typed: 'group:', from: 6, offers: ['A', 'B'] },
    { typed: 'a or (subgroup:t', from: 15, offers: ['"two words"'] },
    { typed: 'lay', from: 0, offers: ['layers'] },
    { typed: 'N=', from: 2, offers: ['64', '1024', '16'] },
    { typed: 'N=1', from: 2, offers: ['1024', '16'] },
    { typed: '!A_b', from: 1, offers: ['A_binary_s0', 'A_B8_s1'] },
    { typed: 'my', from: 0, offers: ['"my loss"'] },
    { typed: 'tag:', from: 4, offers: ['good', 'Base-line'] },
    { typed: 'is:', from: 3, offers: ['starred'] },
    { typed: 'x not', from: 2, offers: ['note:'] },
    { typed: 'health:s', from: 7, offers: ['silent', 'slow'] },
    { typed: 'status:"f', from: 7, offers: ['failed'] },
  ])('of $typed offers $offers', ({ typed, from, offers }) => {
    expect(completions(typed, typed.length, runs)).toEqual({ from, candidates: offers });
  });

  it('offers of an error what precedes its first number', () => {
    const typed = 'error:';
    expect(completions(typed, typed.length, runs).candidates).toEqual(['"RuntimeError: mat"']);
  });

  it('looks at what stands before the cursor', () => {
    expect(completions('gro N>3', 3, runs)).toEqual({ from: 0, candidates: ['group:'] });
  });

  it('offers nothing that cannot be read', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), (typed) => {
        const { from, candidates } = completions(typed, typed.length, runs);
        expect(from).toBeLessThanOrEqual(typed.length);
        expect(candidates.length).toBeLessThanOrEqual(200);
      }),
    );
    for (const candidate of completions('', 0, runs).candidates) {
      if (candidate === 'not' || candidate === 'or' || candidate.endsWith(':')) continue;
      expect({ candidate, kind: readRunQuery(candidate).kind }).not.toMatchObject({ kind: 'problem' });
    }
  });
});

function caught(action: () => unknown): UserError {
  try {
    action();
  } catch (error) {
    return error as UserError;
  }
  throw new Error('nothing was thrown');
}
