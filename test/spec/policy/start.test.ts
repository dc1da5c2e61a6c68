import { describe, expect, it } from 'vitest';
import { startTimes } from '../../../src/launch/demand.js';
import { PlanReader, planBlocks } from '../../../src/spec/plan-text.js';
import { policyWords } from '../../../src/spec/policy/policy-words.js';
import { planOf, refusal } from '../sweeps.js';

const zone = 'Europe/Berlin';
const startsOf = (text: string, options = {}) =>
  planOf(`command: [a]\n${text}`, { zone, ...options }).runs.map(({ group, start }) => [group, start]);
const told = (start: string, options = {}) => refusal(() => planOf(`command: [a]\nstart: ${start}\n`, options));
const groups = 'groups: { warm: {}, main: { needs: warm }, now: { start: null } }\n';

describe('the start time of a file', () => {
  it('is that of a group, else that of the sweep, with the zone of the launch', () => {
    const window = ['20:00', '08:00'];
    expect(
      startsOf(
        "start: { between: ['20:00', '08:00'] }\ngroups: { a: {}, b: { start: { at: '22:00' } }, c: { start: null } }",
      ),
    ).toEqual([
      ['a', { between: window, zone }],
      ['b', { at: '22:00', zone }],
      ['c', undefined],
    ]);
  });

  it.each([
    { start: "{ at: '7:30' }", words: ['starts at 7:30'], times: { at: { time: 27_000 } } },
    { start: '{ after: 1h30m }', words: ['starts 1h30m after the launch'], times: { afterMs: 5_400_000 } },
    {
      start: "{ at: '2026-12-01 22:00' }",
      words: ['starts at 2026-12-01 22:00'],
      times: { at: { instant: Date.parse('2026-12-01T21:00Z') } },
    },
    {
      start: "{ between: ['20:00', '08:00'], days: [mon, fri], outside: pause }",
      words: ['starts between 20:00 and 08:00 on mon, fri, and is paused outside of that'],
      times: { between: [72_000, 28_800], days: [1, 5], pauses: true },
    },
    { start: '{ days: sun, outside: continue }', words: ['starts on sun'], times: { days: [0] } },
  ])('is told and given to the scheduler: $start', ({ start, words, times }) => {
    const run = planOf(`command: [a]\nstart: ${start}\n`, { zone }).runs[0]!;
    expect(policyWords(run)).toEqual(words);
    expect(startTimes(run.start!)).toEqual({ zone, ...times });
  });

  it.each([
    {
      start: "{ at: '25:00' }",
      problem:
        "x.yaml:2:14: start.at: expected a time of day in quotes, with a date or without: '22:00', '2026-12-01 22:00', but found the text \"25:00\".",
    },
    { start: "{ at: '2026-02-30 22:00' }", problem: 'x.yaml:2:14: start.at: expected a time of day' },
    { start: '{ at: 22 }', problem: 'x.yaml:2:14: start.at: expected a time of day in quotes' },
    {
      start: "{ between: ['20:00', '20:00'] }",
      problem: "start.between: expected two different times of day in quotes: ['20:00', '08:00'], but found a list.",
    },
    { start: "{ between: ['8:00', '08:00'] }", problem: 'start.between: expected two different times of day' },
    { start: "{ between: ['20:00'] }", problem: 'start.between' },
    { start: "{ between: ['20:00', 8] }", problem: "start.between[1]: expected a time of day in quotes: '22:00'" },
    {
      start: '{ days: [monday] }',
      problem: 'start.days[0]: expected one or more of sun, mon, tue, wed, thu, fri, sat',
    },
    { start: '{ days: [] }', problem: 'start.days: expected one or more of sun' },
    { start: '{ outside: pause }', problem: 'start: expected `between` or `days` beside `outside`' },
    { start: "{ betwen: ['20:00', '08:00'] }", problem: '`betwen` is not a key of `start`. Did you mean `between`?' },
    {
      start: "'22:00'",
      problem:
        "start: expected {at: '22:00', after: 2h, between: ['20:00', '08:00'], days: [mon, fri], outside: pause} or null",
    },
  ])('is refused with its place: $start', ({ start, problem }) => expect(told(start).message).toContain(problem));

  it('has to be in quotes in a file of W&B, where 22:00 is a number', () => {
    const text = 'program: t.py\nmethod: grid\nparameters: { n: { values: [1] } }\nstart: { at: 22:00 }\n';
    expect(refusal(() => planOf(text)).message).toContain('expected a time of day in quotes');
  });

  it('is one object for all runs of a group, and outlives the text of a plan', () => {
    const plan = planOf("command: [a]\nparameters: { n: [1, 2, 3] }\nstart: { at: '22:00' }\n", { zone });
    expect(new Set(plan.runs.map(({ start }) => start)).size).toBe(1);
    const reader = new PlanReader();
    for (const block of planBlocks(plan)) reader.push(block);
    expect(reader.plan()).toEqual(plan);
  });
});

describe('--at', () => {
  const at = '2026-12-01 22:00:00+01:00';
  const set = [`start.at=${at}`];

  it('is for all groups, needed ones, too, and leaves windows as they are', () => {
    expect(startsOf(`start: { after: 2h, days: [mon] }\n${groups}`, { set, groups: ['main', 'now'] })).toEqual([
      ['warm', { at, days: ['mon'], zone }],
      ['main', { at, days: ['mon'], zone }],
      ['now', { at, zone }],
    ]);
    expect(planOf(`command: [a]\n${groups}`, { set }).notes).toBeUndefined();
  });

  it('is for lists of commands, too', () => {
    expect(planOf('true\nfalse\n', { path: 'x.txt', set, zone }).runs.map(({ start }) => start)).toEqual([
      { at, zone },
      { at, zone },
    ]);
  });

  it('can be said as any key can: --set', () => {
    expect(startsOf(groups, { set: ['start={after: 60}'], groups: ['now'] })).toEqual([['now', { after: 60, zone }]]);
    expect(startsOf("start: { at: '22:00' }", { set: ['start=null'] })).toEqual([['runs', undefined]]);
    expect(refusal(() => planOf('command: [a]', { set: ['start={at: 25:00}'] })).message).toContain('a time of day');
  });

  it('is kept for the runs that a search proposes, with its zone', () => {
    const open =
      'command: [a]\nmethod: bayes\nrun_cap: 5\nmetric: { name: loss }\nparameters: { lr: { min: 0, max: 1 } }\n';
    expect(planOf(`${open}start: { after: 2h }\n`, { zone }).source).toMatchObject({ zone });
    expect(planOf(open, { zone }).source).not.toHaveProperty('zone');
  });
});
