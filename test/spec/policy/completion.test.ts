import { describe, expect, it, vi } from 'vitest';
import type { RunFacts } from '../../../src/base/outcome.js';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { completionOf } from '../../../src/spec/policy/completion.js';
import { noFacts, planOf, refusal } from '../sweeps.js';

const byCheckpoint = `done: {file: checkpoints.jsonl, where: 'name == "final"'}`;
const runOf = (rest: string, n = 400): PlannedRun =>
  planOf(`command: [a]\nparameters: {N: 16, n_batches: ${n}}\nextends: n_batches\n${rest}`).runs[0]!;
const after = (run: PlannedRun, facts: Partial<RunFacts>): RunFacts => ({
  ...noFacts,
  known: true,
  identity: run.identity,
  parameters: run.parameters,
  attempts: 1,
  ...facts,
});
const final = [{ name: 'final', batch: 400 }];

describe('`extends` that was given after the run was started', () => {
  const text = (n: number, rest = '') => planOf(`command: [a]\nparameters: {N: 16, n_batches: ${n}}\n${rest}`).runs[0]!;
  const before = text(400);
  const facts = after(before, { group: before.group, exitCode: 0 });

  it('counts: the run that is there goes on', () => {
    expect(completionOf(text(400, 'extends: n_batches'), facts)).toEqual({ state: 'done', reason: 'exit code 0' });
    expect(completionOf(text(800, 'extends: n_batches'), facts)).toEqual({
      state: 'resume',
      reason: 'n_batches grew from 400 to 800',
      grown: { wasDone: true },
    });
  });

  it('may be taken away again', () => {
    const extended = text(400, 'extends: n_batches');
    const known = after(extended, { group: extended.group, exitCode: 0 });
    expect(completionOf(before, known).state).toBe('done');
  });

  it('is what a person is told who changes a parameter without it', () => {
    const { fix } = refusal(() => completionOf(text(800), facts));
    expect(fix).toContain('list a parameter that is only budget in `extends`: then the existing run continues');
    expect(refusal(() => completionOf(text(800, 'extends: N'), facts)).message).toContain(
      'n_batches was 400 and would be 800',
    );
  });

  it('does not take a parameter called constructor from anywhere else', () => {
    const run = planOf('command: [a]\nparameters: {N: 16, constructor: 1}\nextends: constructor').runs[0]!;
    expect(completionOf(run, after(run, { parameters: { N: 16 }, exitCode: 0 })).state).toBe('done');
  });
});

