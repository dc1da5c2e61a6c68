import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { failureClass, type Outcome } from '../../../src/base/outcome.js';
import { attemptSeparator } from '../../../src/contract/files.js';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { completionOf } from '../../../src/spec/policy/completion.js';
import {
  type AttemptEnding,
  type CompletionOf,
  type DoneAnswer,
  outcomeOf,
} from '../../../src/supervisor/runs/endings.js';
import { plan } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

const runs = mkdtempSync(join(tmpdir(), 'judged-'));
afterAll(() => removeFolder(runs));

let run: PlannedRun;
let count = 0;
beforeEach(() => {
  run = plan(runs, 's', [{ directory: mkdtempSync(join(runs, `run${count++}-`)) }]).runs[0]!;
});

const judges = { completionOf, askDone: () => Promise.resolve({ isDone: true as const }) };
const judged = (ending: AttemptEnding, log: string) => {
  writeFileSync(join(run.directory, 'output.log'), log);
  return outcomeOf(run, ending, judges);
};

const code = (number: number): AttemptEnding => ({ kind: 'exited', code: number });
const signal = (name: string): AttemptEnding => ({ kind: 'signalled', signal: name });
const oomKilled: AttemptEnding = { kind: 'out-of-memory', reason: 'killed by the kernel: out of memory' };
const outOfMemory = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.';
const traceback = (line: string) => `Traceback (most recent call last):\n  File "train.py", line 8\n${line}\n`;
const separated = `\n${attemptSeparator(2, new Date(0))}\n`;

describe('a program of Hydra that was given options', () => {
  const usage =
    'usage: app.py [--help] [--hydra-help] [--version] [--cfg {job,hydra,all}]\n              [overrides ...]\n';
  const refusal = 'app.py: error: unrecognized arguments: --lr=0.1';
  const app = (argv: [string, ...string[]]) => ({ ...run, argv, parameters: { lr: 0.1 } });
  const lineOf = (outcome: unknown) => (outcome as { line?: string }).line;

  it.each([
    { by: 'an equals sign', argv: ['python3', 'app.py', '--lr=0.1'] },
    { by: 'a space', argv: ['python3', 'app.py', '--lr', '0.1'] },
  ])('fails with the line to type: $by', ({ argv }) => {
    run = app(argv as [string, ...string[]]);
    expect(lineOf(judged(code(2), usage + refusal))).toBe(
      `${refusal}; it takes its parameters as Hydra does: \`memrl-tui grid lr=… --args hydra -- python3 app.py\``,
    );
  });

  it('gets no advice for another failure, nor does a program of argparse', () => {
    run = app(['python3', 'app.py', 'lr=0.1']);
    expect(lineOf(judged(code(2), usage + refusal))).toBe(refusal);
    run = app(['python3', 'app.py', '--lr=0.1']);
    expect(lineOf(judged(code(2), `usage: app.py [-h]\n${refusal}`))).toBe(refusal);
  });
});

