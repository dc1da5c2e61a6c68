import { describe, expect, it } from 'vitest';
import { endStateOf, exitClasses, hasEnded, runStates } from '../../src/base/run-words.js';

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
