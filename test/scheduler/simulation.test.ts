import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../tiers.js';
import { nextDeadline } from '../../src/scheduler/lifecycle/move.js';
import type { SchedulerAction, SchedulerEvent } from '../../src/scheduler/event.js';
import { emptyState, isActive, type SchedulerState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';
import { growingGroups } from '../../src/scheduler/queue/groups.js';
import { isIdle, isSettled, stuckSweeps, waitingReason } from '../../src/scheduler/placement/waiting-reason.js';
import { slots, submitted } from './play.js';

/** What the simulated world may do next; `pick` chooses a run. */
type Move = { kind: string; pick: number; number: number };

const moves = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...['start', 'start', 'start', 'end', 'end', 'end', 'fail', 'stop', 'resume', 'time', 'slots', 'rule'],
      ...['withdraw', 'launch-failed', 'late', 'submit', 'adopt'],
    ),
    pick: fc.nat(1000),
    number: fc.nat(8),
  }),
  { minLength: 30, maxLength: 150 },
);

const sweep = submitted(
  Array.from({ length: 14 }, (_, n) => ({
    name: `r${n}`,
    group: ['warmup', 'main', 'last'][n % 3]!,
    need: {
      ...{ gpus: n % 4 === 0 ? 0 : n % 5 === 0 ? 2 : 1, perGpu: 1 + (n % 3) },
      ...(n % 6 === 1 ? { cpus: 2 } : {}),
    },
  })),
  { main: ['warmup'], last: ['main'] },
);

/** Plays a world that obeys the orders it gets; `check` sees every state. */
function simulate(script: Move[], check: (state: SchedulerState, event: SchedulerEvent) => void) {
  const state = emptyState();
  const events: SchedulerEvent[] = [];
  const actions: SchedulerAction[] = [];
  const take = (event: SchedulerEvent) => {
    events.push(event);
    actions.push(...step(state, event).actions);
    check(state, event);
  };
  take(slots(2, 3));
  take(sweep);
  let at = 1;
  for (const move of script) {
    const event = eventOf(state, move, (at += 500));
    if (event !== null) take(event);
  }
  return { state, events, actions };
}

function eventOf(state: SchedulerState, { kind, pick, number }: Move, at: number): SchedulerEvent | null {
  const inPhase = (...phases: string[]) => {
    const runs = [...state.runs.values()].filter((run) => phases.includes(run.state.phase));
    return runs[pick % Math.max(1, runs.length)] ?? null;
  };
  const news = (run: ReturnType<typeof inPhase>) => run && { at, id: run.id, attempt: run.attempt };
  const any = [...state.runs.values()][pick % state.runs.size]!;
  const starting = news(inPhase('starting'));
  const up = news(inPhase('running', 'stopping', 'killing'));
  const possible: Record<string, () => SchedulerEvent | null> = {
    start: () => starting && { type: 'run-started', ...starting, pid: 1 },
    end: () => up && { type: 'run-ended', ...up, outcome: { kind: 'done' } },
    fail: () => up && { type: 'run-ended', ...up, outcome: { kind: 'failed', code: 1 } },
    withdraw: () => starting && { type: 'launch-withdrawn', ...starting },
    'launch-failed': () => starting && { type: 'launch-failed', ...starting, reason: 'no' },
    rule: () => up && { type: 'rule-met', ...up, rule: 'x > 1' },
    late: () => ({ type: 'run-ended', at, id: any.id, attempt: any.attempt + 1, outcome: { kind: 'done' } }),
    stop: () => ({ type: 'stop-requested', at, ids: [any.id] }),
    resume: () => ({ type: 'resume-requested', at, ids: [any.id] }),
    slots: () => ({ ...slots(number % 4, number % 5), at }),
    submit: () => ({ ...again(state), at }),
    adopt: () => ({ ...again(state, number), at }),
    time: () => ({ type: 'time-passed', at: at + number * 3000 }),
  };
  return possible[kind]!();
}