describe('where a run stands', () => {
  it.each<{ when: string; rest: string; n?: number; facts: Partial<RunFacts>; is: string }>([
    { when: 'it has no directory', rest: '', facts: noFacts, is: 'new: not started yet' },
    {
      when: 'another program has made its file',
      ...{ rest: 'done: {file: model.pt}', facts: { attempts: 0, known: false, identity: null, doneRows: [{}] } },
      is: 'done: model.pt is there, though it was not started here',
    },
    {
      when: 'its done command says so',
      ...{ rest: 'done: {command: [test, -s, model.pt]}', facts: { exitCode: 0, doneRows: [{}] } },
      is: 'done: its done command says so',
    },
    {
      when: 'its done command says that it is not',
      rest: 'done: {command: [test, -s, model.pt]}',
      ...{ facts: { exitCode: 0, doneWords: 'its done command ended with exit code 1' } },
      is: 'resume: its done command ended with exit code 1',
    },
    {
      when: 'its done command has yet to be asked',
      ...{ rest: 'done: {command: [test, -s, model.pt]}', facts: { exitCode: 0 } },
      is: 'resume: its done command is asked at the launch',
    },
    { when: 'it was recorded and never started', rest: '', facts: { attempts: 0 }, is: 'new: not started yet' },
    { when: 'it ended well', rest: '', facts: { exitCode: 0 }, is: 'done: exit code 0' },
    {
      when: 'it failed',
      rest: '',
      facts: { attempts: 2, exitCode: 1 },
      is: 'resume: attempt 2 ended with exit code 1',
    },
    { when: 'it vanished', rest: '', facts: {}, is: 'resume: attempt 1 did not finish' },
    {
      when: 'it left its final checkpoint',
      rest: byCheckpoint,
      facts: { doneRows: final },
      is: 'done: final checkpoint found',
    },
    {
      when: 'its file is damaged, whatever a row of it says',
      rest: byCheckpoint,
      facts: { exitCode: 0, doneRows: final, malformed: 'line 1 of checkpoints.jsonl' },
      is: 'resume: line 1 of checkpoints.jsonl is not a row of JSON: correct or remove it',
    },
    {
      when: 'it failed after its final checkpoint',
      rest: byCheckpoint,
      facts: { exitCode: 1, doneRows: final },
      is: 'done: final checkpoint found',
    },
    {
      when: 'it has other checkpoints',
      rest: byCheckpoint,
      facts: { doneRows: [{ name: '000020' }, { batch: 3 }] },
      is: 'resume: no final checkpoint',
    },
    {
      when: 'it ended well without its checkpoint',
      rest: byCheckpoint,
      facts: { exitCode: 0 },
      is: 'resume: attempt 1 ended with exit code 0, but there is no final checkpoint',
    },
    {
      when: 'it was ended early and the file still ends runs early',
      rest: 'metric: {name: loss}\nearly_terminate: {type: median}',
      facts: { exitCode: 143, stoppedBy: 'early_terminate: asha: 2 at iteration 1 is above 1' },
      is: 'done: stopped by rule early_terminate, which still applies',
    },
    {
      when: 'it was ended early, and nothing ends runs early any more',
      rest: 'stop_when: "x > 1"',
      facts: { exitCode: 0, stoppedBy: 'early_terminate: asha: 2 is above 1' },
      is: 'resume: stopped by rule early_terminate: asha: 2 is above 1, which is no longer in the file',
    },
    {
      when: 'a rule stopped it and stands',
      rest: 'stop_when: "x > 1"',
      facts: { stoppedBy: 'x > 1' },
      is: 'done: stopped by rule x > 1, which still applies',
    },
    {
      when: 'the rule is gone',
      rest: '',
      facts: { stoppedBy: 'x > 1', exitCode: 0 },
      is: 'resume: stopped by rule x > 1, which is no longer in the file',
    },
    {
      when: 'the rule changed',
      rest: 'stop_when: "x > 2"',
      facts: { stoppedBy: 'x > 1' },
      is: 'resume: stopped by rule x > 1, which is now x > 2',
    },
    {
      when: 'the budget grew',
      rest: byCheckpoint,
      n: 800,
      facts: { parameters: { N: 16, n_batches: 400 }, doneRows: final },
      is: 'resume: n_batches grew from 400 to 800',
    },
    {
      when: 'the budget shrank',
      rest: byCheckpoint,
      n: 100,
      facts: { parameters: { N: 16, n_batches: 400 }, doneRows: final },
      is: 'done: final checkpoint found',
    },
    {
      when: 'the budget grew, but it was stopped for good',
      rest: 'stop_when: "x > 1"',
      n: 800,
      facts: { parameters: { N: 16, n_batches: 400 }, stoppedBy: 'x > 1' },
      is: 'done: stopped by rule x > 1, which still applies',
    },
    {
      when: 'its rule asks for the whole budget',
      rest: `done: {file: c.jsonl, where: 'name == "final" && batch >= n_batches'}`,
      n: 800,
      facts: { doneRows: final },
      is: 'resume: no row in c.jsonl where name == "final" && batch >= n_batches',
    },
    {
      when: 'its rule is met by the whole budget',
      rest: `done: {file: c.jsonl, where: 'name == "final" && batch >= n_batches'}`,
      facts: { doneRows: final },
      is: 'done: c.jsonl has a row where name == "final" && batch >= n_batches',
    },
  ])('is judged by its directory: $when', ({ rest, n, facts, is }) => {
    const run = runOf(rest, n);
    const { state, reason } = completionOf(run, facts === noFacts ? noFacts : after(run, facts));
    expect(`${state}: ${reason}`).toBe(is);
  });

  it.each<{ rule: string; there: string; missing: string }>([
    { rule: '{file: model.pt}', there: 'model.pt is there', missing: 'no model.pt' },
    {
      rule: "{output: 'Finished'}",
      there: 'its output has a line with Finished',
      missing: 'no line with Finished in its output',
    },
  ])('follows $rule', ({ rule, there, missing }) => {
    const run = runOf(`done: ${rule}`);
    expect(completionOf(run, after(run, { exitCode: 1, doneRows: [{}] }))).toEqual({ state: 'done', reason: there });
    expect(completionOf(run, after(run, { exitCode: 0 }))).toEqual({
      state: 'resume',
      reason: `attempt 1 ended with exit code 0, but there is ${missing}`,
    });
    expect(refusal(() => runOf("done: {output: '('}")).message).toContain('expected a regular expression');
  });

  it('is refused when the directory is that of another run', () => {
    const run = runOf('');
    const told = refusal(() =>
      completionOf(run, after(run, { identity: 'other', parameters: { N: 64, n_batches: 400 } })),
    );
    expect(told.message).toBe('/runs/x/runs holds another run called `runs`: its N was 64 and would be 16.');
    expect(told.fix).toContain('another `name`');
  });
});

describe('a done rule that cannot be looked at', () => {
  const whyOf = (done: PlannedRun['done'], parameters: PlannedRun['parameters'] = {}) => {
    const run = { ...runOf(''), done, parameters: { ...runOf('').parameters, ...parameters } };
    return completionOf(
      run,
      after(run, { parameters: run.parameters, exitCode: 0, doneRows: 'file' in done ? [{ loss: 1 }] : [] }),
    ).reason;
  };
  it.each<{ what: string; done: PlannedRun['done']; why: RegExp }>([
    {
      what: 'no pattern',
      done: { output: '(?=a)b' },
      why: /^the pattern \(\?=a\)b of its done rule cannot be used: invalid/,
    },
    {
      what: 'no expression',
      done: { file: 'x.jsonl', where: 'loss <' },
      why: /cannot be used: the expression ends too/,
    },
    {
      what: 'too long',
      done: {
        file: 'x.jsonl',
        where: `duration("${'1'.repeat(3000)}").getHours() > loss || loss > 5`,
      },
      why: /^`where` of its done rule cannot be used: A row of the done rule took more than 0\.25 s/,
    },
    {
      what: 'too large',
      done: { file: 'x.jsonl', where: `size([[1]]${'.map(a, a + a)'.repeat(30)}) > loss` },
      why: /cannot be used: this makes more than 1,000,000 characters and elements/,
    },
  ])('says so, and why: $what', ({ done, why }) => expect(whyOf(done)).toMatch(why));

  it('begins a row again where the machine computed something else meanwhile', () => {
    const idle = { user: 0, system: 0 };
    const asked = vi.spyOn(process, 'cpuUsage');
    // At the start of compiling, and around the row that is begun first.
    for (let call = 0; call < 3; call++) asked.mockReturnValueOnce(idle);
    const where = `duration("${'1'.repeat(3001)}").getHours() > loss || loss > 6`;
    expect(whyOf({ file: 'x.jsonl', where })).toMatch(/took more than 0\.25 s/);
    // More often where this machine is busy itself.
    expect(asked.mock.calls.length).toBeGreaterThanOrEqual(5);
    asked.mockRestore();
  });
});
