import { describe, expect, it } from 'vitest';
import type { FailureClass, Outcome } from '../../../src/base/outcome.js';
import { nextDeadline } from '../../../src/scheduler/lifecycle/move.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { isSettled, waitingReason } from '../../../src/scheduler/placement/waiting-reason.js';
import {
  after,
  asked,
  endedAs,
  id,
  launched,
  placements,
  play,
  resumeAsked,
  slots,
  started,
  stopAsked,
  submitted,
  time,
} from '../play.js';

const crash: Outcome = { kind: 'failed', code: 1 };
const oom: Outcome = { kind: 'oom', line: 'CUDA out of memory' };
const retry = (max: number, backoffMs: number, ...on: FailureClass[]) => ({ retry: { max, backoffMs, on } });

/** One slot, one run that is retried twice after a crash, 5 s and 10 s later; up at 1, crashed at 100. */
const crashed: SchedulerEvent[] = [
  slots(1),
  submitted([{ name: 'a', ...retry(2, 5000, 'crash') }]),
  started('a'),
  endedAs('a', crash, { at: 100 }),
];

describe('a run that is to be retried', () => {
  it('waits from when it ended, where that was found out later; never from before it began', () => {
    const found = (agoMs: number) => [...crashed.slice(0, -1), endedAs('a', crash, { at: 8100, agoMs })];
    expect(launched(play(...found(4000), time(9099)).actions)).toEqual(['a']);
    expect(launched(play(...found(4000), time(9100)).actions)).toEqual(['a', 'a']);
    const { runs } = play(...found(1e9)).state;
    expect(runs.get(id('a'))?.state).toMatchObject({ last: { since: 1, at: 1 } });
  });

  it('waits for its backoff, and then starts as another attempt', () => {
    expect(launched(play(...crashed, time(5099)).actions)).toEqual(['a']);
    expect(play(...crashed, time(5100)).actions).toMatchObject([
      { type: 'launch', attempt: 1, resumed: false },
      { type: 'launch', attempt: 2, resumed: true },
    ]);
  });

  it('says what it waits for and when, and keeps the ending it follows', () => {
    const { state } = play(...crashed);
    expect(waitingReason(state, id('a'))).toBe('failed (exit code 1), retry 1 of 2');
    expect(state.runs.get(id('a'))!.state).toEqual({
      ...{ phase: 'waiting', notBefore: 5100 },
      last: { outcome: crash, since: 1, at: 100 },
    });
    expect(nextDeadline(state)).toBe(5100);
    expect(isSettled(state)).toBe(false);
  });

  it('waits twice as long each time, and fails for good after the last', () => {
    const again: SchedulerEvent[] = [
      ...[...crashed, time(5100), started('a', 2, 5200)],
      endedAs('a', crash, { at: 6000, attempt: 2 }),
    ];
    expect(after('a', ...again).state).toMatchObject({ phase: 'waiting', notBefore: 16_000 });
    const last: SchedulerEvent[] = [
      ...[time(16_000), started('a', 3, 16_001)],
      endedAs('a', crash, { at: 17_000, attempt: 3 }),
    ];
    expect(after('a', ...again, ...last).state).toEqual({ phase: 'ended', outcome: crash, since: 16_001, at: 17_000 });
  });

  it('never waits longer than an hour, or than what was asked for', () => {
    const wait = (backoffMs: number, retried: number) => {
      const events: SchedulerEvent[] = [slots(1), submitted([{ name: 'a', ...retry(99, backoffMs, 'crash') }])];
      for (let attempt = 1; attempt <= retried + 1; attempt++) {
        events.push(started('a', attempt, 0), endedAs('a', crash, { attempt, at: 0 }), time(1e12));
      }
      const state = after('a', ...events.slice(0, -1)).state;
      return state.phase === 'waiting' ? state.notBefore : null;
    };
    expect([wait(1000, 0), wait(1000, 11), wait(1000, 12), wait(1000, 60)]).toEqual([1000, 2_048_000, 3.6e6, 3.6e6]);
    expect([wait(7.2e6, 0), wait(7.2e6, 5)]).toEqual([7.2e6, 7.2e6]);
  });

  it('starts at once when there is nothing to wait for', () => {
    const { actions } = play(
      ...[slots(1), submitted([{ name: 'a', ...retry(1, 0, 'crash') }]), started('a'), endedAs('a', crash)],
    );
    expect(launched(actions)).toEqual(['a', 'a']);
  });

  it('gives its slot to others meanwhile', () => {
    const { actions } = play(
      ...[slots(1), submitted([{ name: 'a', ...retry(1, 5000, 'crash') }, 'b']), started('a'), endedAs('a', crash)],
    );
    expect(launched(actions)).toEqual(['a', 'b']);
  });

  it.each<{ outcome: Outcome; on: FailureClass[]; isRetried: boolean }>([
    { outcome: crash, on: ['crash'], isRetried: true },
    { outcome: crash, on: ['oom', 'timeout', 'signal', 'lost'], isRetried: false },
    { outcome: { kind: 'signal', signal: 'SIGSEGV' }, on: ['signal'], isRetried: true },
    { outcome: oom, on: ['oom'], isRetried: true },
    { outcome: { kind: 'lost', reason: 'reboot' }, on: ['lost'], isRetried: true },
    { outcome: { kind: 'lost', reason: 'reboot' }, on: [], isRetried: false },
    { outcome: { kind: 'done' }, on: ['crash', 'oom', 'timeout', 'signal', 'lost'], isRetried: false },
  ])('ending with $outcome.kind, where $on are retried: $isRetried', ({ outcome, on, isRetried }) => {
    const run = after(
      'a',
      ...[slots(1), submitted([{ name: 'a', ...retry(1, 5, ...on) }]), started('a'), endedAs('a', outcome)],
    );
    expect(run.state.phase).toBe(isRetried ? 'waiting' : 'ended');
  });

  it('is never one that a person stopped', () => {
    const events = [...crashed.slice(0, 3), stopAsked('a'), endedAs('a', crash)];
    expect(after('a', ...events).state).toMatchObject({ phase: 'ended', outcome: { kind: 'killed' } });
  });

  it('ends as killed when it is stopped before its time', () => {
    const events = [...crashed, asked('stop', 'a', 200), time(99_999)];
    expect(after('a', ...events).state).toMatchObject({ phase: 'ended', outcome: { kind: 'killed' }, at: 200 });
    expect(nextDeadline(play(...events).state)).toBeNull();
  });

  it('may be one that could not be started at all', () => {
    const failed: SchedulerEvent = { type: 'launch-failed', at: 5, id: id('a'), attempt: 1, reason: 'no such file' };
    const run = after('a', slots(1), submitted([{ name: 'a', ...retry(1, 5, 'crash') }]), failed);
    expect(run.state).toMatchObject({
      phase: 'waiting',
      last: { since: null, outcome: { kind: 'failed', code: 126 } },
    });
  });

  it('has a GPU to itself after it ran out of memory on one that it shared', () => {
    const shared = (name: string) => ({ name, need: { gpus: 1, perGpu: 2 }, ...retry(3, 0, 'oom', 'crash') });
    const names = ['a', 'b', 'c', 'd'];
    const start = [slots(0, 2), submitted(names.map(shared)), ...names.map((name) => started(name))];
    expect(placements(...start, endedAs('b', oom))).toEqual(['a: gpu 0', 'b: gpu 1', 'c: gpu 0', 'd: gpu 1']);
    expect(placements(...start, endedAs('b', oom), endedAs('d', { kind: 'done' })).at(-1)).toBe('b: gpu 1');
    expect(placements(...start, endedAs('b', crash)).at(-1)).toBe('b: gpu 1');
    expect(after('b', ...start, endedAs('b', oom), submitted([{ ...shared('b'), attempts: 1 }])).alone).toBe(true);
  });
});

