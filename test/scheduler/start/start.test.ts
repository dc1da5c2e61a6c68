import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { nextDeadline } from '../../../src/scheduler/lifecycle/move.js';
import {
  isAsleep,
  isIdle,
  isSettled,
  stuckSweeps,
  waitingReason,
} from '../../../src/scheduler/placement/waiting-reason.js';
import { startsAt } from '../../../src/scheduler/start/group-start.js';
import { openingAt, type StartTimes } from '../../../src/scheduler/start/start-times.js';
import { restored, Snapshot, snapshotOf } from '../../../src/scheduler/snapshot.js';
import type { SchedulerState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { asked, ended, id, launched, play, short, slots, type Sketch, started, submitted, time } from '../play.js';

const NOON = Date.parse('2026-11-30T12:00Z');
const HOUR = 3_600_000;
const at = (clock: string) => Date.parse(`2026-11-30T${clock}Z`);
const night: StartTimes = { zone: 'UTC', between: [20 * 3600, 8 * 3600] };
const tonight: StartTimes = { zone: 'UTC', at: { time: 22 * 3600 } };

/** A submission at a time, all of whose groups have these start times. */
function scheduled(start: StartTimes | undefined, runs: (Sketch | string)[], when = NOON): SchedulerEvent {
  const event = submitted(runs);
  if (event.type !== 'runs-submitted') return event;
  const groups = event.groups.map((group) => (start === undefined ? group : { ...group, start }));
  return { ...event, at: when, groups };
}

/** What the clocks show: the wall clock is ahead of the scheduler's by so many ms. */
function clock(when: number, ahead = 0): SchedulerEvent {
  return { type: 'clock-read', at: when, bootId: 'b', bootMs: when, wallMs: when + ahead };
}

const take = (state: SchedulerState, ...events: SchedulerEvent[]) =>
  short(events.flatMap((event) => [...step(state, event).actions]));

describe('a start time', () => {
  it('keeps runs queued until then, holds no slot, and says when', () => {
    const { state, actions } = play(slots(2), scheduled(tonight, ['a', 'b', 'c']));
    expect(actions).toEqual([]);
    expect(state.active.size).toBe(0);
    expect(waitingReason(state, id('a'))).toBe('starts at 22:00');
    expect(startsAt(state, state.runs.get(id('a'))!)).toBe(at('22:00'));
    expect(take(state, time(at('22:00') - 1))).toEqual([]);
    expect(take(state, time(at('22:00')))).toEqual(['launch a', 'launch b']);
    expect(waitingReason(state, id('c'))).toBe('waiting for a slot (2 of 2 busy)');
    expect(startsAt(state, state.runs.get(id('c'))!)).toBeNull();
  });

  it('is neither settled nor stuck nor idle meanwhile, and wakes the supervisor when it comes, with one look before', () => {
    const { state } = play(slots(2), scheduled(tonight, ['a']));
    expect([isSettled(state), isIdle(state, [id('a')]), stuckSweeps(state)]).toEqual([false, false, []]);
    expect([isAsleep(state), nextDeadline(state)]).toEqual([true, at('22:00') - 30_000]);
    step(state, time(at('22:00') - 30_000));
    expect(isAsleep(state)).toBe(false);
    expect(nextDeadline(state)).toBe(at('22:00'));
    step(state, time(at('22:00')));
    expect(nextDeadline(state)).toBeNull();
  });

  it('lets a supervisor leave where all that waits is held, or could not start anyhow', () => {
    const { state } = play(slots(2), scheduled(night, ['a']), asked('hold', 'a', NOON + 1));
    expect([isSettled(state), stuckSweeps(state)]).toEqual([true, ['s']]);
    expect(waitingReason(state, id('a'))).toBe('held');
    const large = play(slots(2), scheduled(night, [{ name: 'a', need: { gpus: 1 } }])).state;
    expect([isSettled(large), waitingReason(large, id('a'))]).toEqual([true, 'needs 1 GPU, and 0 may be used']);
  });

  it('does not keep runs of other groups from their turn', () => {
    const { actions } = play(
      slots(1),
      scheduled(tonight, [{ name: 'late', group: 'late', priority: 5 }]),
      scheduled(undefined, [{ name: 'now', group: 'now' }]),
    );
    expect(launched(actions)).toEqual(['now']);
  });

  it('is counted from the submission', () => {
    const { state } = play(slots(2), scheduled({ zone: 'UTC', afterMs: 2 * HOUR }, ['a'], NOON));
    expect(take(state, time(NOON + 2 * HOUR - 1), time(NOON + 2 * HOUR))).toEqual(['launch a']);
  });

  it('is late rather than lost: what has passed while nobody was there happens with the next event', () => {
    const { state } = play(slots(2), scheduled(tonight, ['a']));
    expect(take(state, time(NOON + 30 * HOUR))).toEqual(['launch a']);
  });

  it('opens a window only while it is open, also for who wakes up late', () => {
    const { state } = play(slots(2), scheduled(night, ['a']));
    // Asleep from noon until the next noon.
    expect(take(state, time(NOON + 24 * HOUR))).toEqual([]);
    expect(startsAt(state, state.runs.get(id('a'))!)).toBe(at('20:00') + 24 * HOUR);
    expect(take(state, time(NOON + 40 * HOUR))).toEqual(['launch a']);
  });

  it('starts nothing once the window has ended, and goes on with what runs', () => {
    const { state } = play(slots(1), scheduled(night, ['a', 'b'], at('20:00')), started('a', 1, at('20:01')));
    expect(take(state, time(at('20:00') + 12 * HOUR), ended('a'))).toEqual([]);
    expect(state.runs.get(id('b'))!.state.phase).toBe('waiting');
    expect(waitingReason(state, id('b'))).toBe('starts at 20:00');
  });

  it('follows the wall clock when that is set, and when the machine slept', () => {
    const { state } = play(clock(NOON), slots(1), scheduled(night, ['a', 'b']));
    // Eight hours that the scheduler's clock does not know of.
    expect(take(state, clock(NOON + 1, 8 * HOUR))).toEqual([]);
    expect(nextDeadline(state)).toBeLessThanOrEqual(NOON + 1);
    expect(take(state, time(NOON + 2))).toEqual(['launch a']);
    // Put back: the window is closed again.
    step(state, clock(NOON + 3, 0));
    step(state, { ...started('a'), at: NOON + 4 });
    expect(take(state, { ...ended('a'), at: NOON + 5 })).toEqual([]);
    expect(startsAt(state, state.runs.get(id('b'))!)).toBe(at('20:00'));
  });

  it('does not take back what `at` has let start when the clock is put back', () => {
    const { state } = play(clock(NOON), slots(1), scheduled(tonight, ['a', 'b']), time(at('22:00')));
    step(state, clock(at('22:01'), -2 * HOUR));
    expect(take(state, { ...started('a'), at: at('22:02') }, { ...ended('a'), at: at('22:03') })).toEqual(['launch b']);
  });
});

describe('a user', () => {
  it('starts runs before their time', () => {
    const { state } = play(slots(2), scheduled(night, ['a', 'b']));
    expect(take(state, asked('release', 'b', NOON + 1))).toEqual(['launch b']);
    expect(waitingReason(state, id('a'))).toBe('starts at 20:00');
  });

  it('first releases a held run, and then starts it', () => {
    const { state } = play(slots(2), scheduled(night, ['a']), asked('hold', 'a', NOON + 1));
    expect(take(state, asked('release', 'a', NOON + 2))).toEqual([]);
    expect(take(state, asked('release', 'a', NOON + 3))).toEqual(['launch a']);
  });

  it('gives other start times with another launch; the same ones put nothing off', () => {
    const { state } = play(slots(2), scheduled(tonight, ['a']));
    step(state, time(at('22:00')));
    expect(take(state, { ...started('a'), at: at('22:01') }, scheduled(tonight, ['a', 'b'], at('23:00')))).toEqual([
      'launch b',
    ]);
    const other = play(slots(2), scheduled(tonight, ['a'])).state;
    step(other, scheduled({ zone: 'UTC', afterMs: HOUR }, ['a'], NOON + HOUR));
    expect(startsAt(other, other.runs.get(id('a'))!)).toBe(NOON + 2 * HOUR);
    expect(take(other, scheduled(undefined, ['a'], NOON + HOUR))).toEqual(['launch a']);
  });

  it('changes nothing for groups of which a submission has no runs', () => {
    const { state } = play(slots(2), scheduled(tonight, [{ name: 'a', group: 'late' }]));
    const event = scheduled(undefined, [{ name: 'b', group: 'now' }], NOON + HOUR);
    const known = state.groups.get(state.runs.get(id('a'))!.group)!;
    if (event.type === 'runs-submitted') event.groups.push({ id: known.id, needs: [], breaker: null });
    expect(take(state, event)).toEqual(['launch b']);
    expect(startsAt(state, state.runs.get(id('a'))!)).toBe(at('22:00'));
  });

  it('waits for the next such time once all of the last have ended', () => {
    const { state } = play(slots(2), scheduled(tonight, ['a']), time(at('22:00')));
    step(state, { ...started('a'), at: at('22:01') });
    step(state, { ...ended('a'), at: at('22:30') });
    expect(take(state, scheduled(tonight, ['b'], at('23:00')))).toEqual([]);
    expect(startsAt(state, state.runs.get(id('b'))!)).toBe(at('22:00') + 24 * HOUR);
  });
});

describe('runs that are paused outside of their window', () => {
  const pausing = { ...night, pauses: true as const };
  const inTheNight = () => {
    const { state } = play(slots(3), scheduled(pausing, ['a', 'b', 'c'], at('20:00')));
    for (const name of ['a', 'b']) step(state, { ...started(name), at: at('20:01') });
    return state;
  };
  const MORNING = at('20:00') + 12 * HOUR;

  it('keep their slots, say until when, and continue with the next window', () => {
    const state = inTheNight();
    expect(take(state, time(MORNING))).toEqual(['pause a', 'pause b']);
    expect(waitingReason(state, id('a'))).toBe('continues at 20:00');
    expect(state.active.size).toBe(3);
    expect(take(state, time(at('20:00') + 24 * HOUR))).toEqual(['continue a', 'continue b']);
  });

  it('are paused at once when they come up late', () => {
    const state = inTheNight();
    step(state, time(MORNING));
    expect(take(state, { ...started('c'), at: MORNING + 1 })).toEqual(['pause c']);
  });

  it('are left alone when a user has paused or continued them, or started them early', () => {
    const state = inTheNight();
    step(state, asked('pause', 'a', at('21:00')));
    expect(take(state, time(MORNING))).toEqual(['pause b']);
    expect(take(state, asked('continue', 'b', MORNING + 1), time(at('20:00') + 24 * HOUR - 30_000))).toEqual([
      'continue b',
    ]);
    expect(take(state, time(at('20:00') + 24 * HOUR))).toEqual([]);
    const early = play(slots(1), scheduled(pausing, ['a']), asked('release', 'a', NOON + 1)).state;
    expect(take(early, { ...started('a'), at: NOON + 2 })).toEqual([]);
  });
});

it('go on from a snapshot as if there had been none, and from one of an older version', () => {
  const { state } = play(slots(2), scheduled({ ...night, pauses: true }, ['a', 'b', 'c'], at('20:00')));
  for (const name of ['a', 'b']) step(state, { ...started(name), at: at('20:01') });
  step(state, time(at('20:00') + 12 * HOUR));
  step(state, asked('release', 'c', at('20:00') + 13 * HOUR));
  const again = restored(Snapshot.parse(JSON.parse(JSON.stringify(snapshotOf(state)))));
  expect(again).toEqual(state);
  expect(again.runs.get(id('c'))!.early).toBe(true);
  const later = time(at('20:00') + 24 * HOUR);
  expect(take(again, later)).toEqual(take(state, later));
  const plain = JSON.parse(JSON.stringify(snapshotOf(play(slots(1), scheduled(undefined, ['a'])).state))) as object;
  expect(JSON.stringify(plain)).not.toContain('"start"');
});

const groups = ['x', 'y', 'z'];
/** Full hours: each event of the world takes a second, which a shorter window could miss for ever. */
const timesOfDay = fc.nat(23).map((hour) => hour * 3600);
const windows = fc.record({
  zone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'UTC'),
  between: fc.tuple(timesOfDay, timesOfDay).filter(([from, to]) => from !== to),
  ...{ days: fc.option(fc.uniqueArray(fc.nat(6), { minLength: 1 }), { nil: undefined }) },
  ...{ pauses: fc.option(fc.constant(true as const), { nil: undefined }) },
});
const moves = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'start',
      'end',
      'end',
      'fail',
      'hold',
      'release',
      'resume',
      'time',
      'time',
      'clock',
      'submit',
    ),
    pick: fc.nat(1000),
    hours: fc.nat(10),
  }),
  { minLength: 20, maxLength: 80 },
);

