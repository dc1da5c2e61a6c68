import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { policyWords } from '../../src/spec/policy/policy-words.js';
import { planOf } from './sweeps.js';

const planOfFile = (name: string) => planOf(readFileSync(`sweeps/${name}`, 'utf8'), { path: `sweeps/${name}` });

describe('the sweeps that come with the program', () => {
  const files = readdirSync('sweeps', { recursive: true, encoding: 'utf8' });
  const sweeps = files.filter((name) => name.endsWith('.yaml') && !name.includes('experiments'));
  it.each(sweeps)('%s is in order, and says nothing without effect', (name) => {
    const plan = planOfFile(name);
    expect(plan.sweep).toBe(name.replace('/', '-').replace('.yaml', ''));
    expect(plan.notes).toBeUndefined();
  });

  it('show how runs are treated (policy.yaml)', () => {
    const { runs, groups, notify } = planOfFile('policy.yaml');
    const first = (group: string) => policyWords(runs.find((run) => run.group === group)!);
    expect(first('search')).toEqual([
      ...['at most 2m', '2s to stop', 'no GPU', 'ends early by asha (min_iter 2, eta 2)', 'to minimize error'],
    ]);
    expect(first('flaky')).toEqual([
      ...['priority 1', '3 retries after crash, the first after 1s', 'at most 2m', '2s to stop', 'no GPU'],
    ]);
    expect(groups.map(({ breaker }) => breaker)).toEqual([{ failures: 3, within: 10 }, null]);
    expect(notify?.on).toEqual(['failed', 'finished']);
  });
});
