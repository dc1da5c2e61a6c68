import { describe, expect, it } from 'vitest';
import { answerOf } from '../../../src/analysis/answer/best-answer.js';
import { nextSteps } from '../../../src/analysis/answer/next-steps.js';
import type { RunWord } from '../../../src/base/run-words.js';

type State = { state: RunWord; heldBy?: string };
const runsOf = (states: readonly (RunWord | State)[]) =>
  states.map((each, at) => ({ id: `s/r${at}`, ...(typeof each === 'string' ? { state: each } : each) }));

/** The answer of settings with a value for each seed. */
function answered(...settings: (readonly number[])[]) {
  const runs = settings.flatMap((losses, lr) =>
    losses.map((loss, seed) => {
      const state = { state: 'done' as const, health: 'ok' as const, metrics: { loss } };
      return { name: `lr${lr}_s${seed}`, group: 'g', parameters: { lr, seed }, ...state };
    }),
  );
  return [{ answer: answerOf(runs, { metric: 'loss', goal: 'minimize', fromSeeds: [] }) }];
}

describe('what to do next', () => {
  const done = ['done', 'done'] as const;
  const page = 'memrl-tui report s --html s.html';
  it.each<{
    when: string;
    states: readonly (RunWord | State)[];
    answers?: ReturnType<typeof answered>;
    next: string[];
  }>([
    { when: 'all is done and told apart', states: done, answers: answered([1, 1.01], [5, 5.01]), next: [page] },
    { when: 'settings tie', states: done, answers: answered([1, 2], [1.1, 2.1]), next: ['memrl-tui extend s', page] },
    { when: 'there is one run of each', states: done, answers: answered([1], [2]), next: ['memrl-tui extend s', page] },
    { when: 'runs are up', states: ['done', 'running'], next: ['memrl-tui wait s'] },
    {
      when: 'some failed, the rest goes on',
      states: ['done', 'failed', 'lost', 'queued'],
      next: ['memrl-tui logs s/r1', 'memrl-tui resume sweep:s status:failed,lost', 'memrl-tui wait s'],
    },
    {
      when: 'some failed, and the breaker holds the rest',
      states: ['failed', { state: 'held', heldBy: 'breaker' }],
      next: [
        'memrl-tui logs s/r0',
        'memrl-tui resume sweep:s status:failed,lost',
        'memrl-tui release sweep:s status:held',
      ],
    },
    { when: 'a person holds the rest', states: ['done', { state: 'held', heldBy: 'person' }], next: [page] },
    { when: 'nothing was launched', states: [], next: [] },
  ])('where $when', ({ states, answers = [], next }) => {
    expect(nextSteps('s', runsOf(states), answers).map(({ command }) => command)).toEqual(next);
    const there = nextSteps('s', runsOf(states), answers, ['--runs', 'my runs']);
    expect(there.map(({ command }) => command)).toEqual(next.map((command) => `${command} --runs 'my runs'`));
  });
});
