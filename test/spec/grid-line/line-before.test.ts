import { describe, expect, it } from 'vitest';
import { type GridLine, gridSweepText } from '../../../src/spec/grid-line/grid-line.js';
import { isOfSameSweep, lineBefore } from '../../../src/spec/grid-line/line-before.js';

const plain: GridLine = {
  ...{ assignments: ['seed=0,1', 'lr=1e-3'], command: ['python', 'train.py'], style: 'equals' },
  ...{ runCap: null, sample: null, baselines: [], then: null },
};
const line = (more: Partial<GridLine>): GridLine => ({ ...plain, ...more });

describe('the line that a sweep file was written for', () => {
  it.each<[string, GridLine]>([
    ['a plain one', plain],
    [
      'words that a shell would act on',
      line({ assignments: ["note='a b'", 'x=$y'], command: ['sh', '-c', 'echo "$0"; ls *'] }),
    ],
    [
      'all options',
      line({ style: 'hydra', runCap: 4, sample: 'lhs', baselines: ['off: lr=0', 'b: lr=1'], then: 'eval ${run_dir}' }),
    ],
    ['a command with its own --', line({ command: ['srun', '--', 'python', 'train.py'] })],
  ])('is read back: %s', (_, of) => {
    expect(lineBefore(gridSweepText(of))).toEqual(of);
  });

  it.each([
    ['changed', `${gridSweepText(plain)}retry: 3\n`],
    ['of another hand', '# memrl-tui grid seed=0\ncommand: [a]\n'],
    ['without a heading', 'command: [a]\n'],
    ['with a heading that is none', '# memrl-tui grid "\n'],
    ['empty', ''],
  ])('is not known of a file that is %s', (_, text) => {
    expect(lineBefore(text)).toBeNull();
  });
});

describe('another line', () => {
  it.each<[string, Partial<GridLine>, boolean]>([
    ['one value more', { assignments: ['seed=0..2', 'lr=0.001'] }, true],
    ['one value less', { assignments: ['seed=1', 'lr=1e-3'] }, true],
    ['what follows', { then: 'eval' }, true],
    ['no value of before', { assignments: ['seed=0,1', 'lr=1'] }, false],
    ['a parameter more', { assignments: ['seed=0,1', 'lr=1e-3', 'wd=0'] }, false],
    ['another parameter', { assignments: ['seed=0,1', 'wd=1e-3'] }, false],
    ['another command', { command: ['python', 'train.py', '--fast'] }, false],
  ])('is of the same sweep with %s: %s', (_, more, isSame) => {
    expect(isOfSameSweep(line(more), plain)).toBe(isSame);
  });
});
