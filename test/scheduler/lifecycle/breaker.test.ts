import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/base/outcome.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { restored, Snapshot, snapshotOf } from '../../../src/scheduler/snapshot.js';
import { step } from '../../../src/scheduler/step.js';
import { isSettled, waitingReason } from '../../../src/scheduler/placement/waiting-reason.js';
import {
  asked,
  endedAs,
  id,
  launched,
  play,
  type Sketch,
  slots,
  started,
  stopAsked,
  submitted,
  time,
} from '../play.js';

const breaker = { failures: 3, withinMs: 10_000 };
const crash: Outcome = { kind: 'failed', code: 1 };
const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const HELD = 'held: 3 runs in a row failed within 10 s of starting; `release` them once the cause is fixed';

const submit = (more: Partial<Sketch> = {}) =>
  submitted(
    names.map((name) => ({ name, ...more })),
    {},
    breaker,
  );

/** The run was up for so long, ms, and ended so. */
function lived(name: string, outcome: Outcome = crash, ms = 1000): SchedulerEvent[] {
  return [started(name), endedAs(name, outcome, { at: 1 + ms })];
}

/** One slot; three of six crashed at once. */
const tripped = [slots(1), submit(), ...lived('a'), ...lived('b'), ...lived('c')];

describe('the circuit breaker', () => {
  it('holds what waits of the group once three in a row failed too soon, and says so', () => {
    const { state, actions } = play(...tripped);
    expect(launched(actions)).toEqual(['a', 'b', 'c']);
    expect(names.map((name) => waitingReason(state, id(name)))).toEqual([null, null, null, HELD, HELD, HELD]);
    expect(isSettled(state)).toBe(true);
  });

  it.each<{ when: string; third: SchedulerEvent[]; isHeld: boolean }>([
    { when: 'one is done in between', third: lived('c', { kind: 'done' }), isHeld: false },
    { when: 'one fails late', third: lived('c', crash, 10_001), isHeld: false },
    { when: 'one fails in the last moment that counts', third: lived('c', crash, 10_000), isHeld: true },
    { when: 'one runs out of memory', third: lived('c', { kind: 'oom', line: 'oom' }), isHeld: true },
    { when: 'one is lost', third: lived('c', { kind: 'lost', reason: 'gone' }), isHeld: true },
    {
      when: 'one cannot be started at all',
      third: [{ type: 'launch-failed', at: 5, id: id('c'), attempt: 1, reason: 'no' }],
      isHeld: true,
    },
    {
      when: 'a person stops one, which says nothing, and the next fails',
      third: [started('c'), stopAsked('c'), endedAs('c', crash), ...lived('d')],
      isHeld: true,
    },
  ])('$when: held $isHeld', ({ third, isHeld }) => {
    const { state } = play(slots(1), submit(), ...lived('a'), ...lived('b'), ...third);
    expect(waitingReason(state, id('f'))).toBe(isHeld ? HELD : 'waiting for a slot (1 of 1 busy)');
  });

  it('counts a run once that is retried and fails again, and says how many runs there were', () => {
    const retry = { retry: { max: 5, backoffMs: 1, on: ['crash' as const] } };
    const again = (attempt: number): SchedulerEvent[] => [
      { type: 'time-passed', at: 1e6 * attempt },
      { type: 'run-started', at: 1e6 * attempt, id: id('a'), attempt, pid: 1 },
      { type: 'run-ended', at: 1e6 * attempt + 5, id: id('a'), attempt, outcome: crash },
    ];
    const two = submitted([{ name: 'a', ...retry }, 'b', 'c', 'd'], {}, breaker);
    const twice = [slots(1), two, ...lived('a'), ...lived('b'), ...again(2), ...again(3)];
    expect(waitingReason(play(...twice).state, id('d'))).not.toContain('held');
    expect(waitingReason(play(...twice, ...lived('c')).state, id('d'))).toBe(HELD);
  });

  it('holds retries as well, and what fails soon after', () => {
    const retry = { retry: { max: 5, backoffMs: 50_000, on: ['crash' as const] } };
    const { state, actions } = play(
      ...[slots(4), submit(retry), started('d'), ...lived('a'), ...lived('b'), ...lived('c')],
      ...[started('e'), endedAs('d', crash, { at: 7 }), time(99_999)],
    );
    expect(['a', 'b', 'c', 'd'].map((name) => waitingReason(state, id(name)))).toEqual([
      ...[HELD, HELD, HELD],
      HELD.replace('3', '4'),
    ]);
    expect(launched(actions)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('leaves other groups alone, and what is up', () => {
    const other = { name: 'x', group: 'other' };
    const { state, actions } = play(
      ...[
        slots(2),
        submitted(
          [...names.slice(0, 5), other].map((run) => run),
          {},
          breaker,
        ),
        started('a'),
      ],
      ...[...lived('b'), ...lived('c'), ...lived('d')],
    );
    expect(state.runs.get(id('a'))!.state.phase).toBe('running');
    expect(launched(actions)).toEqual(['a', 'b', 'c', 'd', 'x']);
  });

  it.each<{ what: string; event: SchedulerEvent }>([
    { what: 'are released', event: asked('release', ['d', 'e', 'f']) },
    { what: 'are submitted again', event: submit({ wish: 'keep' }) },
  ])('lets them go when they $what, and counts anew', ({ event }) => {
    const { state, actions } = play(...tripped, event, ...lived('d'), ...lived('e'));
    expect(launched(actions)).toEqual(names);
    expect(state.runs.get(id('f'))!.hold).toBeNull();
  });

  it('says when it holds a group again, also after a restart from a snapshot', () => {
    const seven = submitted(
      [...names, 'g'].map((name) => ({ name })),
      {},
      breaker,
    );
    const release = asked('release', ['d', 'e', 'f', 'g']);
    const { state } = play(slots(1), seven, ...lived('a'), ...lived('b'), ...lived('c'), release, ...lived('d'));
    const restarted = restored(Snapshot.parse(JSON.parse(JSON.stringify(snapshotOf(state)))));
    for (const event of [...lived('e'), ...lived('f')]) step(restarted, event);
    expect(waitingReason(restarted, id('g'))).toBe(HELD.replace('starting', 'starting, again'));
  });

  it('lets a run go that a person wants to be tried again now', () => {
    const retry = { retry: { max: 5, backoffMs: 50_000, on: ['crash' as const] } };
    const events = [slots(1), submit(retry), ...lived('a'), ...lived('b'), ...lived('c'), asked('resume', 'b')];
    const { state, actions } = play(...events);
    expect(launched(actions)).toEqual(['a', 'b', 'c', 'b']);
    expect(waitingReason(state, id('a'))).toBe(HELD);
    expect(launched(play(...tripped, asked('resume', 'e')).actions)).toEqual(['a', 'b', 'c', 'e']);
  });

  it('does nothing where there is none', () => {
    expect(launched(play(slots(1), submitted(names), ...names.flatMap((name) => lived(name))).actions)).toEqual(names);
  });
});
