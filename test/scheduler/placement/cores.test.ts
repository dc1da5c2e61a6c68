import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import type { Need } from '../../../src/scheduler/placement/slot.js';
import { isSettled, waitingReason } from '../../../src/scheduler/placement/waiting-reason.js';
import { asked, ended, id, placements, play, prioritised, slots, started, submitted } from '../play.js';

const run = (name: string, cpus?: number, need: Partial<Need> = {}) => ({
  name,
  need: { ...need, ...(cpus === undefined ? {} : { cpus }) },
});
const onGpu = (name: string, cpus?: number) => run(name, cpus, { gpus: 1 });

describe('the cores that a run reserves', () => {
  it.each<{ when: string; events: SchedulerEvent[]; placed: string[] }>([
    {
      when: 'are so many CPU slots',
      events: [slots(6), submitted([run('a', 4), run('b', 2), run('c')])],
      placed: ['a: cpu 0', 'b: cpu 1'],
    },
    {
      when: 'are free again with its end',
      events: [slots(4), submitted([run('a', 4), run('b', 3), run('c')]), started('a'), ended('a')],
      placed: ['a: cpu 0', 'b: cpu 0', 'c: cpu 1'],
    },
    {
      when: 'are kept for it: smaller runs do not overtake it',
      events: [
        ...[slots(4), submitted([run('a'), run('b'), run('large', 3), run('c'), run('d')])],
        ...[started('a'), ended('a')],
      ],
      placed: ['a: cpu 0', 'b: cpu 1', 'large: cpu 0'],
    },
    {
      when: 'are not kept for one that needs more than there are',
      events: [slots(2), submitted([run('huge', 3), run('b'), run('c')])],
      placed: ['b: cpu 0', 'c: cpu 1'],
    },
    {
      when: 'count beside a GPU as well, where it says so',
      events: [slots(4, 2), submitted([onGpu('a', 3), onGpu('b', 2), run('c')])],
      placed: ['a: gpu 0'],
    },
    {
      when: 'are kept for a run that waits for its GPU, and no more than those',
      events: [slots(4, 1), submitted([onGpu('a'), onGpu('b', 3), run('c'), run('d')])],
      placed: ['a: gpu 0', 'c: cpu 0'],
    },
    {
      when: 'do not count beside a GPU where there are no CPU slots',
      events: [slots(0, 2), submitted([onGpu('a', 3), onGpu('b', 2)])],
      placed: ['a: gpu 0', 'b: gpu 1'],
    },
    {
      when: 'are none beside a GPU, unless it says so',
      events: [slots(1, 2), submitted([run('a'), onGpu('b'), onGpu('c')])],
      placed: ['a: cpu 0', 'b: gpu 0', 'c: gpu 1'],
    },
    {
      when: 'stay with a run that is up when slots are taken away',
      events: [slots(4), submitted([run('a', 3), run('b')]), slots(2), started('b'), ended('b'), asked('resume', 'b')],
      placed: ['a: cpu 0', 'b: cpu 1'],
    },
    {
      when: 'go to the higher priority, whether it is on a GPU or not',
      events: [
        ...[slots(2, 1), submitted([run('a', 2), run('b', 2), onGpu('c', 1)]), prioritised('c', 5)],
        ...[started('a'), ended('a')],
      ],
      placed: ['a: cpu 0', 'c: gpu 0'],
    },
  ])('$when', ({ events, placed }) => {
    expect(placements(...events)).toEqual(placed);
  });

  it.each<{ reason: string; events: SchedulerEvent[]; settled?: boolean }>([
    { reason: 'waiting for 3 slots (2 of 4 busy)', events: [slots(4), submitted([run('a', 2), run('z', 3)])] },
    { reason: 'waiting for a slot (4 of 4 busy)', events: [slots(4), submitted([run('a', 4), run('z')])] },
    { reason: 'waiting behind large', events: [slots(4), submitted([run('a', 2), run('large', 3), run('z')])] },
    {
      reason: 'waiting for 2 slots (3 of 4 busy)',
      events: [slots(4, 2), submitted([run('a', 3), onGpu('z', 2)])],
    },
    {
      reason: 'waiting for a GPU (1 of 1 busy)',
      events: [slots(4, 1), submitted([onGpu('a', 3), onGpu('z', 2)])],
    },
    {
      reason: 'needs 5 CPU slots, and there are 4',
      events: [slots(4, 1), submitted([onGpu('z', 5)])],
      settled: true,
    },
  ])('is said: $reason', ({ events, reason, settled = false }) => {
    const { state } = play(...events);
    expect(waitingReason(state, id('z'))).toBe(reason);
    expect(isSettled(state)).toBe(settled);
  });
});
