import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AheadState, GroupsAhead } from '../../../src/lab/rollouts/groups-ahead.js';
import type { Rollout } from '../../../src/lab/rollouts/rollouts.js';

const task = { id: 'task', prompt: Int32Array.of(1), text: 'task' };

/** An episode of one token that earned so much. */
function rollout(total: number): Rollout {
  const said = { tokens: Int32Array.of(2), logprobs: Float32Array.of(-0.5), text: 'two', ended: 'stop' } as const;
  const arrays = { tokens: [2], logprobs: [-0.5], samplingLogprobs: [-0.25], turnOf: [0] };
  return { ...arrays, task, turns: [said], rewards: [{ total, metrics: { correct: total } }], observed: 1 };
}
const mixed = () => [rollout(0), rollout(1)];

/** Groups whose end the test decides: each call of `play` waits until it is told to end. */
function scripted({ perBatch = 1, maxStepsOffPolicy = 3, skipsConstant = false, isConcurrent = true } = {}) {
  const open: { readonly numbers: readonly number[]; readonly end: (groups?: Rollout[][]) => void }[] = [];
  const ahead = new GroupsAhead({
    ...{ perBatch, maxStepsOffPolicy, skipsConstant, isConcurrent },
    play: (numbers) =>
      new Promise((resolve) => open.push({ numbers, end: (groups) => resolve(groups ?? numbers.map(mixed)) })),
  });
  return { ahead, open };
}