describe('going on before the backoff is over', () => {
  it.each(['resume', 'retry'] as const)('%s starts it at once and counts its retries anew', (verb) => {
    const events = [...crashed, asked(verb, 'a', 200), started('a', 2, 201)];
    expect(launched(play(...events).actions)).toEqual(['a', 'a']);
    const { state } = play(...events, endedAs('a', crash, { at: 300, attempt: 2 }));
    expect(waitingReason(state, id('a'))).toBe('failed (exit code 1), retry 1 of 2');
  });

  it.each<Outcome>([
    crash,
    oom,
    { kind: 'signal', signal: 'SIGKILL' },
    { kind: 'timeout', seconds: 3 },
    { kind: 'lost', reason: 'reboot' },
    { kind: 'killed' },
  ])('a run that ended with $kind starts again', (outcome) => {
    const { actions } = play(slots(1), submitted(['a']), started('a'), endedAs('a', outcome), resumeAsked('a'));
    expect(launched(actions)).toEqual(['a', 'a']);
  });

  it('a resume by hand gives a failed run all its retries again', () => {
    const events = [
      ...[slots(1), submitted([{ name: 'a', ...retry(1, 5, 'crash') }]), started('a'), endedAs('a', crash), time(7)],
      ...[started('a', 2), endedAs('a', crash, { attempt: 2 })],
    ];
    expect(after('a', ...events).state.phase).toBe('ended');
    const resumed = after('a', ...events, resumeAsked('a'), started('a', 3), endedAs('a', crash, { attempt: 3 }));
    expect(resumed.state).toMatchObject({ phase: 'waiting', notBefore: 7 });
  });
});
