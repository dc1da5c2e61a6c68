import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/base/user-error.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';
import { isTable, tableSweepText } from '../../../src/spec/file/table-file.js';
import { planOf, refusal } from '../sweeps.js';

const train = ['python', 'train.py'];
const runs = (text: string, path = 't.csv', command: string[] = train) =>
  planOf(tableSweepText(text, path, command), { path: path.replace(/\.\w+$/, '.yaml') }).runs;
const points = (text: string, path?: string) => runs(text, path).map(({ parameters }) => parameters);

describe('a table as a sweep', () => {
  it.each<{ what: string; path: string; text: string; gives: unknown[] }>([
    {
      what: 'CSV',
      path: 't.csv',
      text: 'lr,opt\n0.1,adam\n1e-3,sgd\n',
      gives: [
        { lr: 0.1, opt: 'adam' },
        { lr: 1e-3, opt: 'sgd' },
      ],
    },
    {
      what: 'CSV of Windows',
      path: 't.csv',
      text: '\ufefflr,opt\r\n0.1,"a, ""b"""\r\n\r\n',
      gives: [{ lr: 0.1, opt: 'a, "b"' }],
    },
    { what: 'CSV with semicolons', path: 't.csv', text: 'a;b\n1;2', gives: [{ a: 1, b: 2 }] },
    { what: 'TSV', path: 't.tsv', text: 'a\tb\n1\tx y', gives: [{ a: 1, b: 'x y' }] },
    {
      what: 'CSV with cells that are not there',
      path: 't.csv',
      text: 'a,b\n1,\n,2\n"",3',
      gives: [{ a: 1 }, { b: 2 }, { a: '', b: 3 }],
    },
    {
      what: 'CSV with texts that look like numbers',
      path: 't.csv',
      text: 'a\n007\n99999999999999999999\nTrue\n-1.5e3\n1:30\n',
      gives: [{ a: '007' }, { a: '99999999999999999999' }, { a: true }, { a: -1500 }, { a: '1:30' }],
    },
    {
      what: 'JSON lines',
      path: 't.jsonl',
      text: '{"a": 1, "b": [1, 2]}\n\n{"a": null, "c": {"x": 1}}\n',
      gives: [
        { a: 1, b: [1, 2] },
        { a: null, c: { x: 1 } },
      ],
    },
    { what: 'a list in JSON', path: 't.json', text: ' [{"a": 1}, {"a": "x"}]', gives: [{ a: 1 }, { a: 'x' }] },
  ])('can be $what', ({ path, text, gives }) => {
    expect(isTable(path, text)).toBe(true);
    expect(points(text, path)).toEqual(gives);
  });

  it('gives the command the parameters of each row, at its end or where it places them', () => {
    expect(runs('lr,seed\n0.1,0\n0.2,\n').map(({ argv }) => argv)).toEqual([
      [...train, '--lr=0.1', '--seed=0'],
      [...train, '--lr=0.2'],
    ]);
    expect(runs('lr\n0.1', 't.csv', ['sh', '-c', 'x ${lr}']).map(({ argv }) => argv[2])).toEqual(['x 0.1']);
  });

  it('may have a column of commands, whose rows are a group each', () => {
    const text = 'command,lr\n"python a.py \'${args}\'",0.1\n"A=1 sh -c \'x y\'",\n"python a.py \'${args}\'",0.2\n';
    expect(runs(text, 't.csv', []).map(({ name, argv, env }) => [name, argv, env])).toEqual([
      ['a_lr0.1', ['python', 'a.py', '--lr=0.1'], {}],
      ['a_lr0.2', ['python', 'a.py', '--lr=0.2'], {}],
      ['sh', ['sh', '-c', 'x y'], { A: '1' }],
    ]);
  });

  it.each<{ wrong: string; path?: string; text: string; command?: string[]; says: string; fix: string }>([
    { wrong: 'no command', text: 'a\n1', command: [], says: 'nothing says what is run', fix: '-- python train.py' },
    { wrong: 'two commands', text: 'command,a\nx,1', says: 'a command stands behind', fix: 'Leave out one' },
    {
      wrong: 'a row that is too short',
      text: 'a,b\n1',
      says: 't.csv:2:1: this row has 1 cells, and the head 2',
      fix: 'empty cell',
    },
    {
      wrong: 'a column without a name',
      text: ',a\n0,1',
      says: 't.csv:1:1: this column has no name',
      fix: 'index=False',
    },
    { wrong: 'a column twice', text: 'a,a\n0,1', says: 't.csv:1:3: `a` is there twice', fix: 'Rename' },
    {
      wrong: 'a name that is none',
      text: 'learning rate\n0',
      says: 'cannot be the name of a parameter',
      fix: 'Rename it',
    },
    { wrong: 'an open quote', text: 'a\n"1', says: 't.csv:2:1: this quote is not closed', fix: 'closing quote' },
    { wrong: 'no rows', text: 'a,b\n', says: 'has no rows', fix: 'one for each run' },
    {
      wrong: 'no JSON',
      path: 't.jsonl',
      text: '{"a": 1}\n{a: 1}',
      says: 't.jsonl:2:1: row 2 is no object',
      fix: '{"lr": 0.1',
    },
    { wrong: 'a large number', path: 't.jsonl', text: '{"a": 12345678901234567890}', says: 'too large', fix: 'quotes' },
    {
      wrong: 'a row without a command',
      text: 'command,a\nx,1\n,2',
      command: [],
      says: 't.csv:3:1: this row has no command',
      fix: 'Write one',
    },
    {
      wrong: 'a command for a shell',
      text: 'command,a\nx | y,1',
      command: [],
      says: 'a pipe needs a shell',
      fix: 'sh -c',
    },
  ])('is refused with $wrong', ({ path = 't.csv', text, command = train, says, fix }) => {
    const said = refusal(() => tableSweepText(text, path, command));
    expect(said.message).toContain(says);
    expect(said.fix).toContain(fix);
  });

  it.each([
    ['t.csv', 'memrl-tui table.csv -- python train.py'],
    ['t.xlsx', 'Save it as CSV'],
    ['train.py', 'memrl-tui init train.py'],
  ])('is never read as a list of commands: %s', (path, fix) => {
    expect(refusal(() => parseSweepFile('a = 1\nb = 2\n', path)).fix).toContain(fix);
  });

  it('gives back the rows that were written, whatever is in their cells', () => {
    const cell = fc
      .string()
      .filter((text) => text.trim() === text && !text.includes('\u0000') && Number.isNaN(Number(text)));
    fc.assert(
      fc.property(fc.uniqueArray(cell, { minLength: 1, maxLength: 5 }), (cells) => {
        const rows = cells.map((text, index) => `${index},"${text.replaceAll('"', '""')}"`);
        expect(points(['i,text', ...rows].join('\n')).map((point) => point['text'])).toEqual(cells.map(truth));
      }),
      { numRuns: 200 },
    );
  });

  it('is refused in words, whatever it is', () => {
    const piece = fc.constantFrom(
      'a',
      ',',
      '"',
      '\n',
      '\r',
      ';',
      '\t',
      '1',
      '{',
      '}',
      ':',
      '[',
      'command',
      ' ',
      '${',
      "'",
      '|',
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 25 }),
        fc.constantFrom('t.csv', 't.tsv', 't.jsonl', 't.json'),
        (parts, path) => {
          for (const command of [train, []]) {
            try {
              planOf(tableSweepText(parts.join(''), path, command));
            } catch (error) {
              expect(error).toBeInstanceOf(UserError);
            }
          }
        },
      ),
      { numRuns: 1500 },
    );
  });
});

function truth(text: string): string | boolean {
  return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text;
}
