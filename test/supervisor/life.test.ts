import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRunRecord } from '../../src/store/run-record-file.js';
import { run, Testbed, untilSettled } from './testbed.js';

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
});
afterEach(() => bed.close());

describe('a sweep under the supervisor', () => {
  it('runs to its end, with the exit codes of its runs', async () => {
    const fleet = await bed.fleet();
    const plan = bed.plan('s', [
      { name: 'good', argv: ['sh', '-c', 'echo hello; echo $MEMRL_RUN'] },
      { name: 'bad', argv: ['sh', '-c', 'echo "ValueError: too small" >&2; exit 3'] },
      { name: 'crash', argv: ['sh', '-c', 'kill -SEGV $$'] },
      { name: 'missing', argv: ['no-such-program'] },
    ]);
    expect(await fleet.submit(plan, { PATH: process.env['PATH']! }, { slots: 2 })).toMatchObject({ ok: true });
    await untilSettled(fleet);
    expect(run(fleet, 's/good')).toMatchObject({ state: 'done', attempt: 1, exit: { class: 'done', code: 0 } });
    expect(run(fleet, 's/bad')).toMatchObject({ state: 'failed', reason: 'ValueError: too small', exit: { code: 3 } });
    expect(run(fleet, 's/crash')).toMatchObject({ state: 'failed', exit: { class: 'signal', signal: 'SIGSEGV' } });
    expect(run(fleet, 's/missing')).toMatchObject({ state: 'failed', reason: 'command not found: no-such-program' });
    expect(bed.text('s/good/output.log')).toBe('hello\ns/good\n');
    expect(bed.text('s/missing/output.log')).toContain('command not found: no-such-program');
    expect(readRunRecord(bed.path('s/bad'))?.attempts).toMatchObject([{ number: 1, outcome: { kind: 'failed' } }]);
  });
});