/**
 * The same sweep, as it looks at this moment; `keep` for what is under way. `found`: the run whose directory says that it is
 * up, if nobody knows of it.
 */
function again(state: SchedulerState, found: number | null = null): typeof sweep {
  if (sweep.type !== 'runs-submitted') return sweep;
  const runs = sweep.runs.map((run, index) => {
    const known = state.runs.get(run.id);
    const wish = known === undefined || known.state.phase === 'ended' ? ('run' as const) : ('keep' as const);
    const isFound = index === found && known !== undefined && !isActive(known.state);
    return { ...run, wish: isFound ? ('adopt' as const) : wish, attempts: known?.attempt ?? 0 };
  });
  return { ...sweep, runs };
}

/** Recounted from the runs themselves, without any index. */
function expectNothingHeldTwice(state: SchedulerState): void {
  const cpus: number[] = [];
  let cores = 0;
  const shares = new Map<number, number>();
  for (const { state: was, need } of state.runs.values()) {
    if (!('slot' in was)) continue;
    cores += need.cpus ?? (need.gpus === 0 ? 1 : 0);
    if (was.slot.kind === 'cpu') cpus.push(was.slot.index);
    else for (const gpu of was.slot.gpus) shares.set(gpu, (shares.get(gpu) ?? 0) + 1 / need.perGpu);
  }
  expect(new Set(cpus).size).toBe(cpus.length);
  expect([...state.cpu.holders.keys()].sort()).toEqual(cpus.sort());
  expect(state.cpu.busy).toBe(cores);
  for (const used of shares.values()) expect(used).toBeLessThanOrEqual(1 + 1e-9);
}