describe('how a run ended', () => {
  it.each<{ when: string; ending: AttemptEnding; log?: string; outcome: Outcome; class: string | null }>([
    { when: 'it ends well', ending: code(0), outcome: { kind: 'done' }, class: null },
    {
      when: 'it ends well after it has spoken of memory',
      ...{ ending: code(0), log: `${outOfMemory}\nhalving the batch\n`, outcome: { kind: 'done' }, class: null },
    },
    {
      when: 'it ends well after it has died of that in its first attempt',
      ...{ ending: code(0), log: `${traceback(outOfMemory)}${separated}step 1\n` },
      ...{ outcome: { kind: 'done' }, class: null },
    },
    {
      when: 'it fails before a pipe or a last command that ends well',
      ...{ ending: code(0), log: `step 1\n${traceback('ValueError: bad lr')}wandb: Find logs at: ./wandb\nfinished\n` },
      ...{ outcome: { kind: 'done', line: 'ValueError: bad lr' }, class: null },
    },
    {
      when: 'it goes on after an exception that it caught',
      ...{ ending: code(0), log: `${traceback('ValueError: bad lr')}${'step 2 loss 0.3\n'.repeat(20)}` },
      ...{ outcome: { kind: 'done' }, class: null },
    },
    {
      when: 'a launcher fails after a rank that ran out of memory',
      ...{ ending: code(1), class: 'oom' },
      log: `${traceback(outOfMemory)}${traceback("subprocess.CalledProcessError: Command '['python']' returned non-zero exit status 1.")}`,
      outcome: { kind: 'oom', line: outOfMemory },
    },
    { when: 'it fails without a word', ending: code(3), outcome: { kind: 'failed', code: 3 }, class: 'crash' },
    {
      when: 'it fails with an exception',
      ...{ ending: code(1), log: traceback("KeyError: 'lr'"), class: 'crash' },
      outcome: { kind: 'failed', code: 1, line: "KeyError: 'lr'" },
    },
    {
      when: 'it runs out of memory',
      ...{ ending: code(1), log: traceback(outOfMemory), outcome: { kind: 'oom', line: outOfMemory }, class: 'oom' },
    },
    {
      when: 'it fails for another reason than in its first attempt',
      ...{
        ending: code(1),
        log: `${traceback(outOfMemory)}${separated}${traceback('ValueError: nan')}`,
        class: 'crash',
      },
      outcome: { kind: 'failed', code: 1, line: 'ValueError: nan' },
    },
    {
      when: 'it fails without a word after a first attempt that said much',
      ...{ ending: code(1), log: `${traceback(outOfMemory)}${separated}`, class: 'crash' },
      outcome: { kind: 'failed', code: 1 },
    },
    {
      when: 'it aborts for want of memory',
      ...{ ending: signal('SIGABRT'), class: 'oom' },
      log: "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
      outcome: { kind: 'oom', line: "terminate called after throwing an instance of 'std::bad_alloc'" },
    },
    {
      when: 'it is killed by someone',
      ...{ ending: signal('SIGKILL'), log: 'step 9\n', class: 'signal' },
      outcome: { kind: 'signal', signal: 'SIGKILL' },
    },
    {
      when: 'the kernel kills it',
      ...{ ending: oomKilled, log: 'step 9\n', class: 'oom' },
      outcome: { kind: 'oom', line: 'killed by the kernel: out of memory' },
    },
    {
      when: 'the kernel kills a part of it, and it says so',
      ...{
        ending: oomKilled,
        log: traceback('MemoryError'),
        outcome: { kind: 'oom', line: 'MemoryError' },
        class: 'oom',
      },
    },
    {
      when: 'its command is not there',
      ...{ ending: { kind: 'not-begun', reason: 'command not found: trian' }, class: 'crash' },
      outcome: { kind: 'failed', code: 126, line: 'command not found: trian' },
    },
    {
      when: 'nobody can know',
      ...{ ending: { kind: 'unknown', reason: 'its process is gone and left no exit code' }, class: 'lost' },
      outcome: { kind: 'lost', reason: 'its process is gone and left no exit code' },
    },
  ])('when $when', ({ ending, log = '', outcome, class: asked }) => {
    expect(judged(ending, log)).toEqual(outcome);
    expect(failureClass(outcome)).toBe(asked);
  });

  it('is judged by more than its exit code where the sweep file asks for more', () => {
    run = { ...run, done: { file: 'checkpoints.jsonl', where: 'name == "final"' } };
    mkdirSync(join(run.directory, 'attempts', '1'), { recursive: true });
    expect(judged(code(0), outOfMemory)).toMatchObject({ kind: 'failed', code: 0 });
    writeFileSync(join(run.directory, 'checkpoints.jsonl'), '{"name":"final"}\n');
    expect(judged(code(0), '')).toEqual({ kind: 'done' });
  });

  it('is judged by the parameters it ran with, though its record may still tell of its last attempt', () => {
    run = { ...run, parameters: { n: 20 }, done: { file: 'checkpoints.jsonl', where: 'name == "final"' } };
    const seen: unknown[] = [];
    const look: CompletionOf = (_run, facts) => {
      seen.push(facts.parameters);
      return { state: 'done', reason: '' };
    };
    void outcomeOf(run, code(0), { ...judges, completionOf: look });
    expect(seen).toEqual([{ n: 20 }]);
  });

  it.each<{ answer: DoneAnswer; outcome: Outcome }>([
    { answer: { isDone: true }, outcome: { kind: 'done' } },
    {
      answer: { isDone: false, words: 'its done command ended with exit code 1 (no model)' },
      outcome: { kind: 'failed', code: 0, line: 'its done command ended with exit code 1 (no model)' },
    },
  ])('is what the command of its done rule says: $outcome.kind', async ({ answer, outcome }) => {
    run = { ...run, done: { command: ['test', '-s', 'model.pt'] } };
    mkdirSync(join(run.directory, 'attempts/1'), { recursive: true });
    writeFileSync(join(run.directory, 'attempts/1/exit'), '0\n');
    expect(await outcomeOf(run, code(0), { completionOf, askDone: () => Promise.resolve(answer) })).toEqual(outcome);
  });

  it('is known without a log', () => {
    expect(outcomeOf(run, code(2), judges)).toEqual({ kind: 'failed', code: 2 });
  });
});