/** Lets all promises that can go on do so. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('groups that are played ahead', () => {
  it('are used up to an age of max_steps_off_policy, and played again when older', async () => {
    const { ahead, open } = scripted({ perBatch: 2 });
    const first = ahead.take(2, 2);
    expect(open.map(({ numbers }) => numbers)).toEqual([[0], [1]]);
    open[0]!.end();
    await settle();
    open[2]!.end();
    expect((await first).map(({ number }) => number)).toEqual([0, 2]);
    // Number 1 goes on; it was begun with the weights of step 2.
    for (let step = 3; step <= 5; step++) {
      const taken = ahead.take(step, 2);
      if (step === 5) open[1]!.end();
      while ((await Promise.race([taken, settle()])) === undefined) open.at(-1)!.end();
      const ages = new Map((await taken).map(({ number, sampledAt }) => [number, sampledAt]));
      expect(ages.has(1)).toBe(step === 5);
      if (step === 5) expect(ages.get(1)).toBe(2);
    }
    expect(ahead.takeStale()).toBe(0);

    const late = scripted({ perBatch: 2 });
    const begun = late.ahead.take(2, 2);
    late.open[0]!.end();
    await settle();
    late.open[2]!.end();
    await begun;
    const numbers = new Set<number>();
    for (let step = 3; step <= 6; step++) {
      const taken = late.ahead.take(step, 2);
      if (step === 6) late.open[1]!.end();
      while ((await Promise.race([taken, settle()])) === undefined) late.open.at(-1)!.end();
      for (const { number, sampledAt } of await taken) {
        expect(step - sampledAt).toBeLessThanOrEqual(3);
        if (number === 1) expect(sampledAt).toBe(6);
        numbers.add(number);
      }
    }
    expect(late.ahead.takeStale()).toBe(1);
    expect(late.ahead.takeStale()).toBe(0);
    expect(late.open.filter(({ numbers: [number] }) => number === 1)).toHaveLength(2);
  });

  it('are returned in the requested number, never stale, each once, in any order of completion', async () => {
    const settings = fc.record({
      perBatch: fc.integer({ min: 1, max: 4 }),
      maxStepsOffPolicy: fc.integer({ min: 0, max: 3 }),
      isConcurrent: fc.boolean(),
    });
    const choices = fc.infiniteStream(fc.nat({ max: 1000 }));
    await fc.assert(
      fc.asyncProperty(settings, choices, async (options, stream) => {
        const { ahead, open } = scripted(options);
        const trained: number[] = [];
        for (let step = 0; step < 8; step++) {
          const taken = ahead.take(step, options.perBatch);
          for (let groups = await Promise.race([taken, settle()]); groups === undefined;) {
            open.splice(stream.next().value! % open.length, 1)[0]!.end();
            groups = await Promise.race([taken, settle()]);
          }
          const groups = await taken;
          expect(groups).toHaveLength(options.perBatch);
          for (const { number, sampledAt } of groups) {
            expect(step - sampledAt).toBeLessThanOrEqual(options.maxStepsOffPolicy);
            trained.push(number);
          }
          // As many as fill the batches in which what begins now is fresh, and no more.
          const { next, again, finished } = ahead.state();
          expect(next - trained.length).toBeLessThanOrEqual(options.maxStepsOffPolicy * options.perBatch);
          expect(again.length + finished.length).toBe(next - trained.length);
          if (!options.isConcurrent) expect(open).toEqual([]);
        }
        expect(new Set(trained).size).toBe(trained.length);
      }),
      { numRuns: 60 },
    );
  });

  it('have the greatest allowed age, in order, when nothing is played while weights change', async () => {
    const ahead = new GroupsAhead({
      ...{ perBatch: 2, maxStepsOffPolicy: 2, skipsConstant: false, isConcurrent: false },
      play: async (numbers) => numbers.map(mixed),
    });
    for (let step = 0; step < 6; step++) {
      const groups = await ahead.take(step, 2);
      const sampledAt = Math.max(0, step - 2);
      expect(groups.map(({ number, sampledAt: at }) => [number, at])).toEqual([
        [2 * step, sampledAt],
        [2 * step + 1, sampledAt],
      ]);
    }
  });

  it('are left out of batches when their rewards are equal, up to one batch', async () => {
    const constantUntil = (last: number) =>
      new GroupsAhead({
        ...{ perBatch: 3, maxStepsOffPolicy: 1, skipsConstant: true, isConcurrent: false },
        play: async (numbers) => numbers.map((number) => (number < last ? [rollout(1), rollout(1)] : mixed())),
      });
    expect((await constantUntil(2).take(0, 3)).map(({ number }) => number)).toEqual([2, 3, 4]);
    expect((await constantUntil(Infinity).take(0, 3)).map(({ number }) => number)).toEqual([3, 4, 5]);
  });

  it('are resumed from a checkpoint: finished groups are kept, unfinished ones are played again', async () => {
    const { ahead, open } = scripted({ perBatch: 2, maxStepsOffPolicy: 2 });
    const taken = ahead.take(0, 2);
    open[1]!.end([[rollout(0.25), rollout(0.5)]]);
    await settle();
    open[2]!.end();
    await taken;
    await settle();
    open.find(({ numbers: [number] }) => number === 3)!.end([[rollout(7), rollout(8)]]);
    await settle();
    const state = AheadState.parse(JSON.parse(JSON.stringify(ahead.state())));
    expect(state.finished.map(({ number }) => number)).toEqual([3]);
    expect(state.again).toEqual([0, 4]);

    const resumed = scripted({ perBatch: 2, maxStepsOffPolicy: 2 });
    resumed.ahead.restore(state, () => task);
    expect(resumed.ahead.state()).toEqual(state);
    const groups = resumed.ahead.take(1, 2);
    expect(resumed.open.map(({ numbers }) => numbers)).toEqual([[0], [4]]);
    resumed.open[0]!.end();
    const [three, zero] = await groups;
    expect([three!.number, three!.sampledAt, zero!.number, zero!.sampledAt]).toEqual([3, 0, 0, 1]);
    expect(three!.rollouts).toEqual([rollout(7), rollout(8)]);
  });

  it('end the run with the error of a group', async () => {
    const ahead = new GroupsAhead({
      ...{ perBatch: 2, maxStepsOffPolicy: 1, skipsConstant: false, isConcurrent: true },
      play: ([number]) => (number === 1 ? Promise.reject(new Error('no model')) : Promise.resolve([mixed()])),
    });
    await expect(ahead.take(0, 2).then(() => ahead.take(1, 2))).rejects.toThrow('no model');
  });
});