describe('the scheduler, whatever happens,', () => {
  property('gives no slot and no share of a GPU twice, and knows what is held', 150, (examples) => {
    fc.assert(
      fc.property(moves, (script) => void simulate(script, expectNothingHeldTwice)),
      examples,
    );
  });

  property('starts no run before its groups are done', 100, (examples) => {
    fc.assert(
      fc.property(moves, (script) => {
        const { state, actions, events } = simulate(script, () => undefined);
        // Played again, with the groups recounted at each launch.
        const again = emptyState();
        for (const event of events) {
          const before = new Map([...again.runs].map(([run, { state: was }]) => [run, was.phase]));
          for (const action of step(again, event).actions) {
            // One that is found to be up is taken over, whatever it should have waited for.
            if (action.type !== 'launch' || action.isUp || before.get(action.id) === 'starting') continue;
            const group = again.groups.get(again.runs.get(action.id)!.group)!;
            for (const needed of group.needs) {
              const members = [...again.runs.values()].filter((run) => run.group === needed);
              expect(members.every(({ state: was }) => was.phase === 'ended' && was.outcome.kind === 'done')).toBe(
                true,
              );
            }
          }
        }
        expect(actions.length).toBeGreaterThan(0);
        expect(state.runs.size).toBe(14);
      }),
      examples,
    );
  });

  property('moves an ended run only when it is resumed or submitted again', 100, (examples) => {
    fc.assert(
      fc.property(moves, (script) => {
        let endedBefore = new Set<string>();
        simulate(script, (state, event) => {
          const endedNow = new Set([...state.runs.values()].filter((r) => r.state.phase === 'ended').map((r) => r.id));
          const revived = [...endedBefore].filter((run) => !endedNow.has(run as never));
          if (event.type !== 'resume-requested' && event.type !== 'runs-submitted') expect(revived).toEqual([]);
          endedBefore = endedNow;
        });
      }),
      examples,
    );
  });

  property('calls a sweep stuck exactly when runs of it wait, and nothing in it moves', 100, (examples) => {
    fc.assert(
      fc.property(moves, (script) => {
        simulate(script, (state) => {
          const waits = [...state.runs.values()].some((run) => run.state.phase === 'waiting');
          const isStuck = waits && isIdle(state, state.runs.keys()) && growingGroups(state).length === 0;
          expect(stuckSweeps(state)).toEqual(isStuck ? ['s'] : []);
        });
      }),
      examples,
    );
  });

  property('never launches the same attempt twice, and orders an end only for a run that is up', 100, (examples) => {
    fc.assert(
      fc.property(moves, (script) => {
        const { actions } = simulate(script, () => undefined);
        const launches = actions.filter(({ type }) => type === 'launch').map((a) => `${a.id} ${a.attempt}`);
        expect(new Set(launches).size).toBe(launches.length);
        const kills = actions.filter(({ type }) => type === 'kill').map((a) => `${a.id} ${a.attempt}`);
        expect(new Set(kills).size).toBe(kills.length);
        for (const { type, id: run, attempt } of actions)
          if (type !== 'launch') expect(launches).toContain(`${run} ${attempt}`);
      }),
      examples,
    );
  });

  property('is the same after its events were written down and played again', 100, (examples) => {
    fc.assert(
      fc.property(moves, (script) => {
        const { state, events, actions } = simulate(script, () => undefined);
        const again = emptyState();
        const repeated = (JSON.parse(JSON.stringify(events)) as SchedulerEvent[]).flatMap(
          (e) => step(again, e).actions,
        );
        expect(again).toEqual(state);
        expect(repeated).toEqual(actions);
      }),
      examples,
    );
  });

  property('lets every run end once the world goes on long enough', 60, (examples) => {
    fc.assert(
      fc.property(moves, (script) => {
        const { state } = simulate(script, () => undefined);
        step(state, { ...slots(2, 3), at: 1e6 });
        step(state, { type: 'resume-requested', at: 1e6, ids: [...state.runs.keys()] });
        for (let at = 1e6; state.active.size > 0; at += 20_000) {
          for (const run of [...state.active]) {
            const { attempt, state: was } = state.runs.get(run)!;
            if (was.phase === 'starting') step(state, { type: 'run-started', at, id: run, attempt, pid: 1 });
            else step(state, { type: 'run-ended', at, id: run, attempt, outcome: { kind: 'done' } });
          }
          step(state, { type: 'resume-requested', at, ids: notDone(state) });
        }
        expect(isSettled(state)).toBe(true);
        expect(
          [...state.runs.keys()].map((run) => waitingReason(state, run)).filter((reason) => reason !== null),
        ).toEqual([]);
      }),
      examples,
    );
  });

  it.each([
    { what: 'CPU slots', need: { gpus: 0 } },
    { what: 'shared GPUs, with retries, timeouts and breakers', need: { gpus: 1, perGpu: 3 } },
  ])('looks at as many runs for an event, however many there are: $what', ({ need }) => {
    const cost = (count: number) => {
      const state = emptyState();
      step(state, slots(2, 2));
      const retry = { max: 1, backoffMs: 1000, on: ['crash' as const] };
      const runs = Array.from({ length: count }, (_, n) => ({ name: `r${n}`, need, retry, timeoutMs: 60_000 }));
      step(state, submitted(runs, {}, { failures: 3, withinMs: 10 }));
      let looks = 0;
      const get = state.runs.get.bind(state.runs);
      state.runs.get = (run) => {
        looks += 1;
        return get(run);
      };
      for (let at = 100; at < 10_000; at += 100) {
        const [first] = state.active;
        const run = get(first!)!;
        const outcome = at % 500 === 0 ? ({ kind: 'failed', code: 1 } as const) : ({ kind: 'done' } as const);
        step(state, { type: 'run-started', at, id: run.id, attempt: run.attempt, pid: 1 });
        step(state, { type: 'run-ended', at: at + 50, id: run.id, attempt: run.attempt, outcome, gpuMemory: at });
        step(state, { type: 'time-passed', at: at + 60 });
        nextDeadline(state);
        waitingReason(state, run.id);
      }
      return looks;
    };
    expect(cost(10_000)).toBe(cost(200));
  });
});

function notDone(state: SchedulerState) {
  return [...state.runs.values()]
    .filter(({ state: was }) => was.phase === 'ended' && was.outcome.kind !== 'done')
    .map(({ id: run }) => run);
}
