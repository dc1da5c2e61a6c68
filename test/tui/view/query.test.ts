import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseQuery } from '../../../src/tui/view/query.js';
import { aRun } from '../simulated-fleet.js';

const runs = [
  aRun('A_binary_s0', {
    subgroup: 'two words',
    state: 'done',
    parameters: { N: 64, lr: 1e-4, env: 'multi_step', deep: null },
  }),
  aRun('A_B8_s1', { state: 'failed', parameters: { N: 1024, lr: 4e-5, env: 'single_step', layers: [1, 2] } }),
  aRun('B_B8_s2', {
    state: 'running',
    slot: 'gpu 3',
    parameters: { N: 16 },
    metrics: { 'test/bits_known': 3.5, N: 99 },
  }),
];

function found(text: string): string {
  const query = parseQuery(text);
  if ('problem' in query) throw new Error(query.problem);
  return runs
    .filter(query.matches)
    .map(({ name }) => name)
    .join(' ');
}

describe('the filter language', () => {
  it.each<[string, string]>([
    ['', 'A_binary_s0 A_B8_s1 B_B8_s2'],
    ['  ', 'A_binary_s0 A_B8_s1 B_B8_s2'],
    ['B8', 'A_B8_s1 B_B8_s2'],
    ['b8', 'A_B8_s1 B_B8_s2'],
    ['A*s1', 'A_B8_s1'],
    ['B8 s2', 'B_B8_s2'],
    ['status:failed', 'A_B8_s1'],
    ['state:done,running', 'A_binary_s0 B_B8_s2'],
    ['status:fail', 'A_B8_s1'],
    ['!status:failed', 'A_binary_s0 B_B8_s2'],
    ['-B8', 'A_binary_s0'],
    ['group:A', 'A_binary_s0 A_B8_s1'],
    ['subgroup:"two words"', 'A_binary_s0'],
    ['"subgroup:two words"', 'A_binary_s0'],
    ['slot:gpu*', 'B_B8_s2'],
    ['N=64', 'A_binary_s0'],
    ['N=64.0', 'A_binary_s0'],
    ['N!=64', 'A_B8_s1 B_B8_s2'],
    ['N>=64', 'A_binary_s0 A_B8_s1'],
    ['N>64', 'A_B8_s1'],
    ['N<1024', 'A_binary_s0 B_B8_s2'],
    ['N<=64', 'A_binary_s0 B_B8_s2'],
    ['lr>=1e-4', 'A_binary_s0'],
    ['env=multi_step', 'A_binary_s0'],
    ['layers=1,2', 'A_B8_s1'],
    ['deep=null', 'A_binary_s0'],
    ['test/bits_known>3', 'B_B8_s2'],
    ['missing>=0', ''],
    ['missing=3', ''],
    ['a.b', ''],
  ])('%j finds %j', (text, names) => {
    expect(found(text)).toBe(names);
  });

  it.each<[string, RegExp]>([
    ['status:ended', /no state "ended"; there are running, starting/],
    ['colour:red', /no field "colour"; there are status, state, group/],
    ['group:', /group: wants a value/],
    ['N>', /N> wants a value/],
    ['N>=big', /N>=big wants a number after >=/],
    ['ok N>', /N> wants a value/],
  ])('%j is refused with a reason', (text, problem) => {
    expect((parseQuery(text) as { problem: string }).problem).toMatch(problem);
  });

  it('takes any text without breaking', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const query = parseQuery(text);
        expect('problem' in query ? query.problem.length : runs.filter(query.matches).length).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});
