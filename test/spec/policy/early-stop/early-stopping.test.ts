import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EarlyTerminate, type Objective } from '../../../../src/spec/planned-run.js';
import { EarlyStopping } from '../../../../src/spec/policy/early-stop/early-stopping.js';
import { earlyStopRule, isEarlyStop } from '../../../../src/spec/policy/early-stop/verdict.js';
import { naiveWhy } from './naive.js';

const loss: Objective = { name: 'loss', goal: 'minimize' };
const score: Objective = { name: 'score', goal: 'maximize' };
const rule = (text: object) => EarlyTerminate.parse(text);

/** Feeds whole histories, one value of each run in turn, and gives what was said of each run first. */
function played(stopping: EarlyStopping, histories: Record<string, number[]>): Record<string, string | null> {
  const said: Record<string, string | null> = {};
  const longest = Math.max(...Object.values(histories).map(({ length }) => length));
  for (let index = 0; index < longest; index += 1) {
    for (const [run, history] of Object.entries(histories)) {
      if (index < history.length) said[run] ??= stopping.note(run, history[index]!);
    }
  }
  return said;
}

describe('hyperband, as W&B does it', () => {
  it('ends runs that are worse than the best 1/eta at the largest band they have reached', () => {
    const stopping = new EarlyStopping(rule({ type: 'hyperband', max_iter: 5, eta: 2, s: 2 }), loss);
    // Bands 1 and 2: int(5/4) and int(5/2).
    expect(played(stopping, { e: [10, 6, 6], d: [10, 7, 7], c: [10, 8, 8], b: [10, 10] })).toEqual({
      e: null,
      d: null,
      c: 'hyperband: 8 at iteration 2 is above 7, the best half of 3 runs',
      b: 'hyperband: 10 at iteration 2 is above 8, the best half of 4 runs',
    });
  });

  it('judges a run again after every value, so that siblings that come later end it', () => {
    const stopping = new EarlyStopping(rule({ type: 'hyperband', min_iter: 1, eta: 3 }), loss);
    expect(stopping.note('first', 5)).toBeNull();
    for (const run of ['a', 'b', 'c']) expect(stopping.note(run, 1)).toBeNull();
    expect(stopping.note('first', 0.5)).toBe('hyperband: 5 at iteration 1 is above 1, the best third of 4 runs');
  });

  it('looks at the best value so far when it is not strict', () => {
    const lenient = new EarlyStopping(rule({ type: 'hyperband', min_iter: 2, strict: false }), loss);
    const strict = new EarlyStopping(rule({ type: 'hyperband', min_iter: 2 }), loss);
    for (const stopping of [lenient, strict]) {
      expect(played(stopping, { a: [4, 4], b: [4, 4], c: [4, 4] })).toEqual({ a: null, b: null, c: null });
    }
    expect([lenient.note('late', 1), lenient.note('late', 9)]).toEqual([null, null]);
    expect([strict.note('late', 1), strict.note('late', 9)]).toEqual([
      null,
      expect.stringContaining('9 at iteration 2'),
    ]);
  });

  it('turns everything round for a metric that is to be large', () => {
    const stopping = new EarlyStopping(rule({ type: 'hyperband', min_iter: 1 }), score);
    expect(played(stopping, { good: [0.9], bad: [0.1], worse: [0.05] })).toEqual({
      good: null,
      bad: 'hyperband: 0.1 at iteration 1 is below 0.9, the best third of 2 runs',
      worse: 'hyperband: 0.05 at iteration 1 is below 0.1, the best third of 3 runs',
    });
  });

  it('has no bands when max_iter is below eta, and then ends nobody', () => {
    const stopping = new EarlyStopping(rule({ type: 'hyperband', max_iter: 2, s: 5 }), loss);
    expect(played(stopping, { a: [1, 1, 1], b: [9, 9, 9] })).toEqual({ a: null, b: null });
  });
});

describe('asha', () => {
  it('lets the first at a rung go on, and then only the best 1/eta of those who got there', () => {
    const stopping = new EarlyStopping(rule({ type: 'asha', min_iter: 1, eta: 2 }), loss);
    expect(played(stopping, { first: [5], better: [4], between: [4.5], best: [1] })).toEqual({
      first: null,
      better: null,
      between: 'asha: 4.5 at iteration 1 is above 4, the best half of 3 runs',
      best: null,
    });
  });

  it('judges nobody between two rungs or after max_iter', () => {
    const stopping = new EarlyStopping(rule({ type: 'asha', min_iter: 2, eta: 3, max_iter: 10 }), loss);
    const flat = (value: number) => Array.from({ length: 30 }, () => value);
    const good = flat(1);
    const spoilt = good.map((value, index) => ([1, 5].includes(index) ? value : 99));
    expect(played(stopping, { good, spoilt })).toEqual({ good: null, spoilt: null });
    expect(played(stopping, { bad: flat(2) }).bad).toContain('asha: 2 at iteration 2 is above 1');
  });
});

