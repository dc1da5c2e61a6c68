import { describe, expect, it } from 'vitest';
import { planJson } from '../../../src/cli/launch/launch.js';
import { planLines } from '../../../src/cli/launch/plan-lines.js';
import { completionOf } from '../../../src/spec/policy/completion.js';
import { noFacts, planOf } from '../../spec/sweeps.js';
import { unknown } from './unknown.js';

describe('what the person should know of a file', () => {
  it('stands above the groups of the plan', () => {
    const text = 'program: a.py\nmethod: grid\ncontroller: {type: local}\nparameters: {a: {values: [1, 2]}}';
    const plan = planOf(text);
    const planned = plan.runs.map((run) => ({ run, standing: completionOf(run, noFacts) }));
    const difference = unknown(planned, plan);
    const note = "`controller` is for W&B's server; nothing here depends on it.";
    expect(
      planLines(difference, plan, {
        width: 80,
        verbose: false,
        slots: ['cpu 0'],
        time: null,
        clock: { now: 0, zone: 'UTC' },
      }),
    ).toContain(`  note   ${note}`);
    expect(planJson({ difference, estimate: null }, plan, { slots: [], now: 0 })).toMatchObject({ notes: [note] });
  });
});
