import { describe, expect, it } from 'vitest';
import { wellHealth } from '../../../src/analysis/health/finding.js';
import {
  eventOf,
  fits,
  orderOf,
  type PlainVerb,
  refusalOf,
  refusalWords,
  runVerbNames,
  type RunVerb,
} from '../../../src/protocol/run-verbs.js';
import { RunSummary } from '../../../src/protocol/run-summary.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { startsAt } from '../../../src/scheduler/start/group-start.js';
import { step } from '../../../src/scheduler/step.js';
import { nothingMonitored, runSummary, verbTarget } from '../../../src/supervisor/publish/run-view.js';
import { asked, ended, GRACE_MS, id, play, slots, started, submitted, time } from '../../scheduler/play.js';
import { plan } from '../testbed.js';

const waiting = [slots(0), submitted(['a'])];
const tomorrow = { zone: 'UTC', afterMs: 86_400_000 };
const later = submitted(['a']);
if (later.type === 'runs-submitted') for (const group of later.groups) group.start = tomorrow;
const scheduled = [slots(1), later];
const up = [slots(1), submitted(['a']), started('a')];
const stopping = [...up, asked('stop', 'a', 10)];
const retried = submitted([{ name: 'a', retry: { max: 1, backoffMs: 1000, on: ['crash'] } }]);
const broken = submitted(['b', 'a'], {}, { failures: 1, withinMs: 10_000 });
const forTarget: SchedulerEvent = { type: 'hold-requested', at: 3, ids: [id('a')], reason: 'b met the target' };

/** Everything that can be the matter with a run, how it came to that, and what can be done to it then. */
const situations: { run: string; events: SchedulerEvent[]; fit: RunVerb[] }[] = [
  { run: 'queued', events: waiting, fit: ['kill', 'hold', 'priority'] },
  { run: 'waiting for its start time', events: scheduled, fit: ['kill', 'hold', 'release', 'priority'] },
  {
    run: 'in its backoff',
    events: [slots(1), retried, started('a'), ended('a', 'failed')],
    fit: ['kill', 'resume', 'hold', 'priority'],
  },
  { run: 'held by a person', events: [...waiting, asked('hold', 'a')], fit: ['kill', 'release', 'priority'] },
  { run: 'held for a target', events: [...waiting, forTarget], fit: ['kill', 'release', 'priority'] },
  {
    run: 'held by the breaker',
    events: [slots(1), broken, started('b'), ended('b', 'failed')],
    fit: ['kill', 'resume', 'release', 'priority'],
  },
  { run: 'starting', events: up.slice(0, 2), fit: ['kill', 'priority'] },
  { run: 'running', events: up, fit: ['kill', 'pause', 'priority', 'type'] },
  { run: 'paused', events: [...up, asked('pause', 'a')], fit: ['kill', 'continue', 'priority'] },
  { run: 'stopping', events: stopping, fit: ['priority'] },
  { run: 'being killed', events: [...stopping, time(10 + GRACE_MS)], fit: ['priority'] },
  { run: 'done', events: [...up, ended('a', 'done')], fit: [] },
  { run: 'failed', events: [...up, ended('a', 'failed')], fit: ['resume'] },
  { run: 'killed', events: [...waiting, asked('stop', 'a')], fit: ['resume'] },
  { run: 'lost', events: [...up, ended('a', 'lost')], fit: ['resume'] },
];

/** A run that reads typed lines. */
const typed: PlannedRun = { ...plan('/runs', 's', [{ name: 'a', argv: ['train'] }]).runs[0]!, input: 'lines' };

const orders = runVerbNames.map((verb) => orderOf(verb, 5));
const runAfter = (events: SchedulerEvent[]) => play(...events).state.runs.get(id('a'))!;
const startAfter = (events: SchedulerEvent[]) => startsAt(play(...events).state, runAfter(events));
const targetAfter = (events: SchedulerEvent[]) => verbTarget(runAfter(events), typed, startAfter(events));

describe('what can be done to a run that is', () => {
  it.each(situations)('$run: $fit', ({ events, fit }) => {
    const run = targetAfter(events);
    expect(orders.filter((order) => fits(order)(run)).map(({ verb }) => verb)).toEqual(fit);
  });

  it.each(situations)('$run is the same for a client that has only its row', ({ events }) => {
    const beside = { argv: [], parameters: {}, gpuMemory: null, pid: null, warning: null };
    const context = {
      ...beside,
      monitored: nothingMonitored,
      health: wellHealth,
      left: null,
      waiting: null,
      wallTime: (at: number) => at,
      startsAt: startAfter(events),
    };
    const run = runAfter(events);
    const row = RunSummary.parse(JSON.parse(JSON.stringify(runSummary(run, typed, context))));
    for (const order of orders) expect(refusalOf(order, row)).toEqual(refusalOf(order, targetAfter(events)));
  });

  it.each(situations)('$run is done: the run changes', ({ events, fit }) => {
    // What is typed is no event.
    for (const order of fit.map((verb) => orderOf(verb, 5)).filter((order) => order.verb !== 'type')) {
      const { state } = play(...events);
      expect([order.verb, step(state, eventOf(order, [id('a')], 50_000)).touched.has(id('a'))]).toEqual([
        order.verb,
        true,
      ]);
    }
  });

  it.each(situations)('$run is also what a refusal advises', ({ events }) => {
    const run = targetAfter(events);
    const advised = orders.flatMap((order): PlainVerb[] => {
      const { first, instead } = refusalOf(order, run) ?? {};
      return [first, instead].filter((verb) => verb !== undefined);
    });
    for (const verb of advised) expect([verb, refusalOf({ verb }, run)]).toEqual([verb, null]);
  });

  it('held, by the word of a supervisor that does not say by whom: the supervisor has the last word', () => {
    const row = { ...verbTarget(runAfter([...waiting, asked('hold', 'a')]), typed), heldBy: undefined };
    expect(refusalOf({ verb: 'resume' }, row)).toBeNull();
  });
});

describe('a refusal', () => {
  it.each<[string, RunVerb, SchedulerEvent[], string]>([
    ['what comes first', 'resume', [...waiting, asked('hold', 'a')], 'is held; release it'],
    ['what to do instead', 'hold', up, 'is running; pause it instead'],
    ['what starts it before its time', 'resume', scheduled, 'waits for its start time; `release` starts it now'],
    ['where it is', 'kill', [...up, ended('a', 'failed')], 'has ended already (failed)'],
    ['that it has ended, to who would type', 'type', [...up, ended('a', 'done')], 'has ended already (done)'],
    ['what to do before typing', 'type', [...up, asked('pause', 'a')], 'is paused; continue it'],
    [
      'that it is so already',
      'priority',
      [slots(0), submitted([{ name: 'a', priority: 5 }])],
      'has that priority already',
    ],
  ])('says %s', (_, verb, events, words) => {
    expect(refusalWords(refusalOf(orderOf(verb, 5), targetAfter(events))!)).toBe(words);
  });
});

it('a run whose input is empty cannot be typed into, and the refusal says what to write in the sweep file', () => {
  const run = verbTarget(runAfter(up), null);
  expect(refusalOf(orderOf('type', 'x'), run)).toEqual({
    why: 'reads nothing that is typed',
    fix: expect.stringContaining('`stdin: type`') as string,
  });
});
