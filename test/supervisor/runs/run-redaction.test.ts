import { describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { RunRedaction } from '../../../src/supervisor/runs/run-redaction.js';
import { plan } from '../testbed.js';

const environment = { MY_TOKEN: 'correct-horse-battery' };
const id = RunId.parse('s/run0');
const planned = plan('/runs', 's', [
  { argv: ['train', '--key=correct-horse-battery', 'plain'], env: { DB_PASSWORD: 'staple-of-iron' } },
  { argv: ['train', 'plain'] },
]).runs;
const redaction = new RunRedaction((wanted) => {
  const run = planned.find((each) => each.id === wanted);
  return run === undefined ? null : { run, environment };
});

describe('what is told of a run', () => {
  it('is its command without the secrets of its environment, and the very command where there are none', () => {
    expect(redaction.argv(planned[0]!)).toEqual(['train', '--key=***', 'plain']);
    expect(redaction.argv(planned[1]!)).toBe(planned[1]!.argv);
  });

  it('holds no secret in the words of its end, also of those in the sweep file', () => {
    const line = 'Error: no access with staple-of-iron, correct-horse-battery';
    const ended = { type: 'run-ended', at: 0, id, attempt: 1, outcome: { kind: 'failed', code: 1, line } } as const;
    expect(redaction.event(ended)).toEqual({
      ...ended,
      outcome: { kind: 'failed', code: 1, line: 'Error: no access with ***, ***' },
    });
    const failed = { type: 'launch-failed', at: 0, id, attempt: 1, reason: 'no correct-horse-battery here' } as const;
    expect(redaction.event(failed)).toEqual({ ...failed, reason: 'no *** here' });
  });
});
