import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { planOf } from '../sweeps.js';

/** Sweep files and W&B's own verdict; `make-accepted.py` beside the file wrote it. `first`: the first run of a grid. */
type Judged = { text: string; accepted: boolean; first?: Record<string, unknown> };

const { files } = JSON.parse(readFileSync('test/fixtures/wandb/accepted.json', 'utf8')) as { files: Judged[] };
/** Of W&B Launch, which starts containers elsewhere. */
const isLaunch = ({ text }: Judged) => text.includes('"custom"');
const titled = (accepted: boolean) =>
  files.filter((file) => file.accepted === accepted && !isLaunch(file)).map((file) => [file.text, file] as const);
const notesOf = (text: string) => (planOf(text, { path: 'x.json' }).notes ?? []).join('\n');

describe('what W&B accepts and refuses', () => {
  it('is known of many files', () => {
    expect(titled(true).length).toBeGreaterThan(60);
    expect(titled(false).length).toBeGreaterThan(100);
  });

  it.each(titled(true))('is accepted here without a word of faults, and a grid begins alike: %s', (_, made) => {
    const plan = planOf(made.text, { path: 'x.json' });
    expect((plan.notes ?? []).join('\n')).not.toContain('malformed');
    if (made.first !== undefined) expect(plan.runs[0]!.parameters).toEqual(made.first);
  });

  it.each(titled(false))('is refused here too, or read with a word that W&B does not: %s', (_, { text }) => {
    let notes: string;
    try {
      notes = notesOf(text);
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      return;
    }
    expect(notes).toMatch(/malformed|is not a key of a W&B|exponents of e|nothing here depends on it/);
  });

  it('says which parameters are the fault', () => {
    const parameters = {
      lr: 0.1,
      layers: [1, 2],
      net: { parameters: { width: 3, depth: { parameters: {} } } },
      weighted: { distribution: 'categorical', values: [1, 2], probabilities: [0.5, 0.5] },
    };
    expect(notesOf(JSON.stringify({ method: 'random', run_cap: 1, program: 'x.py', parameters }))).toBe(
      'W&B calls this file malformed: `lr` is a bare value, and not `value: …`; `layers` is a bare value, and not `values: …`; ' +
        '`net.width` is a bare value, and not `value: …`; `net.depth` has no `parameters`; ' +
        '`weighted` has `distribution: categorical`, and what it says is `categorical_w_probabilities` there.',
    );
  });

  it.each<{ why: string; file: object }>([
    { why: 'it has no method', file: { parameters: { lr: 0.1 } } },
    { why: 'it has groups', file: { groups: { a: { parameters: { lr: 0.1 } } } } },
    { why: 'its method is ours', file: { method: 'sobol', run_cap: 1, parameters: { lr: [0.1, 0.2] } } },
    { why: 'a key is ours', file: { method: 'random', run_cap: 1, retry: 2, parameters: { lr: [0.1, 0.2] } } },
  ])('does not matter to a file that is not meant for W&B: $why', ({ file }) => {
    expect(notesOf(JSON.stringify({ command: ['x', '${args}'], ...file }))).not.toContain('W&B');
  });
});
