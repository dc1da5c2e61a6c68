import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../src/scheduler/event.js';
import { isSettled, waitingReason } from '../../src/scheduler/placement/waiting-reason.js';
import {
  ended,
  id,
  launched,
  placements,
  play,
  resumeAsked,
  short,
  slots,
  started,
  stopAsked,
  submitted,
  time,
} from './play.js';

const gpu = (gpus: number, perGpu = 1) => ({ need: { gpus, perGpu } });
const ruleMet = (name: string): SchedulerEvent => ({
  ...{ type: 'rule-met', at: 2, id: id(name), attempt: 1, rule: 'loss < 1' },
});
const withdrawn = (name: string): SchedulerEvent => ({ type: 'launch-withdrawn', at: 2, id: id(name), attempt: 1 });

function outcome(name: string, ...events: SchedulerEvent[]) {
  const was = play(...events).state.runs.get(id(name))!.state;
  return was.phase === 'ended' ? was.outcome : was.phase;
}

describe('placing runs', () => {
  it.each<{ when: string; events: SchedulerEvent[]; placed: string[] }>([
    {
      when: 'fills CPU slots from the lowest, in file order',
      events: [slots(2), submitted(['a', 'b', 'c'])],
      placed: ['a: cpu 0', 'b: cpu 1'],
    },
    {
      when: 'gives a freed slot to the next',
      events: [slots(2), submitted(['a', 'b', 'c']), started('a'), ended('a')],
      placed: ['a: cpu 0', 'b: cpu 1', 'c: cpu 0'],
    },
    {
      when: 'spreads GPU runs, one each',
      events: [
        slots(1, 2),
        submitted([
          { name: 'a', ...gpu(1) },
          { name: 'b', ...gpu(1) },
          { name: 'c', ...gpu(1) },
        ]),
      ],
      placed: ['a: gpu 0', 'b: gpu 1'],
    },
    {
      when: 'lets runs that agree share a GPU',
      events: [slots(0, 2), submitted(['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, ...gpu(1, 2) })))],
      placed: ['a: gpu 0', 'b: gpu 1', 'c: gpu 0', 'd: gpu 1'],
    },
    {
      when: 'fits exactly twelve twelfths',
      events: [slots(0, 1), submitted(Array.from({ length: 13 }, (_, n) => ({ name: `r${n}`, ...gpu(1, 12) })))],
      placed: Array.from({ length: 12 }, (_, n) => `r${n}: gpu 0`),
    },
    {
      when: 'does not let one who wants a GPU alone share it',
      events: [
        slots(0, 1),
        submitted([
          { name: 'a', ...gpu(1, 2) },
          { name: 'b', ...gpu(1, 1) },
        ]),
      ],
      placed: ['a: gpu 0'],
    },
    {
      when: 'gives a run the GPUs it needs together',
      events: [
        slots(0, 3),
        submitted([
          { name: 'a', ...gpu(1) },
          { name: 'b', ...gpu(2) },
        ]),
      ],
      placed: ['a: gpu 0', 'b: gpu 1,2'],
    },
    {
      when: 'does not let a small run overtake a large one that waits for GPUs',
      events: [
        slots(0, 2),
        submitted([
          { name: 'a', ...gpu(1) },
          { name: 'big', ...gpu(2) },
          { name: 'c', ...gpu(1) },
        ]),
      ],
      placed: ['a: gpu 0'],
    },
    {
      when: 'passes by a run that the machine could never start',
      events: [
        slots(0, 1),
        submitted([
          { name: 'huge', ...gpu(4) },
          { name: 'b', ...gpu(1) },
        ]),
      ],
      placed: ['b: gpu 0'],
    },
    {
      when: 'does not make CPU runs wait for GPU runs',
      events: [slots(1, 1), submitted([{ name: 'a', ...gpu(1) }, { name: 'b', ...gpu(1) }, 'c'])],
      placed: ['a: gpu 0', 'c: cpu 0'],
    },
    {
      when: 'starts more when slots are added',
      events: [slots(1), submitted(['a', 'b']), slots(2)],
      placed: ['a: cpu 0', 'b: cpu 1'],
    },
    {
      when: 'starts nothing new while more runs are up than slots are left',
      events: [slots(2), submitted(['a', 'b', 'c']), slots(1), started('a'), ended('a')],
      placed: ['a: cpu 0', 'b: cpu 1'],
    },
  ])('$when', ({ events, placed }) => {
    expect(placements(...events)).toEqual(placed);
  });
});

describe('stopping a run', () => {
  const up = [slots(1), submitted(['a']), started('a')];
  it.each<{ when: string; events: SchedulerEvent[]; orders: string[] }>([
    { when: 'asks politely first', events: [...up, stopAsked('a')], orders: ['launch a', 'terminate a'] },
    {
      when: 'asks once, however often it is wanted',
      events: [...up, stopAsked('a'), stopAsked('a')],
      orders: ['launch a', 'terminate a'],
    },
    {
      when: 'waits for the grace to pass',
      events: [...up, stopAsked('a'), time(10_001)],
      orders: ['launch a', 'terminate a'],
    },
    {
      when: 'then kills, once',
      events: [...up, stopAsked('a'), time(10_002), time(10_003)],
      orders: ['launch a', 'terminate a', 'kill a'],
    },
    {
      when: 'remembers a request made before the process was up',
      events: [slots(1), submitted(['a']), stopAsked('a'), started('a')],
      orders: ['launch a', 'terminate a'],
    },
    { when: 'never starts one that waits', events: [slots(0), submitted(['a']), stopAsked('a'), slots(1)], orders: [] },
    { when: 'lets an ended one be', events: [...up, ended('a'), stopAsked('a'), time(99_999)], orders: ['launch a'] },
  ])('$when', ({ events, orders }) => {
    expect(short(play(...events).actions)).toEqual(orders);
  });

  it.each<{ what: string; events: SchedulerEvent[]; becomes: unknown }>([
    { what: 'asked to stop', events: [...up, stopAsked('a'), ended('a', 'done')], becomes: { kind: 'killed' } },
    {
      what: 'stopped while it waited',
      events: [slots(0), submitted(['a']), stopAsked('a')],
      becomes: { kind: 'killed' },
    },
    {
      what: 'ended by its rule',
      events: [...up, ruleMet('a'), ended('a', 'failed')],
      becomes: { kind: 'done', rule: 'loss < 1' },
    },
    {
      what: 'ended by its rule, then asked to stop',
      events: [...up, ruleMet('a'), stopAsked('a'), ended('a', 'failed')],
      becomes: { kind: 'done', rule: 'loss < 1' },
    },
    { what: 'ended by itself', events: [...up, ended('a', 'failed')], becomes: { kind: 'failed', code: 1 } },
    {
      what: 'said to have ended after it had',
      events: [...up, ended('a', 'failed'), ended('a', 'done')],
      becomes: { kind: 'failed', code: 1 },
    },
    {
      what: 'that could not be started',
      events: [slots(1), submitted(['a']), { type: 'launch-failed', at: 1, id: id('a'), attempt: 1, reason: 'no' }],
      becomes: { kind: 'failed', code: 126, line: 'no' },
    },
  ])('a run $what becomes $becomes', ({ events, becomes }) => {
    expect(outcome('a', ...events)).toEqual(becomes);
  });
});

describe('resuming a run', () => {
  it.each(['failed', 'lost', 'done'] as const)('starts a %s run again, as another attempt', (kind) => {
    const { actions } = play(slots(1), submitted(['a']), started('a'), ended('a', kind), resumeAsked('a'));
    expect(actions).toMatchObject([
      { type: 'launch', attempt: 1, resumed: false },
      { type: 'launch', attempt: 2, resumed: true },
    ]);
  });

  it('keeps its place in the queue', () => {
    const { actions } = play(
      ...[slots(1), submitted(['a', 'b', 'c']), started('a'), ended('a', 'failed'), started('b')],
      ...[resumeAsked('a'), ended('b')],
    );
    expect(launched(actions)).toEqual(['a', 'b', 'a']);
  });

  it('ignores a run that is up, and news of the attempt before', () => {
    const { actions, state } = play(
      ...[slots(1), submitted(['a']), started('a'), resumeAsked('a')],
      ...[ended('a', 'failed'), resumeAsked('a'), started('a', 2), ended('a', 'done', 1)],
    );
    expect(launched(actions)).toEqual(['a', 'a']);
    expect(state.runs.get(id('a'))?.state.phase).toBe('running');
  });

  it('takes back a launch that was never made, under a new number, as if for the first time', () => {
    const { actions } = play(slots(1), submitted(['a']), withdrawn('a'));
    expect(actions).toMatchObject([{ attempt: 1 }, { attempt: 2, resumed: false }]);
  });

  it('does not take back a launch that was to be stopped', () => {
    expect(outcome('a', slots(1), submitted(['a']), stopAsked('a'), withdrawn('a'))).toEqual({ kind: 'killed' });
  });

  it('takes back what was thought to be up and never was, with its slot', () => {
    const { actions, state } = play(slots(1), submitted(['a', 'b']), started('a'), withdrawn('a'));
    expect(actions).toMatchObject([{ attempt: 1 }, { id: id('a'), attempt: 2, resumed: false }]);
    expect([...state.cpu.holders.values()]).toEqual([id('a')]);
  });

  it('does not start again what was being stopped when it turned out never to have been up', () => {
    const events = [slots(1), submitted(['a']), started('a'), stopAsked('a'), withdrawn('a')];
    expect(outcome('a', ...events)).toEqual({ kind: 'killed' });
  });
});

describe('groups that need others', () => {
  const two = [
    { name: 'w0', group: 'warmup' },
    { name: 'w1', group: 'warmup' },
    { name: 'a', group: 'A' },
  ];
  const needs = { A: ['warmup'] };

  it('wait until all of them are done', () => {
    const half = play(slots(4), submitted(two, needs), started('w0'), ended('w0'));
    expect(launched(half.actions)).toEqual(['w0', 'w1']);
    const whole = play(slots(4), submitted(two, needs), started('w0'), ended('w0'), started('w1'), ended('w1'));
    expect(launched(whole.actions)).toEqual(['w0', 'w1', 'a']);
  });

  it('start at once when all of them were done before', () => {
    const runs = two.map((run) => (run.group === 'warmup' ? { ...run, wish: 'done' as const } : run));
    expect(launched(play(slots(4), submitted(runs, needs)).actions)).toEqual(['a']);
  });

  it('are not held up by their place in the file', () => {
    const runs = [
      { name: 'a', group: 'A' },
      { name: 'w0', group: 'warmup' },
      { name: 'other', group: 'B' },
    ];
    const { actions } = play(slots(1), submitted(runs, needs), started('w0'), ended('w0'));
    expect(launched(actions)).toEqual(['w0', 'a']);
  });

  it('wait again when one of them goes back to the queue', () => {
    const { actions, state } = play(
      ...[slots(1), submitted([...two, { name: 'b', group: 'A' }], needs)],
      ...[started('w0'), ended('w0'), started('w1'), ended('w1'), started('a'), resumeAsked('w0'), ended('a')],
    );
    expect(launched(actions)).toEqual(['w0', 'w1', 'a', 'w0']);
    expect(waitingReason(state, id('b'))).toBe('waiting for warmup (1 of 2 done)');
  });

  it('start after the failed one was resumed and is done', () => {
    const { actions } = play(
      ...[slots(4), submitted(two, needs), started('w0'), ended('w0', 'failed'), started('w1'), ended('w1')],
      ...[resumeAsked('w0'), started('w0', 2), ended('w0', 'done', 2)],
    );
    expect(launched(actions)).toEqual(['w0', 'w1', 'w0', 'a']);
  });
});

describe('why a run waits', () => {
  const needs = { A: ['warmup'] };
  const warm = [
    { name: 'w0', group: 'warmup' },
    { name: 'w1', group: 'warmup' },
    { name: 'a', group: 'A' },
  ];
  it.each<{ events: SchedulerEvent[]; run: string; reason: string | null; settled: boolean }>([
    { events: [slots(1), submitted(['a', 'b'])], run: 'a', reason: null, settled: false },
    { events: [slots(1), submitted(['a', 'b'])], run: 'b', reason: 'waiting for a slot (1 of 1 busy)', settled: false },
    { events: [slots(0), submitted(['a'])], run: 'a', reason: 'needs a CPU slot, and there are none', settled: true },
    {
      events: [slots(2), submitted(warm, needs)],
      run: 'a',
      reason: 'waiting for warmup (0 of 2 done)',
      settled: false,
    },
    {
      events: [slots(2), submitted(warm, needs), started('w0'), ended('w0', 'failed')],
      run: 'a',
      reason: 'needs warmup, which failed',
      settled: false,
    },
    {
      events: [
        slots(2),
        submitted(warm, needs),
        stopAsked('w0', 'w1'),
        started('w0'),
        ended('w0'),
        started('w1'),
        ended('w1'),
      ],
      run: 'a',
      reason: 'needs warmup, which was killed',
      settled: true,
    },
    {
      events: [
        slots(0, 2),
        submitted([
          { name: 'a', ...gpu(1) },
          { name: 'b', ...gpu(2) },
        ]),
      ],
      run: 'b',
      reason: 'waiting for 2 GPUs (1 of 2 busy)',
      settled: false,
    },
    {
      events: [
        slots(0, 2),
        submitted([
          { name: 'a', ...gpu(1) },
          { name: 'b', ...gpu(2) },
          { name: 'c', ...gpu(1) },
        ]),
      ],
      run: 'c',
      reason: 'waiting behind b',
      settled: false,
    },
    {
      events: [slots(2, 1), submitted([{ name: 'a', ...gpu(2) }])],
      run: 'a',
      reason: 'needs 2 GPUs, and 1 may be used',
      settled: true,
    },
    { events: [slots(1), submitted(['a']), started('a'), ended('a')], run: 'a', reason: null, settled: true },
  ])('$run: $reason', ({ events, run, reason, settled }) => {
    const { state } = play(...events);
    expect(waitingReason(state, id(run))).toBe(reason);
    expect(isSettled(state)).toBe(settled);
  });
});

describe('submitting again', () => {
  it('leaves living runs alone, resumes ended ones, adds new ones', () => {
    const { actions } = play(
      ...[
        slots(9),
        submitted(['a', 'b']),
        started('a'),
        started('b'),
        ended('b', 'failed'),
        submitted([{ name: 'a', wish: 'keep', attempts: 1 }, { name: 'b', attempts: 1 }, 'c']),
      ],
    );
    expect(launched(actions)).toEqual(['a', 'b', 'b', 'c']);
  });

  it.each(['run', 'keep'] as const)('does not start again what ended while it was looked at (%s)', (wish) => {
    const again = submitted([{ name: 'a', wish, attempts: wish === 'run' ? 0 : 1 }]);
    expect(launched(play(slots(1), submitted(['a']), started('a'), ended('a'), again).actions)).toEqual(['a']);
  });

  it('continues the numbers that the directories know', () => {
    const { actions } = play(slots(1), submitted([{ name: 'a', attempts: 3 }]));
    expect(actions).toMatchObject([{ attempt: 4, resumed: true }]);
  });

  it('is possible after a sweep was forgotten, which happens only while none of its runs is up', () => {
    const forgotten: SchedulerEvent = { type: 'sweep-forgotten', at: 5, sweep: 's' };
    const kept = play(slots(1), submitted(['a']), forgotten);
    expect(kept.state.runs.size).toBe(1);
    const gone = play(
      slots(1),
      submitted(['a', 'b']),
      started('a'),
      ended('a'),
      stopAsked('b'),
      started('b'),
      ended('b'),
      forgotten,
    );
    expect(gone.state.runs.size).toBe(0);
    const again = play(slots(1), submitted(['a']), started('a'), ended('a'), forgotten, submitted(['a']));
    expect(launched(again.actions)).toEqual(['a', 'a']);
  });

  it('puts a run into the group where the edited file has it', () => {
    const before = submitted(['a', { name: 'b', group: 'late' }], { late: ['main'] });
    const edited = submitted(
      [
        { name: 'a', group: 'first', wish: 'keep', attempts: 1 },
        { name: 'b', group: 'late', wish: 'keep' },
      ],
      { late: ['first'] },
    );
    const { state, actions } = play(slots(2), before, started('a'), edited, ended('a'));
    expect(launched(actions)).toEqual(['a', 'b']);
    expect(state.groups.get(state.runs.get(id('a'))!.group)?.id).toBe('s/first');
  });
});
