import { describe, expect, it } from 'vitest';
import type { EventOf, SchedulerEvent } from '../../../src/scheduler/event.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { Notifications } from '../../../src/supervisor/notify/notifications.js';
import type { Notification } from '../../../src/supervisor/notify/notifier.js';
import { drained, endedAs, id, slots, started, stopAsked, submitted, time } from '../../scheduler/play.js';
import { plan } from '../testbed.js';

const failed = { kind: 'failed', code: 3 } as const;

/** News of these events; `before`: what happened before anyone listened. */
function newsOf(events: SchedulerEvent[], before: SchedulerEvent[] = []): Notification[] {
  const state = emptyState();
  const news: Notification[] = [];
  const planned = new Map(
    plan(
      '/runs',
      's',
      ['a', 'b', 'c', 'w'].map((name) => ({ name })),
    ).runs.map((run) => [run.id, run]),
  );
  const notifications = new Notifications({
    ...{ state, planned: (run) => planned.get(run) ?? null, directoryOf: (sweep) => `/runs/${sweep}` },
    notify: (each) => news.push(each),
  });
  for (const event of before) step(state, event);
  notifications.countRuns();
  for (const event of events) notifications.heard(event, step(state, event).touched);
  return news;
}

const heldBack = (...names: string[]): SchedulerEvent => ({ type: 'hold-requested', at: 1, ids: names.map(id) });
const released = (...names: string[]): SchedulerEvent => ({ type: 'release-requested', at: 1, ids: names.map(id) });
const warmedUp = [
  { name: 'w', group: 'warmup' },
  { name: 'a', group: 'main' },
];

const retry = { max: 1, backoffMs: 10, on: ['crash' as const] };

describe('news', () => {
  it('tell of a GPU that is held because runs fail on it, and not of one that a user drains', () => {
    const reason = '3 runs in a row failed within 10 s of starting on it, and others last elsewhere';
    const held: SchedulerEvent = { ...(drained(3) as EventOf<'drain-requested'>), reason };
    const news = newsOf([slots(0, 4), submitted(['a']), drained(2), held, drained(3, false)]);
    expect(news).toEqual([{ kind: 'held', sweep: 's', words: `GPU 3: ${reason}`, directory: '/runs/s' }]);
  });

  it('are ends and the last end, with the sum of the sweep', () => {
    const news = newsOf([
      slots(2),
      submitted(['a', 'b']),
      started('a'),
      started('b'),
      endedAs('a', { kind: 'done' }),
      endedAs('b', failed),
    ]);
    expect(news).toEqual([
      { kind: 'done', sweep: 's', run: 'a', group: 'main', words: '', directory: '/runs/s/a' },
      { kind: 'failed', sweep: 's', run: 'b', group: 'main', words: 'exit code 3', directory: '/runs/s/b' },
      {
        ...{ kind: 'finished', sweep: 's', words: '', directory: '/runs/s' },
        counts: { done: 1, failed: 1, killed: 0, lost: 0, held: 0, waiting: 0 },
      },
    ]);
  });

  it('are no failures that are retried, and no ends that a person wanted', () => {
    const first = [slots(1), submitted([{ name: 'a', retry }, 'b']), started('a'), endedAs('a', failed)];
    expect(newsOf(first)).toEqual([]);
    const kinds = newsOf([...first, started('b'), stopAsked('b'), endedAs('b', { kind: 'signal', signal: 'SIGTERM' })]);
    expect(kinds).toEqual([]);
    const second = [time(100), started('a', 2), endedAs('a', failed, { attempt: 2, at: 200 })];
    expect(newsOf([...first, ...second]).map(({ kind }) => kind)).toEqual(['failed']);
  });

  it('are one for a group that the breaker holds', () => {
    const submit = submitted(['a', 'b', 'c']);
    if (submit.type !== 'runs-submitted') throw new Error('not a submit');
    const groups = submit.groups.map((group) => ({ ...group, breaker: { failures: 1, withinMs: 10_000 } }));
    const tripped = [slots(1), { ...submit, groups }, started('a'), endedAs('a', failed)];
    // Nothing is said before it is found out what is held.
    expect(newsOf(tripped).map(({ kind }) => kind)).toEqual(['failed']);
    const words = 'a run failed within 10 s of starting, all with lr=1';
    const found: SchedulerEvent = {
      type: 'hold-requested',
      at: 9,
      ids: [id('b')],
      reason: words,
      breaker: { values: 'lr=1' },
    };
    const news = newsOf([...tripped, found]);
    expect(news.filter(({ kind }) => kind === 'held')).toEqual([
      { kind: 'held', sweep: 's', group: 'main', words, directory: '/runs/s' },
    ]);
    expect(news.map(({ kind }) => kind)).toEqual(['failed', 'held', 'finished']);
  });

  it.each<{ what: string; events: SchedulerEvent[]; counts: object | null }>([
    {
      what: 'the rest is held',
      events: [slots(1), submitted(['a', 'b', 'c']), heldBack('b', 'c'), started('a'), endedAs('a', { kind: 'done' })],
      counts: { done: 1, held: 2, waiting: 0 },
    },
    {
      what: 'the rest needs what failed',
      events: [slots(2), submitted(warmedUp, { main: ['warmup'] }), started('w'), endedAs('w', failed)],
      counts: { failed: 1, held: 0, waiting: 1 },
    },
    {
      what: 'the rest only waits for a slot',
      events: [slots(1), submitted(['a', 'b']), started('a'), endedAs('a', { kind: 'done' })],
      counts: null,
    },
    {
      what: 'the rest is tried again by itself',
      events: [slots(1), submitted([{ name: 'a', retry }]), started('a'), endedAs('a', failed)],
      counts: null,
    },
  ])('of the end come when $what: $counts', ({ events, counts }) => {
    const last = newsOf(events).find(({ kind }) => kind === 'finished');
    if (counts === null) expect(last).toBeUndefined();
    else expect(last?.counts).toMatchObject(counts);
  });

  it('are one for a group of which a run is good enough, and none of what a person holds', () => {
    const reason = 'a reached the target: acc 1 (target 0.9)';
    const held = newsOf([
      slots(1),
      submitted(['a', 'b', 'c']),
      started('a'),
      { ...heldBack('b', 'c'), reason } as SchedulerEvent,
    ]);
    expect(held).toEqual([{ kind: 'held', sweep: 's', group: 'main', words: reason, directory: '/runs/s' }]);
    expect(newsOf([slots(1), submitted(['a', 'b']), started('a'), heldBack('b')])).toEqual([]);
  });

  it('of the end come again when what was held has had its turn', () => {
    const news = newsOf([
      ...[slots(1), submitted(['a', 'b']), heldBack('b'), started('a'), endedAs('a', { kind: 'done' })],
      ...[released('b'), started('b'), endedAs('b', { kind: 'done' })],
    ]);
    expect(news.map(({ kind }) => kind)).toEqual(['done', 'finished', 'done', 'finished']);
  });

  it('are not told again of what happened before, but the end of all is', () => {
    const before = [slots(1), submitted(['a', 'b']), started('a'), endedAs('a', { kind: 'done' }), started('b')];
    const news = newsOf([endedAs('b', { kind: 'done' })], before);
    expect(news.map(({ kind, run }) => [kind, run])).toEqual([
      ['done', 'b'],
      ['finished', undefined],
    ]);
  });
});
