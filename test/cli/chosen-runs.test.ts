import { describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import type { UserError } from '../../src/base/user-error.js';
import { chosenRuns, isAboutMetrics } from '../../src/cli/chosen-runs.js';
import { runsChosenBy } from '../../src/query/bare-words.js';
import { aRun } from '../tui/simulated-fleet.js';

const other = (name: string) => aRun(name, { id: RunId.parse(`other/${name}`), sweep: 'other' });
const runs = [
  aRun('A_s0', { state: 'done', parameters: { lr: 0.1 } }),
  aRun('A_s1', { state: 'failed', parameters: { lr: 0.2 } }),
  aRun('lr=0.1_s2', { group: 'B' }),
  aRun('both', { group: 'B' }),
  other('both'),
];

function names(...words: string[]): string {
  return runsChosenBy(words, runs, 0)
    .map(({ id }) => id)
    .join(' ');
}

function refusal(...words: string[]): UserError {
  try {
    chosenRuns(words, runs, 0);
  } catch (error) {
    return error as UserError;
  }
  throw new Error('it was accepted');
}

describe('the words of a command line', () => {
  it.each<[string[], string]>([
    [[], 'abcd/A_s0 abcd/A_s1 abcd/lr=0.1_s2 abcd/both other/both'],
    [[''], 'abcd/A_s0 abcd/A_s1 abcd/lr=0.1_s2 abcd/both other/both'],
    [['all'], 'abcd/A_s0 abcd/A_s1 abcd/lr=0.1_s2 abcd/both other/both'],
    [['A_s0'], 'abcd/A_s0'],
    [['A_s1', 'A_s0'], 'abcd/A_s0 abcd/A_s1'],
    [['abcd/A_s1'], 'abcd/A_s1'],
    [['other/both', 'A_s0'], 'abcd/A_s0 other/both'],
    [['lr=0.1_s2'], 'abcd/lr=0.1_s2'],
    [['other'], 'other/both'],
    [['other', 'A_s0'], 'abcd/A_s0 other/both'],
    [['A_'], 'abcd/A_s0 abcd/A_s1'],
    [['A_', 'status:done'], 'abcd/A_s0'],
    [['A_', 'or', 'sweep:other'], 'abcd/A_s0 abcd/A_s1 other/both'],
    [['A_s0 or A_s1'], 'abcd/A_s0 abcd/A_s1'],
    [['A_s0', 'status:failed'], ''],
    [['abcd', 'status:done'], 'abcd/A_s0'],
    [['abcd', 'lr=0.2'], 'abcd/A_s1'],
    [['other', 'status:done'], ''],
    [['not', 'abcd'], 'other/both'],
    [['B'], 'abcd/lr=0.1_s2 abcd/both other/both'],
    [['abcd', 'B', 'both'], 'abcd/both'],
    [['abcd/B'], 'abcd/lr=0.1_s2 abcd/both'],
    [['abcd/both or A_s0'], 'abcd/A_s0 abcd/both'],
    [['abcd/A_*', 'status:failed'], 'abcd/A_s1'],
    [['name:other'], ''],
    [['status:running'], ''],
  ])('%j choose %j', (words, ids) => {
    expect(names(...words)).toBe(ids);
  });

  it.each<[string[], string, string]>([
    [['both'], '2 sweeps have a run `both`.', 'abcd/both, other/both'],
    [['A_s9'], 'No run matches `A_s9`.', 'Did you mean `A_s0`?'],
    [['othr'], 'No run matches `othr`.', 'Did you mean `other`?'],
    [['other/bth'], 'No run matches `other/bth`.', 'Did you mean `other/both`?'],
    [['status:running'], 'No run matches `status:running`.', 'memrl-tui ls'],
    [['lt=0.1'], 'No run has a parameter or a metric `lt`.', 'Did you mean `lr`?'],
    [['status:'], 'cannot be read, at character 8', 'status:failed'],
    [[''], 'The query is empty', '`all` for every run of every sweep'],
    [[' ', '\t'], 'The query is empty', 'Name the runs'],
    [[], 'The query is empty', 'Name the runs'],
    [['A_s0', ''], 'An argument next to `A_s0` is empty', 'Name the runs'],
    [['""'], 'these quotes are empty', 'use all'],
  ])('%j are refused', (words, problem, fix) => {
    const { message, fix: said } = refusal(...words);
    expect({ message, said }).toEqual({
      message: expect.stringContaining(problem) as string,
      said: expect.stringContaining(fix) as string,
    });
  });

  it('are the sweep first, where a run has its name', () => {
    const own = [aRun('train', { sweep: 'train', id: RunId.parse('train/train') }), aRun('b', { sweep: 'train' })];
    expect(runsChosenBy(['train'], own, 0)).toHaveLength(2);
    expect(runsChosenBy(['train/train'], own, 0)).toHaveLength(1);
  });

  it('are refused at once when they are as long as a command line can be', () => {
    expect(refusal('x'.repeat(100_000)).message).toMatch(/^The query `x{119}…` cannot be read[^]*100000 characters/);
  });

  it('are no use where nothing was launched, and that is said', () => {
    expect(() => chosenRuns(['x=1'], [], 0)).toThrow('There are no runs here.');
  });

  it.each<[string, boolean]>([
    ['', false],
    ['A_s0', false],
    ['A_s0 other/both', false],
    ['lr=0.1_s2', false],
    ['status:failed', false],
    ['age>2h', false],
    ['not lr=0.1', true],
    ['A_s0 loss<1', true],
    ['status:failed or (B health:nan)', true],
    ['progress<0.5', true],
  ])('`%s` asks for what runs have written: %s', (text, isAbout) => {
    expect(isAboutMetrics(text === '' ? [] : text.split(' '), runs)).toBe(isAbout);
  });
});
