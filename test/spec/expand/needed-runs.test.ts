import { describe, expect, it } from 'vitest';
import { parsePlan, planBlocks } from '../../../src/spec/plan-text.js';
import { planOf, refusal } from '../sweeps.js';

const file = (needs: string, more = '') => `
command: [a, '\${args}']
groups:
  sft: {}
  prepare: { parameters: { N: [16, 64], seed: [0, 1] } }
  main: { needs: ${needs}, parameters: { N: [16, 64], seed: [0, 1], lr: [1, 2] }${more} }
`;

/** `main_N16_…: prepare_N16_…`. */
const needed = (text: string) =>
  planOf(text)
    .runs.filter(({ group }) => group === 'main')
    .map(
      ({ parameters, neededRuns = [] }) =>
        `${Object.values(parameters)
          .map((value) => JSON.stringify(value))
          .join(' ')}: ${neededRuns.join(' ')}`,
    );

describe('a need by parameters', () => {
  it('is of the runs that have the same values of them', () => {
    expect(needed(file('{ prepare: [N, seed] }')).slice(0, 3)).toEqual([
      '16 0 1: prepare_N16_s0',
      '16 0 2: prepare_N16_s0',
      '16 1 1: prepare_N16_s1',
    ]);
    expect(needed(file('[sft, { prepare: N }]')).at(-1)).toBe('64 1 2: prepare_N64_s0 prepare_N64_s1');
  });

  it('leaves the needs of whole groups as they are', () => {
    const { groups, runs } = planOf(file('[sft, { prepare: N }]'));
    expect(groups.at(-1)).toMatchObject({ needs: ['sft'], needsBy: [{ group: 'prepare', by: ['N'] }] });
    expect(runs.at(-1)!.needs).toEqual(['sft']);
    expect(runs[0]).not.toHaveProperty('neededRuns');
  });

  it('plans the group that is needed, also when it was not asked for', () => {
    const text = file('{ prepare: N }').replace('prepare: { ', 'prepare: { optional: true, ');
    expect(planOf(text, { groups: ['main'] }).groups.map(({ name, prerequisite }) => [name, prerequisite])).toEqual([
      ['prepare', true],
      ['main', false],
    ]);
  });

  it.each([
    { asked: 'main', needs: '{ prepare: [N, seed] }', kept: ['prepare_N16_s0', 'prepare_N16_s1'] },
    // Through a run between them, and a need of the whole group.
    { asked: 'after', needs: '{ prepare: [N, seed] }', kept: ['prepare_N16_s0', 'prepare_N16_s1'] },
    { asked: 'main', needs: 'prepare', kept: ['prepare_N16_s0', 'prepare_N16_s1', 'prepare_N64_s0', 'prepare_N64_s1'] },
  ])('plans of groups that were not asked for the runs that $asked needs: $needs', ({ asked, needs, kept }) => {
    const text = `${file(needs).replace('N: [16, 64], seed: [0, 1], lr', 'N: 16, seed: [0, 1], lr')}  after: { needs: { main: seed }, parameters: { seed: [0, 1] } }\n`;
    const { runs } = planOf(text, { groups: [asked] });
    expect(runs.filter(({ group }) => group === 'prepare').map(({ name }) => name)).toEqual(kept);
    expect(planOf(text).runs.filter(({ group }) => group === 'prepare')).toHaveLength(4);
  });

  it('takes parameters that are passed to neither for the same', () => {
    const text = `
command: [a]
groups:
  prepare: { parameters: { N: [16, { unset: true }] }, name: 'p{has(N) ? string(N) : "x"}' }
  main: { needs: { prepare: N }, parameters: { N: [16, { unset: true }] }, name: 'm{has(N) ? string(N) : "x"}' }`;
    const { runs } = planOf(text.replaceAll(/, name: '[^']*'/g, ''));
    expect(runs.slice(2).map(({ neededRuns }) => neededRuns)).toEqual([[runs[0]!.name], [runs[1]!.name]]);
  });

  it('stands in the text of a plan', () => {
    const plan = planOf(file('{ prepare: [N, seed] }'));
    expect(parsePlan([...planBlocks(plan)].join('')).runs).toEqual(plan.runs);
  });

  it.each<{ needs: string; more?: string; says: string }>([
    { needs: '{ prepare: [K] }', says: 'there is no parameter `K` in group `main`.' },
    { needs: '{ prepare: [lr] }', says: 'there is no parameter `lr` in group `prepare`.' },
    { needs: '{ prepar: [N] }', says: 'there is no group `prepar`. Did you mean `prepare`?' },
    { needs: '[sft, { prepare: 3 }]', says: 'a list of parameter names' },
    { needs: '{ main: [N] }', says: 'these groups wait for each other: main → main' },
    {
      needs: '{ prepare: [N] }',
      more: ', method: bayes, metric: { name: loss }',
      says: 'the points of group `main` are chosen one by one',
    },
    {
      needs: '{ prepare: [N] }',
      more: ', include: [{ N: 256, seed: 0, lr: 1 }]',
      says: '`main_N256_s0_lr1` needs a run of `prepare` with N=256, and there is none.',
    },
  ])('is refused where it makes no sense: $needs$more', ({ needs, more, says }) => {
    expect(refusal(() => planOf(file(needs, more))).message).toContain(says);
  });
});
