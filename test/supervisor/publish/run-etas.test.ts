import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { RunEtas } from '../../../src/supervisor/publish/run-etas.js';
import { type MonitoredMetrics, nothingMonitored } from '../../../src/supervisor/publish/run-view.js';
import { ended, id, slots, started, submitted } from '../../scheduler/play.js';
import { plan } from '../testbed.js';

const rule = { when: 'acc > 0.9', for: 1 };
const names = ['a_s0', 'a_s1', 'a_s2', 'b_s0'];

/** Four runs of one group, three of them seeds of one setting. Times in ms. */
function theater(common: Partial<PlannedRun>, ...events: SchedulerEvent[]) {
  const runs = names.map((name) => ({ name, ...common, parameters: { model: name[0]!, seed: Number(name.at(-1)) } }));
  const planned = new Map(plan('/runs', 's', runs).runs.map((run) => [run.id, run]));
  const state = emptyState();
  const monitored = new Map<string, Partial<MonitoredMetrics>>();
  let now = 0;
  const etas = new RunEtas({
    state,
    planned: (run) => planned.get(run)!,
    monitored: (run) => ({ ...nothingMonitored, ...monitored.get(run) }),
    now: () => now,
  });
  for (const event of [slots(4), submitted(names), ...events]) etas.follow(step(state, event).touched);
  const etaAt = (name: string, at: number, seen: Partial<MonitoredMetrics> = {}) => {
    now = at;
    monitored.set(id(name), seen);
    return etas.of(state.runs.get(id(name))!);
  };
  return { etaAt, play: (event: SchedulerEvent) => etas.follow(step(state, event).touched) };
}

const start = (name: string, at: number): SchedulerEvent => ({ ...started(name), at });
const end = (name: string, at: number): SchedulerEvent => ({ ...ended(name), at });

describe('when a run ends', () => {
  it('is told by its pace, and counts down between its rows', () => {
    const { etaAt } = theater({}, start('a_s0', 0));
    const seen = { toBudget: { seconds: 90, at: 10_000 }, movement: { at: 10_000, every: 2000, longest: 2000 } };
    expect(etaAt('a_s0', 10_000, seen)).toBe(90);
    expect(etaAt('a_s0', 15_000, seen)).toBe(85);
  });

  it('is not known of one that stands still', () => {
    const { etaAt } = theater({}, start('a_s0', 0));
    const seen = { toBudget: { seconds: 14, at: 10_000 }, movement: { at: 10_000, every: 1000, longest: 1000 } };
    expect(etaAt('a_s0', 21_000, seen)).toBeNull();
  });

  it('is not known where a rule may end it and none like it has ended', () => {
    const { etaAt } = theater({ stopWhen: rule }, start('a_s0', 0));
    expect(etaAt('a_s0', 10_000, { toBudget: { seconds: 700, at: 10_000 } })).toBeNull();
  });

  it('is learnt from its seeds, then from its group', () => {
    const { etaAt, play } = theater({ stopWhen: rule }, start('a_s0', 0), start('a_s1', 0), start('b_s0', 0));
    play(end('b_s0', 100_000));
    expect(etaAt('a_s1', 100_000)).toBe(100);
    play(end('a_s0', 130_000));
    expect(etaAt('a_s1', 120_000)).toBe(10);
  });

  it('is not learnt from runs that failed', () => {
    const { etaAt, play } = theater({}, start('a_s0', 0), start('a_s1', 0));
    play({ ...end('a_s0', 5000), outcome: { kind: 'failed', code: 1 } } as SchedulerEvent);
    expect(etaAt('a_s1', 6000)).toBeNull();
  });

  it('is unlearnt from a run that is done again', () => {
    const { etaAt, play } = theater({}, start('a_s0', 0), start('a_s1', 0), end('a_s0', 50_000));
    expect(etaAt('a_s1', 10_000)).toBe(40);
    play({ type: 'resume-requested', at: 60_000, ids: [id('a_s0')] });
    expect(etaAt('a_s1', 10_000)).toBeNull();
  });

  it('is a matter of running runs alone', () => {
    const { etaAt, play } = theater({}, start('a_s0', 0), end('a_s0', 50_000), start('a_s1', 0));
    expect(etaAt('a_s0', 60_000)).toBeNull();
    expect(etaAt('a_s2', 60_000)).toBeNull();
    play({ type: 'pause-requested', at: 10_000, ids: [id('a_s1')] });
    expect(etaAt('a_s1', 20_000)).toBeNull();
  });
});
