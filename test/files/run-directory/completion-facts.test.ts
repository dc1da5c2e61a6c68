import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../src/contract/run-record.js';
import { readRunFacts } from '../../../src/files/run-directory/completion-facts.js';
import { readRunRecord, writeRunRecord } from '../../../src/files/run-directory/run-record-file.js';
import { removeFolder } from '../../remove-folder.js';

const root = mkdtempSync(join(tmpdir(), 'run-facts-'));
afterAll(() => removeFolder(root));
let runs = 0;
const freshDirectory = () => join(root, `run-${runs++}`);

const attempt = (number: number, outcome: RunRecord['attempts'][number]['outcome'] = null) => ({
  number,
  slot: 'cpu 0',
  startedAt: 1_000,
  endedAt: outcome === null ? null : 2_000,
  outcome,
});

function record(attempts: RunRecord['attempts'] = []): RunRecord {
  return {
    version: 1,
    sweep: 'abcd',
    group: 'A',
    subgroup: null,
    name: 'A_s0',
    identity: 'f00d',
    parameters: { N: 64, reward: 'binary' },
    argv: ['memrl', 'train', 'N=64'],
    cwd: '/tmp',
    host: 'here',
    git: { commit: 'abc', dirty: true },
    attempts,
  };
}

function exitFile(directory: string, number: number, text: string): void {
  const folder = join(directory, 'attempts', String(number));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'exit'), text);
}

describe('the record of a run', () => {
  it('is read as it was written, with fields of a newer version', () => {
    const directory = freshDirectory();
    const newer = { ...record([attempt(1, { kind: 'done' })]), colour: 'green' };
    writeRunRecord(directory, newer);
    expect(readRunRecord(directory)).toEqual(newer);
  });

  it('is replaced by a second write', () => {
    const directory = freshDirectory();
    writeRunRecord(directory, record([attempt(1), attempt(2)]));
    writeRunRecord(directory, record([attempt(1)]));
    expect(readRunRecord(directory)?.attempts).toHaveLength(1);
  });

  it.each(['', '{"version": 1, "sweep": "ab', '[]', '{"version": 2}', '\0\0\0'])(
    'is null when it is torn or foreign: %j',
    (text) => {
      const directory = freshDirectory();
      expect(readRunRecord(directory)).toBeNull();
      mkdirSync(directory);
      writeFileSync(join(directory, 'run.json'), text);
      expect(readRunRecord(directory)).toBeNull();
    },
  );
});

describe('the facts of a run', () => {
  it('are those of a run that never was, when there is no directory', () => {
    expect(readRunFacts(freshDirectory(), { exit: 0 })).toEqual({
      known: false,
      identity: null,
      group: null,
      parameters: null,
      attempts: 0,
      exitCode: null,
      stoppedBy: null,
      doneRows: [],
    });
  });

  it('are the identity, the parameters and the exit code of the last attempt', () => {
    const directory = freshDirectory();
    writeRunRecord(directory, record([attempt(1, { kind: 'failed', code: 1 }), attempt(2, { kind: 'done' })]));
    exitFile(directory, 1, '1\n');
    exitFile(directory, 2, '0\n');
    expect(readRunFacts(directory, { exit: 0 })).toMatchObject({
      known: true,
      identity: 'f00d',
      parameters: { N: 64, reward: 'binary' },
      attempts: 2,
      exitCode: 0,
      stoppedBy: null,
    });
  });

  it.each<{ what: string; prepare: (directory: string) => void; attempts: number; exitCode: number | null }>([
    {
      what: 'an attempt that run.json does not know yet',
      prepare: (run) => exitFile(run, 2, '3\n'),
      attempts: 2,
      exitCode: 3,
    },
    { what: 'a torn exit file', prepare: (run) => exitFile(run, 1, '1'), attempts: 1, exitCode: null },
    {
      what: 'an earlier success, when a later attempt left no exit code',
      prepare: (run) => {
        exitFile(run, 1, '0\n');
        mkdirSync(join(run, 'attempts', '2'));
      },
      attempts: 2,
      exitCode: null,
    },
    {
      what: 'attempts by number, not by letter',
      prepare: (run) => [2, 9, 10].forEach((n) => exitFile(run, n, `${n}\n`)),
      attempts: 10,
      exitCode: 10,
    },
    {
      what: 'no foreign folder',
      prepare: (run) => mkdirSync(join(run, 'attempts', '99x'), { recursive: true }),
      attempts: 1,
      exitCode: null,
    },
  ])('count $what', ({ prepare, attempts, exitCode }) => {
    const directory = freshDirectory();
    writeRunRecord(directory, record([attempt(1)]));
    prepare(directory);
    expect(readRunFacts(directory, { exit: 0 })).toMatchObject({ attempts, exitCode });
  });

  it('name the rule that stopped the last attempt', () => {
    const directory = freshDirectory();
    writeRunRecord(directory, record([attempt(1, { kind: 'done', rule: 'bits >= 9.9' })]));
    exitFile(directory, 1, '143\n');
    expect(readRunFacts(directory, { exit: 0 })).toMatchObject({ stoppedBy: 'bits >= 9.9', exitCode: 143 });
  });

  it('say whether the file of the done rule is there, and whether a line of the output matches it', () => {
    const directory = freshDirectory();
    mkdirSync(directory);
    writeRunRecord(directory, record([attempt(1)]));
    const rows = (done: Parameters<typeof readRunFacts>[1]) => readRunFacts(directory, done, () => true).doneRows;
    expect([rows({ file: 'model.pt' }), rows({ output: 'Training finished' })]).toEqual([[], []]);
    writeFileSync(join(directory, 'model.pt'), '');
    writeFileSync(join(directory, 'output.log'), `${'step\n'.repeat(100_000)}Training finished.\nbye\n`);
    expect([rows({ file: 'model.pt' }), rows({ output: '^Training finished' })]).toEqual([[{}], [{}]]);
    expect(rows({ output: '^finished' })).toEqual([]);
    expect(readRunFacts(join(directory, 'nowhere'), { file: 'x' }).doneRows).toEqual([]);
  });

  it('hold the rows of the file the done rule looks at, torn lines left out', () => {
    const directory = freshDirectory();
    writeRunRecord(directory, record());
    writeFileSync(join(directory, 'checkpoints.jsonl'), '{"name":"000100","batch":100}\n\n{"name":"final"}\n{"na');
    expect(readRunFacts(directory, { file: 'checkpoints.jsonl', where: 'name == "final"' }).doneRows).toEqual([
      { name: '000100', batch: 100 },
      { name: 'final' },
    ]);
    expect(readRunFacts(directory, { file: 'absent.jsonl', where: 'true' }).doneRows).toEqual([]);
  });
});
