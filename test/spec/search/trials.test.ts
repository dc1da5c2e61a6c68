import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Objective } from '../../../src/spec/planned-run.js';
import { type ObjectiveValues, observationsOf, type Trial } from '../../../src/spec/search/trials.js';

/** What W&B's search makes of the same runs; `make-bayes.py` beside the file wrote it. */
const { trials: written, imputed } = JSON.parse(readFileSync('test/fixtures/wandb/bayes.json', 'utf8')) as {
  trials: { state: Trial['state']; values: number[] }[];
  imputed: { metric: object; points: number[]; pending: number[]; values: number[] }[];
};

const trialOf = (state: Trial['state'], values: readonly number[], x: number): Trial => {
  const extremes: ObjectiveValues = { min: Math.min(...values), max: Math.max(...values), last: values.at(-1)! };
  return { parameters: { x }, state, values: values.length === 0 ? null : extremes };
};
const xOf = ({ parameters }: Trial) => [parameters['x'] as number];
const seen = (trials: readonly Trial[], metric: object) =>
  observationsOf(trials, Objective.parse({ name: 'y', ...metric }), xOf);

describe('trials', () => {
  const trials = written.map(({ state, values }, index) => trialOf(state, values, index / 10));

  it.each(imputed)('count as in W&B: $metric', ({ metric, points, pending, values }) => {
    const observed = seen(trials, metric);
    expect(observed.points.flat()).toEqual(points.map((point) => expect.closeTo(point, 9) as number));
    expect(observed.values).toEqual(values);
    expect(observed.pending.flat()).toEqual(pending.map((point) => expect.closeTo(point, 9) as number));
  });

  it('count with their last value when they were stopped early', () => {
    expect(seen([trialOf('stopped', [1, 5], 0)], {}).values).toEqual([5]);
    expect(seen([trialOf('done', [1, 5], 0)], {}).values).toEqual([1]);
  });

  it('count as zero where no run has a value', () => {
    expect(seen([trialOf('broken', [], 0), trialOf('waiting', [], 1)], {}).values).toEqual([0]);
  });
});
