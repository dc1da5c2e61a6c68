import { describe, expect, it } from 'vitest';
import { asksForMultirun, isForHydra, multirunOf, multirunWords } from '../../../src/spec/grid-line/multirun.js';

const words = (line: string) => line.split(' ');

describe('a line for a multirun of Hydra', () => {
  it.each([
    ['python train.py -m lr=.1,.01 seed=3 opt=adam', 'python train.py seed=3 opt=adam', ['lr=.1,.01']],
    ['python -m lab.train --multirun lr=range(1,3) x=[1,2]', 'python -m lab.train x=[1,2]', ['lr=range(1,3)']],
    ['uv run python -u train.py -m +db/x@y=a,b', 'uv run python -u train.py', ['+db/x@y=a,b']],
    ["train -m name='a,b' k={a:1,b:2}", "train name='a,b' k={a:1,b:2}", []],
  ])('%s', (line, command, assignments) => {
    expect(asksForMultirun(words(line))).toBe(true);
    expect(multirunOf(words(line))).toEqual({ command: words(command), assignments });
  });

  it('is not what `-m` of Python itself makes', () => {
    expect(asksForMultirun(words('python -m lab.train lr=1,2'))).toBe(false);
    expect(asksForMultirun(words('python3.11 -u -m lab.train'))).toBe(false);
  });

  it('begins with the script where nothing is behind `--`', () => {
    expect(multirunWords(words('train.py lr=.1,.01 seed=3'))).toEqual({
      command: ['python', 'train.py', 'seed=3'],
      assignments: ['lr=.1,.01'],
    });
  });

  it('is known by a word for Hydra itself', () => {
    expect(isForHydra(words('python train.py hydra.run.dir=x'))).toBe(true);
    expect(isForHydra(words('python train.py hydrate=1'))).toBe(false);
  });
});
