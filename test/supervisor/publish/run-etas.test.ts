import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import type { TimeRange } from '../../../src/analysis/forecast/time-range.js';
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
  const leftAt = (name: string, at: number, seen: Partial<MonitoredMetrics> = {}) => {
    now = at;
    monitored.set(id(name), seen);
    return etas.of(state.runs.get(id(name))!);
  };
  return { leftAt, play: (event: SchedulerEvent) => etas.follow(step(state, event).touched) };
}

/** Whether a range is about so many seconds. */
function expectAbout(told: TimeRange | null, seconds: number): void {
  expect(told!.low).toBeLessThanOrEqual(seconds);
  expect(told!.high).toBeGreaterThanOrEqual(seconds);
  expect(Math.abs(Math.log(told!.middle / seconds))).toBeLessThan(Math.log(1.4));
}

const start = (name: string, at: number): SchedulerEvent => ({ ...started(name), at });
const end = (name: string, at: number): SchedulerEvent => ({ ...ended(name), at });

describe('when a run ends', () => {
  it('is told by its pace, and counts down between its rows', () => {
    const { leftAt } = theater({}, start('a_s0', 0));
    const toBudget = { seconds: 90, at: 10_000, error: 0.1 };
    const seen = { progress: 0.1, toBudget, movement: { at: 10_000, every: 2000, longest: 2000 } };
    expectAbout(leftAt('a_s0', 10_000, seen), 90);
    expectAbout(leftAt('a_s0', 15_000, seen), 85);
  });

  it('is told when it has been up for a moment, not before', () => {
    const { leftAt } = theater({}, start('a_s0', 0));
    const seen = { progress: 0.1, toBudget: { seconds: 5, at: 500, error: 0.1 } };
    expect(leftAt('a_s0', 899, seen)).toBeNull();
    expectAbout(leftAt('a_s0', 900, seen), 4.6);
  });

  it('is not known of one that stands still', () => {
    const { leftAt } = theater({}, start('a_s0', 0));
    const toBudget = { seconds: 14, at: 10_000, error: 0.1 };
    const seen = { progress: 0.4, toBudget, movement: { at: 10_000, every: 1000, longest: 1000 } };
    expect(leftAt('a_s0', 21_000, seen)).toBeNull();
  });

  it('is not known where a rule may end it and none like it has ended', () => {
    const { leftAt } = theater({ stopWhen: rule }, start('a_s0', 0));
    expect(leftAt('a_s0', 10_000, { progress: 0.1, toBudget: { seconds: 700, at: 10_000, error: 0.1 } })).toBeNull();
  });

  it.each([
    { when: 'a rule may end it', common: { stopWhen: rule } },
    { when: 'nothing in the file says that it may end early', common: {} },
  ])('is learnt from its seeds, then from its group, before its own pace: $when', ({ common }) => {
    const starts = [start('a_s0', 0), start('a_s1', 60_000), start('a_s2', 0), start('b_s0', 0)];
    const { leftAt, play } = theater(common, ...starts);
    const seen = { progress: 0.02, toBudget: { seconds: 7000, at: 100_000, error: 0.2 } };
    leftAt('b_s0', 99_000, { used: 0.02 });
    play(end('b_s0', 100_000));
    expectAbout(leftAt('a_s1', 100_000, seen), 60);
    for (const name of ['a_s0', 'a_s2']) leftAt(name, 129_000, { used: 0.03 });
    play(end('a_s0', 130_000));
    play(end('a_s2', 130_000));
    expectAbout(leftAt('a_s1', 131_000, seen), 59);
  });

  it('is learnt from another that is up, where none has ended', () => {
    const { leftAt } = theater({}, start('a_s0', 0), start('a_s1', 40_000));
    leftAt('a_s0', 49_000, { progress: 0.5, toBudget: { seconds: 50, at: 50_000, error: 0.12 } });
    expectAbout(leftAt('a_s1', 50_000), 90);
  });

  it('is not learnt from runs that failed', () => {
    const { leftAt, play } = theater({}, start('a_s0', 0), start('a_s1', 0));
    play({ ...end('a_s0', 5000), outcome: { kind: 'failed', code: 1 } } as SchedulerEvent);
    expect(leftAt('a_s1', 6000)).toBeNull();
  });

  it('is unlearnt from a run that is done again', () => {
    const { leftAt, play } = theater({}, start('a_s0', 0), start('a_s1', 0), end('a_s0', 50_000));
    expectAbout(leftAt('a_s1', 10_000), 40);
    play({ type: 'resume-requested', at: 60_000, ids: [id('a_s0')] });
    expect(leftAt('a_s1', 11_000)).toBeNull();
  });

  it('is that of what is left, of a run that was up before', () => {
    const { leftAt, play } = theater({}, start('a_s0', 0), end('a_s0', 100_000), start('a_s1', 0));
    play({ ...end('a_s1', 60_000), outcome: { kind: 'failed', code: 1 } } as SchedulerEvent);
    play({ type: 'resume-requested', at: 100_000, ids: [id('a_s1')] });
    play({ ...started('a_s1', 2), at: 100_000 });
    expectAbout(leftAt('a_s1', 110_000, { progress: 0.6 }), 30);
  });

  it('is a matter of running runs alone', () => {
    const { leftAt, play } = theater({}, start('a_s0', 0), end('a_s0', 50_000), start('a_s1', 0));
    expect(leftAt('a_s0', 60_000)).toBeNull();
    expect(leftAt('a_s2', 60_000)).toBeNull();
    play({ type: 'pause-requested', at: 10_000, ids: [id('a_s1')] });
    expect(leftAt('a_s1', 20_000)).toBeNull();
  });
});
