import { describe, expect, it } from 'vitest';
import { GpuIndex } from '../../../src/base/ids.js';
import type { Need } from '../../../src/scheduler/placement/slot.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { isSettled, waitingReason } from '../../../src/scheduler/placement/waiting-reason.js';
import {
  drained,
  ended,
  endedAs,
  gpuSlots,
  id,
  placements,
  play,
  type Seen,
  seen,
  slots,
  started,
  submitted,
} from '../play.js';

const GIB = 1024;
const gpu = (name: string, need: Partial<Need> = {}) => ({ name, need: { gpus: 1, ...need } });
const only = (...indexes: number[]) => indexes.map((index) => GpuIndex.parse(index));
const large = (name: string, memory: number, need: Partial<Need> = {}) => gpu(name, { perGpu: 4, memory, ...need });
const python = (index: number, foreignMemory = 1000): Seen => ({
  index,
  foreignMemory,
  foreign: ['python (pid 4711)'],
});
const leased = (index: number): Seen => ({ index, leasedBy: '/other/dir' });

describe('which GPU a run is put on', () => {
  it.each<{ when: string; events: SchedulerEvent[]; placed: string[] }>([
    {
      when: 'the first in the order of preference',
      events: [gpuSlots([{ index: 3 }, { index: 1 }, { index: 2 }]), submitted([gpu('a'), gpu('b', { gpus: 2 })])],
      placed: ['a: gpu 3', 'b: gpu 1,2'],
    },
    {
      when: 'not one that is drained, until it is no longer drained',
      events: [slots(0, 2), drained(0), submitted(['a', 'b', 'c'].map((name) => gpu(name))), drained(0, false)],
      placed: ['a: gpu 1', 'b: gpu 0'],
    },
    {
      when: 'not one that is gone, until it is back',
      events: [slots(0, 2), seen({ index: 1 }), submitted([gpu('a'), gpu('b')]), seen({ index: 0 }, { index: 1 })],
      placed: ['a: gpu 1', 'b: gpu 0'],
    },
    {
      when: 'not one that the driver cannot reach, though it was granted before it was looked at',
      events: [seen({ index: 0, present: false }, { index: 1 }), slots(0, 2), submitted([gpu('a'), gpu('b')])],
      placed: ['a: gpu 1'],
    },
    {
      when: 'not one that belongs to another runs directory, until it is free',
      events: [
        slots(0, 2),
        seen(leased(0), { index: 1 }),
        submitted([gpu('a'), gpu('b')]),
        seen({ index: 0 }, { index: 1 }),
      ],
      placed: ['a: gpu 1', 'b: gpu 0'],
    },
    {
      when: 'not one that others use, until they leave',
      events: [
        slots(0, 2),
        seen(python(0), { index: 1 }),
        submitted([gpu('a'), gpu('b')]),
        seen({ index: 0 }, { index: 1 }),
      ],
      placed: ['a: gpu 1', 'b: gpu 0'],
    },
    {
      when: 'one that others use, where its declared memory fits beside them',
      events: [
        gpuSlots([{ index: 0, memory: 8 * GIB }]),
        seen(python(0, 3 * GIB)),
        submitted([large('a', 4 * GIB), large('b', 1 * GIB), large('c', 1)]),
      ],
      placed: ['a: gpu 0', 'b: gpu 0'],
    },
    {
      when: 'none that others use, where nobody knows how large it is',
      events: [slots(0, 1), seen(python(0)), submitted([large('a', 1)])],
      placed: [],
    },
    {
      when: 'one with memory left, however many may share it',
      events: [
        gpuSlots([
          { index: 0, memory: 8 * GIB },
          { index: 1, memory: 8 * GIB },
        ]),
        submitted(['a', 'b', 'c', 'd', 'e'].map((name) => large(name, 3 * GIB))),
      ],
      placed: ['a: gpu 0', 'b: gpu 1', 'c: gpu 0', 'd: gpu 1'],
    },
    {
      when: 'one that is large enough, passing by the small',
      events: [
        gpuSlots([
          { index: 0, memory: 8 * GIB },
          { index: 1, memory: 80 * GIB },
        ]),
        submitted([large('a', 9 * GIB)]),
      ],
      placed: ['a: gpu 1'],
    },
    {
      when: 'beside one whose memory nobody knows, by its share alone',
      events: [
        gpuSlots([{ index: 0, memory: 8 * GIB }]),
        submitted([gpu('a', { perGpu: 4 }), large('b', 8 * GIB), gpu('c', { perGpu: 4 })]),
      ],
      placed: ['a: gpu 0', 'b: gpu 0', 'c: gpu 0'],
    },
    {
      when: 'all those it needs with memory on each',
      events: [
        gpuSlots([0, 1, 2].map((index) => ({ index, memory: 8 * GIB }))),
        seen({ index: 0 }, python(1, 5 * GIB), { index: 2 }),
        submitted([large('a', 4 * GIB, { gpus: 2 })]),
      ],
      placed: ['a: gpu 0,2'],
    },
    {
      when: 'each time one that is used least, before any is shared by more',
      events: [
        gpuSlots([{ index: 2 }, { index: 0 }, { index: 1 }]),
        submitted(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => gpu(name, { perGpu: 2 }))),
      ],
      placed: ['a: gpu 2', 'b: gpu 0', 'c: gpu 1', 'd: gpu 2', 'e: gpu 0', 'f: gpu 1'],
    },
    {
      when: 'the same one, by as many as may share it, though nine ninths are more than one for a computer',
      events: [slots(0, 1), submitted([...'abcdefghij'].map((name) => gpu(name, { perGpu: 9 })))],
      placed: [...'abcdefghi'].map((name) => `${name}: gpu 0`),
    },
    {
      when: 'one whose runs take less of it, however many they are',
      events: [
        slots(0, 2),
        submitted([gpu('a', { perGpu: 2 }), ...['b', 'c', 'd'].map((name) => gpu(name, { perGpu: 8 }))]),
      ],
      placed: ['a: gpu 0', 'b: gpu 1', 'c: gpu 1', 'd: gpu 1'],
    },
    {
      when: 'one that only we use, before one that others use too',
      events: [
        gpuSlots([0, 1].map((index) => ({ index, memory: 8 * GIB }))),
        seen(python(0), { index: 1 }),
        submitted(['a', 'b', 'c'].map((name) => large(name, GIB, { perGpu: 2 }))),
      ],
      placed: ['a: gpu 1', 'b: gpu 1', 'c: gpu 0'],
    },
    {
      when: 'several that are used least, named in the order of preference',
      events: [
        slots(0, 3),
        submitted([gpu('a', { perGpu: 4 }), gpu('b', { perGpu: 4, gpus: 2 }), gpu('c', { perGpu: 4, gpus: 2 })]),
      ],
      placed: ['a: gpu 0', 'b: gpu 1,2', 'c: gpu 0,1'],
    },
    {
      when: 'one of those that its launch may use',
      events: [
        slots(0, 3),
        submitted([
          gpu('a', { within: only(2) }),
          gpu('b', { within: only(2) }),
          gpu('c'),
          gpu('d', { within: only(0, 1) }),
        ]),
      ],
      placed: ['a: gpu 2', 'c: gpu 0', 'd: gpu 1'],
    },
    {
      when: 'none that a run further ahead may use and waits for',
      events: [
        slots(0, 3),
        submitted([
          gpu('a', { within: only(1) }),
          gpu('pair', { gpus: 2, within: only(0, 1) }),
          gpu('c', { within: only(0) }),
          gpu('d'),
        ]),
      ],
      placed: ['a: gpu 1', 'd: gpu 2'],
    },
    {
      when: 'an instance of a divided one',
      events: [gpuSlots([{ index: 1000 }, { index: 1001 }]), submitted([gpu('a'), gpu('b')])],
      placed: ['a: gpu 0:0', 'b: gpu 0:1'],
    },
    {
      when: 'a size first heard of by a look',
      events: [
        slots(0, 1),
        seen({ index: 0, memory: 8 * GIB }),
        submitted(['a', 'b'].map((name) => large(name, 5 * GIB))),
      ],
      placed: ['a: gpu 0'],
    },
  ])('$when', ({ events, placed }) => {
    expect(placements(...events)).toEqual(placed);
  });

  it('does not free a slot, whatever becomes of the GPU', () => {
    const { state } = play(slots(0, 1), submitted([gpu('a'), gpu('b')]), started('a'), seen(), drained(0), slots(0, 0));
    expect([...state.gpu.shares.get(GpuIndex.parse(0))!.keys()]).toEqual([id('a')]);
    expect(placements(slots(0, 1), submitted([gpu('a'), gpu('b')]), started('a'), seen(), seen({ index: 0 }))).toEqual([
      'a: gpu 0',
    ]);
  });

  it('keeps what is known of GPUs that stay, and of those that come back', () => {
    const known = [gpuSlots([{ index: 0, memory: 8 * GIB }, { index: 1 }]), drained(1), seen(python(0), { index: 1 })];
    const again = [slots(0, 1), slots(0, 2)];
    const { state } = play(...known, ...again);
    expect([...state.gpu.devices.values()]).toMatchObject([
      { index: 0, memory: 8 * GIB, drained: false, foreign: ['python (pid 4711)'] },
      { index: 1, memory: null, drained: true, foreign: [] },
    ]);
  });
});