describe('the median rule', () => {
  const constant = (value: number, length: number) => Array.from({ length }, () => value);

  it('ends a run whose best is worse than the median of what its siblings averaged up to there', () => {
    const stopping = new EarlyStopping(rule({ type: 'median', min_iter: 3 }), loss);
    const siblings = { a: constant(1, 5), b: constant(2, 5), c: constant(3, 5) };
    expect(played(stopping, siblings)).toEqual({ a: null, b: null, c: null });
    expect(played(stopping, { d: [9, 9, 2.5] }).d).toBe(
      'median: 2.5 at iteration 3 is above 2, the median of what 3 siblings averaged',
    );
    expect(played(stopping, { e: [9, 1.9, 9] }).e).toBeNull();
  });

  it('waits until `min_runs` siblings have come as far', () => {
    const stopping = new EarlyStopping(rule({ type: 'median', min_runs: 2 }), loss);
    expect(played(stopping, { a: [1], b: [2], c: [9] })).toEqual({
      a: null,
      b: null,
      c: expect.stringContaining('above 1.5') as string,
    });
  });
});

describe('early stopping', () => {
  const rules = [
    { type: 'hyperband', min_iter: 1 },
    { type: 'hyperband', max_iter: 27, s: 3, strict: false },
    { type: 'asha', min_iter: 1, eta: 2 },
    { type: 'asha', min_iter: 2, eta: 2.5, max_iter: 20 },
    { type: 'median', min_iter: 2, min_runs: 1 },
  ].map(rule);
  const runs = ['a', 'b', 'c', 'd', 'e'];
  const notes = fc.array(
    fc.record({ run: fc.constantFrom(...runs), value: fc.oneof(fc.integer({ min: -9, max: 9 }), fc.constant(NaN)) }),
    { maxLength: 120 },
  );

  it.each(rules.map((each) => ({ name: JSON.stringify(each), each })))(
    'judges a run by past siblings as it does by their values: $name',
    ({ each }) => {
      fc.assert(
        fc.property(notes, notes, (past, told) => {
          const [read, recalled] = [new EarlyStopping(each, loss), new EarlyStopping(each, loss)];
          for (const { run, value } of past) read.remember(`past ${run}`, value);
          for (const run of runs) recalled.recall(`past ${run}`, read.passed(`past ${run}`));
          for (const { run, value } of told) expect(recalled.note(run, value)).toEqual(read.note(run, value));
          for (const run of runs) for (const stopping of [read, recalled]) stopping.forget(`past ${run}`);
          for (const { run, value } of told) expect(recalled.note(run, value)).toEqual(read.note(run, value));
        }),
      );
    },
  );

  it.each(rules.map((each) => ({ name: JSON.stringify(each), each })))(
    'says what a plain reading of the rule says, whatever the order: $name',
    ({ each }) => {
      fc.assert(
        fc.property(notes, fc.constantFrom(loss, score), (told, objective) => {
          const stopping = new EarlyStopping(each, objective);
          const histories = new Map<string, number[]>();
          const ended = new Set<string>();
          for (const { run, value } of told) {
            const why = stopping.note(run, value);
            if (ended.has(run)) expect(why).not.toBeNull();
            if (ended.has(run) || !Number.isFinite(value)) continue;
            const signed = objective.goal === 'maximize' ? -value : value;
            histories.set(run, [...(histories.get(run) ?? []), signed]);
            expect(why !== null).toBe(naiveWhy(each, histories, run));
            if (why !== null) ended.add(run);
          }
        }),
        { numRuns: 150 },
      );
    },
  );

  it.each(rules.map((each) => ({ name: JSON.stringify(each), each })))(
    'has no trace of a run that it forgot: $name',
    ({ each }) => {
      fc.assert(
        fc.property(notes, (told) => {
          const without = new EarlyStopping(each, loss);
          const forgetful = new EarlyStopping(each, loss);
          for (const { run, value } of told.filter(({ run: name }) => name === 'a')) forgetful.note(run, value);
          forgetful.forget('a');
          expect(forgetful.iterations('a')).toBe(0);
          for (const { run, value } of told) expect(forgetful.note(run, value)).toBe(without.note(run, value));
        }),
        { numRuns: 50 },
      );
    },
  );

  it('counts finite values only, and nothing of a run after it said that the run should end', () => {
    const stopping = new EarlyStopping(rule({ type: 'asha', min_iter: 2 }), loss);
    for (const value of [1, NaN, Infinity, 1]) stopping.note('a', value);
    expect(stopping.iterations('a')).toBe(2);
    const why = [NaN, 5, NaN, 5].map((value) => stopping.note('b', value)).at(-1);
    expect(why).not.toBeNull();
    expect(stopping.note('b', 0)).toBe(why);
    expect(stopping.iterations('b')).toBe(2);
  });

  it('shows two numbers in as many digits as tell them apart', () => {
    const stopping = new EarlyStopping(rule({ type: 'asha' }), loss);
    stopping.note('a', 1.00001);
    expect(stopping.note('b', 1.00002)).toContain('1.00002 at iteration 1 is above 1.00001');
    expect(stopping.note('c', 2.7182e11)).toContain('2.72e11 at iteration 1 is above 1,');
    expect(stopping.note('d', 1.000013)).toContain('1.000013 at iteration 1 is above 1.00001,');
  });
});

describe('the rule of an outcome', () => {
  it('is known by its first words', () => {
    expect(isEarlyStop(earlyStopRule('asha: 2 is above 1'))).toBe(true);
    expect(isEarlyStop('early_terminate > 3')).toBe(false);
  });
});
