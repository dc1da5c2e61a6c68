import { describe, expect, it } from 'vitest';
import { endStateOf, exitClasses, hasEnded, runStates, waitOf } from '../../src/base/run-words.js';

describe('a run', () => {
  it('has ended in the states that it does not leave by itself', () => {
    expect(runStates.filter((state) => !hasEnded(state))).toEqual([
      ...['queued', 'starting', 'running', 'paused', 'stopping', 'held'],
    ]);
  });

  it('is in one of them, however it ended', () => {
    expect(exitClasses.map((kind) => [kind, endStateOf(kind)])).toEqual([
      ['done', 'done'],
      ['failed', 'failed'],
      ['signal', 'failed'],
      ['oom', 'failed'],
      ['timeout', 'failed'],
      ['killed', 'killed'],
      ['lost', 'lost'],
    ]);
  });
});

it.each([
  [{ state: 'queued', reason: 'waiting for a slot (2 of 2 busy)' }, 'waiting for a slot (2 of 2 busy)'],
  [{ state: 'starting', reason: 'Slurm job 3_0 waits (Resources: no node is free)' }, 'Resources: no node is free'],
  [{ state: 'starting', reason: 'its worker: Slurm job 7 waits (n1 (gpu) is full)' }, 'n1 (gpu) is full'],
  [{ state: 'starting', reason: null }, null],
  [{ state: 'running', reason: 'Slurm job 3_0 waits (Priority)' }, null],
] as const)('what %o waits for is said in the same words for all its kind', (run, words) => {
  expect(waitOf(run)).toBe(words);
});
