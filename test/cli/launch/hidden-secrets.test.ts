import { describe, expect, it } from 'vitest';
import { withoutSecrets } from '../../../src/cli/launch/compare.js';
import { planJson } from '../../../src/cli/launch/launch.js';
import { planLines } from '../../../src/cli/launch/plan-lines.js';
import { planOf } from '../../spec/sweeps.js';
import { unknown } from './unknown.js';

const environment = { HF_TOKEN: 'tokenOfTheHub42', DATABASE: 'postgres://me:pa55word@host/db' };
const text = `command: [python, train.py, "--hub=\${envvar:HF_TOKEN}", --password, hunter2hunter2, "\${args}"]
env: {HUB: "\${envvar:HF_TOKEN}", MY_SECRET: short, URL: "\${envvar:DATABASE}"}
parameters: {n: [1, 2], key: tokenOfTheHub42}`;

describe('a plan that is shown', () => {
  const plan = planOf(text, { environment });
  const planned = plan.runs.map((run) => ({ run, standing: { state: 'new' as const, reason: 'not started yet' } }));
  const hidden = withoutSecrets(planned, environment);
  const difference = unknown(hidden, plan);

  it.each<[string, string]>([
    [
      'as lines',
      planLines(difference, plan, {
        width: 200,
        verbose: false,
        slots: [],
        time: null,
        clock: { now: 0, zone: 'UTC' },
      }).join('\n'),
    ],
    [
      'with every run',
      planLines(difference, plan, {
        width: 200,
        verbose: true,
        slots: [],
        time: null,
        clock: { now: 0, zone: 'UTC' },
      }).join('\n'),
    ],
    ['for scripts', JSON.stringify(planJson({ difference, estimate: null }, plan, { slots: [], now: 0 }))],
  ])('holds no secret: %s', (_, shown) => {
    expect(shown).toContain('--hub=***');
    for (const secret of ['tokenOfTheHub42', 'hunter2hunter2', 'pa55word', 'short']) {
      expect(shown).not.toContain(secret);
    }
  });

  it('leaves what is run as it is', () => {
    expect(plan.runs[0]!.argv).toContain('--hub=tokenOfTheHub42');
    expect(hidden[1]!.run.argv).toEqual(['python', 'train.py', '--hub=***', '--password', '***', '--n=2', '--key=***']);
  });
});