describe('what finished siblings took', () => {
  const one = gpuSlots([{ index: 0, memory: 10_000 }]);
  const group = (...names: string[]) => submitted(names.map((name) => gpu(name, { perGpu: 4 })));
  const took = (name: string, gpuMemory: number) => endedAs(name, { kind: 'done' }, { gpuMemory });

  it('limits how many share a GPU, with a tenth to spare', () => {
    const events = [one, group('a', 'b', 'c', 'd', 'e', 'f'), started('a'), started('b'), started('c'), started('d')];
    expect(placements(...events, took('a', 2000))).toHaveLength(5);
    expect(placements(...events, took('a', 2300))).toHaveLength(4);
    // What is up counts as much as what is to come: three of 3,300 MiB fit.
    expect(placements(...events, took('a', 3000), took('b', 100))).toHaveLength(5);
  });

  it('is the most of them', () => {
    const { state } = play(one, group('a', 'b', 'c'), started('a'), started('b'), took('a', 500), took('b', 400));
    expect([...state.groups.values()].map(({ peakMemory }) => peakMemory)).toEqual([500]);
  });

  it('is not believed of one that broke off before it was full-grown', () => {
    const failed = endedAs('a', { kind: 'failed', code: 1 }, { gpuMemory: 300 });
    const { state } = play(one, group('a', 'b'), started('a'), failed);
    expect([...state.groups.values()][0]!.peakMemory).toBeNull();
    const more = endedAs('b', { kind: 'failed', code: 1 }, { gpuMemory: 700 });
    const later = play(one, group('a', 'b'), started('a'), started('b'), took('a', 500), more);
    expect([...later.state.groups.values()][0]!.peakMemory).toBe(700);
  });

  it('lets a run start beside others where it fits', () => {
    const alone = [one, submitted([gpu('a'), gpu('b')]), started('a'), seen(python(0, 4000))];
    expect(placements(...alone, took('a', 5000))).toEqual(['a: gpu 0', 'b: gpu 0']);
    expect(placements(...alone, took('a', 5500))).toEqual(['a: gpu 0']);
  });

  it('never keeps a run from a GPU that it had to itself before', () => {
    const events = [one, submitted([gpu('a'), gpu('b')]), started('a'), took('a', 9900)];
    expect(placements(...events)).toEqual(['a: gpu 0', 'b: gpu 0']);
  });

  it('does not count where the memory is declared, nor for other groups', () => {
    const other = { ...gpu('b', { perGpu: 4 }), group: 'other' };
    const events = [one, submitted([gpu('a', { perGpu: 4 }), large('c', 10_000), other]), started('a')];
    expect(placements(...events, took('a', 9000))).toEqual(['a: gpu 0', 'c: gpu 0', 'b: gpu 0']);
  });

  it('is forgotten with the sweep', () => {
    const { state } = play(
      ...[one, group('a'), started('a'), took('a', 500), { type: 'sweep-forgotten', at: 3, sweep: 's' } as const],
    );
    expect(state.groups.size).toBe(0);
  });
});

