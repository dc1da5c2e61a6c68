import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutFlags } from '../../../src/lab/config/flags.js';
import { key } from '../../../src/lab/config/key.js';
import { bool, int, orNone, text } from '../../../src/lab/config/value-type.js';

const keys = {
  step: key(orNone(int(0)), null, ''),
  json: key(bool, false, ''),
  wandb_project: key(orNone(text), null, ''),
};

describe('arguments in the manner of other programs', () => {
  it.each([
    [['--step', '3'], ['step=3']],
    [['--step=3'], ['step=3']],
    [['--json'], ['json=True']],
    [
      ['--json', 'runs/a'],
      ['json=True', 'runs/a'],
    ],
    [['--json', 'false'], ['json=false']],
    [['--json=False'], ['json=False']],
    [['--wandb-project', 'a=b'], ['wandb_project=a=b']],
    [['--wandb_project=x'], ['wandb_project=x']],
    [
      ['runs/a', '--step', '3', '--json'],
      ['runs/a', 'step=3', 'json=True'],
    ],
  ])('%j are %j', (argv, plain) => expect(withoutFlags(keys, argv)).toEqual(plain));

  it.each([[['--steps', '3']], [['--step']], [['-s', '3']], [['step=--json']], [['--']], [['--a.b=c']]])(
    '%j stay as they are, for whoever reads them to refuse',
    (argv) => expect(withoutFlags(keys, argv)).toEqual(argv),
  );

  it('are left alone where they are key=value', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom('step', 'json', 'else', '__proto__'), fc.string())), (pairs) => {
        const argv = pairs.map(([name, value]) => `${name}=${value}`);
        expect(withoutFlags(keys, argv)).toEqual(argv);
      }),
    );
  });
});