/** A world that obeys: `x` and `y` have windows, `z` has none. `check` sees each event with what it launched. */
class World {
  readonly state = play(slots(2)).state;
  readonly #windows: readonly (StartTimes | undefined)[];
  readonly #launched: (run: string, at: number) => void;
  #at = NOON;
  ahead = 0;
  readonly released = new Set<string>();

  constructor(given: readonly StartTimes[], launchedAt: (run: string, wall: number) => void) {
    this.#windows = [...given, undefined];
    this.#launched = launchedAt;
  }

  submit(): void {
    const event = submitted([0, 1, 2, 3].flatMap((n) => groups.map((group) => this.#sketch(`${group}${n}`, group))));
    if (event.type !== 'runs-submitted') return;
    const withStart = event.groups.map((group, n) => {
      const start = this.#windows[n];
      return start === undefined ? group : { ...group, start };
    });
    this.take({ ...event, groups: withStart });
  }

  #sketch(name: string, group: string): Sketch {
    const run = this.state.runs.get(id(name));
    const wish = run === undefined || run.state.phase === 'ended' ? 'run' : 'keep';
    return { name, group, wish, attempts: run?.attempt ?? 0 };
  }

  take(event: SchedulerEvent): void {
    this.#at += 1000;
    if (event.type === 'release-requested') for (const run of event.ids) this.released.add(run);
    for (const action of step(this.state, { ...event, at: this.#at }).actions) {
      if (action.type === 'launch') this.#launched(action.id, this.#at + this.ahead);
    }
  }

  get now(): number {
    return this.#at;
  }

  wait(ms: number): void {
    this.#at += ms;
    this.take(time(0));
  }

  setClock(ahead: number): void {
    this.ahead = ahead;
    this.take({ ...clock(this.#at, ahead), wallMs: this.#at + 1000 + ahead } as SchedulerEvent);
  }

  move({ kind, pick, hours }: { kind: string; pick: number; hours: number }): void {
    if (kind === 'time') this.wait(hours * HOUR);
    else if (kind === 'clock') this.setClock((hours - 5) * HOUR);
    else if (kind === 'submit') this.submit();
    else this.#moveOne(kind, pick);
  }

  #moveOne(kind: string, pick: number): void {
    const phase = { start: 'starting', end: 'running', fail: 'running' }[kind] ?? 'waiting';
    const runs = [...this.state.runs.values()].filter(({ state }) => state.phase === phase);
    const run = runs[pick % Math.max(1, runs.length)];
    if (run === undefined) return;
    const news = { at: 0, id: run.id, attempt: run.attempt };
    if (kind === 'start') this.take({ type: 'run-started', ...news, pid: 1 });
    else if (kind === 'end') this.take({ type: 'run-ended', ...news, outcome: { kind: 'done' } });
    else if (kind === 'fail') this.take({ type: 'run-ended', ...news, outcome: { kind: 'failed', code: 1 } });
    else this.take({ type: `${kind as 'hold'}-requested`, at: 0, ids: [run.id] });
  }
}

describe('whatever happens', () => {
  it('no run of a group that is closed is started, unless a user has released it', () => {
    fc.assert(
      fc.property(fc.tuple(windows, windows), moves, (given, script) => {
        const world: World = new World(given, (run, wall) => {
          const times = given[groups.indexOf(run[2]!)];
          if (times !== undefined && !world.released.has(run)) expect(openingAt(times, wall).isOpen).toBe(true);
        });
        world.submit();
        for (const move of script) world.move(move);
      }),
      { numRuns: 100 },
    );
  });

  it('all runs start and end once their windows have opened', () => {
    fc.assert(
      fc.property(fc.tuple(windows, windows), moves, (given, script) => {
        const world = new World(given, () => undefined);
        world.submit();
        for (const move of script) world.move(move);
        const ids = [...world.state.runs.keys()];
        const isOver = () => ids.every((run) => world.state.runs.get(run)!.state.phase === 'ended');
        // As the supervisor does: it wakes when it said that it had to.
        for (let turn = 0; turn < 400 && !isOver(); turn++) {
          if (ids.some((run) => world.state.runs.get(run)!.hold !== null))
            world.take(
              asked(
                'release',
                ids.map((run) => run.slice(2)),
              ),
            );
          for (const kind of ['start', 'end']) world.move({ kind, pick: 0, hours: 0 });
          const next = nextDeadline(world.state);
          if (next !== null) world.wait(Math.max(0, next - world.now));
        }
        expect(isOver()).toBe(true);
        expect(isSettled(world.state)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