describe('why a run waits for a GPU', () => {
  const four = [0, 1, 2, 3].map((index) => ({ index, memory: 40_000 }));
  it.each<{ reason: string; events: SchedulerEvent[]; settled?: boolean }>([
    {
      reason: 'waiting for a GPU (1 of 4 busy, 1 drained, GPU 2 gone, 1 used by python (pid 4711))',
      events: [
        ...[gpuSlots(four), submitted([gpu('a')]), drained(1), seen({ index: 0 }, { index: 1 }, python(3))],
        submitted([gpu('z')]),
      ],
    },
    {
      reason: 'waiting for 2 GPUs (2 of 4 busy, 1 taken by runs in /other/dir)',
      events: [
        ...[gpuSlots(four), submitted([gpu('a'), gpu('b')]), seen({ index: 0 }, { index: 1 }, { index: 2 }, leased(3))],
        submitted([gpu('z', { gpus: 2 })]),
      ],
    },
    {
      reason: 'waiting for 30,000 MiB on a GPU (most free: 12,000)',
      events: [gpuSlots(four.slice(0, 2)), submitted([large('a', 28_000), large('b', 30_000), large('z', 30_000)])],
    },
    { reason: 'GPU 0 belongs to runs in /other/dir', events: [slots(0, 1), seen(leased(0)), submitted([gpu('z')])] },
    {
      reason: 'GPUs 0, 1 belong to runs in /other/dir',
      events: [slots(0, 2), seen(leased(0), leased(1)), submitted([gpu('z')])],
    },
    {
      reason: 'waiting for a GPU (0 of 1 busy, 1 used by a, b and 1 more)',
      events: [slots(0, 1), seen({ index: 0, foreign: ['a', 'b', 'c'] }), submitted([gpu('z')])],
    },
    {
      reason: 'waiting for a GPU (0 of 2 busy, 2 drained)',
      events: [slots(0, 2), drained(0), drained(1), submitted([gpu('z')])],
      settled: true,
    },
    {
      reason: 'needs 2 GPUs, and 1 may be used',
      events: [slots(0, 1), submitted([gpu('z', { gpus: 2 })])],
      settled: true,
    },
    {
      reason: 'needs 1 GPU, and 0 may be used (the shell of its launch showed it GPU 5)',
      events: [slots(0, 2), submitted([gpu('z', { within: only(5) })])],
      settled: true,
    },
    {
      reason: 'needs 1 GPU, and 0 may be used (the shell of its launch showed it no GPU)',
      events: [slots(0, 2), submitted([gpu('z', { within: [] })])],
      settled: true,
    },
    {
      reason: 'waiting for a GPU (1 of 1 busy)',
      events: [slots(0, 2), submitted([gpu('a'), gpu('z', { within: only(0) })])],
    },
    {
      reason: 'needs 50,000 MiB on a GPU, and the largest has 40,000',
      events: [gpuSlots(four), submitted([large('z', 50_000)])],
      settled: true,
    },
    {
      reason: 'needs 30,000 MiB on 2 GPUs, and 1 of that size may be used',
      events: [
        gpuSlots([
          { index: 0, memory: 40_000 },
          { index: 1, memory: 8000 },
        ]),
        submitted([large('z', 30_000, { gpus: 2 })]),
      ],
      settled: true,
    },
  ])('$reason', ({ events, reason, settled = false }) => {
    const { state } = play(...events);
    expect(waitingReason(state, id('z'))).toBe(reason);
    expect(isSettled(state)).toBe(settled);
  });
});

describe('a run that could not start even if ours were gone', () => {
  it.each<{ what: string; event: SchedulerEvent }>([
    { what: 'since a GPU is drained', event: drained(1) },
    { what: 'since a GPU is gone', event: seen({ index: 0 }) },
    { what: 'since a GPU belongs to others', event: seen({ index: 0 }, leased(1)) },
    { what: 'since others are on a GPU', event: seen({ index: 0 }, python(1)) },
  ])('is passed by, $what, and has its turn when that is over', ({ event }) => {
    const events = [
      slots(0, 2),
      event,
      submitted([gpu('pair', { gpus: 2 }), gpu('a'), gpu('b'), gpu('c')]),
      started('a'),
    ];
    expect(placements(...events, ended('a'))).toEqual(['a: gpu 0', 'b: gpu 0']);
    const over = [seen({ index: 0 }, { index: 1 }), drained(1, false)];
    expect(placements(...events, ...over, ended('a'))).toEqual(['a: gpu 0', 'pair: gpu 0,1']);
  });
});
