import { describe, expect, it } from 'vitest';
import type { SchedulerEvent } from '../../src/scheduler/event.js';
import { emptyState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';
import { Announcements } from '../../src/supervisor/announcements.js';
import type { News } from '../../src/supervisor/news.js';
import { endedAs, slots, started, stopAsked, submitted, time } from '../scheduler/play.js';
import { plan } from './testbed.js';

const failed = { kind: 'failed', code: 3 } as const;

/** News of these events; `before`: what happened before anyone listened. */
function newsOf(events: SchedulerEvent[], before: SchedulerEvent[] = []): News[] {
  const state = emptyState();
  const news: News[] = [];
  const planned = new Map(
    plan(
      '/runs',
      's',
      ['a', 'b', 'c'].map((name) => ({ name })),
    ).runs.map((run) => [run.id, run]),
  );
  const announcements = new Announcements({
    ...{ state, planned: (run) => planned.get(run) ?? null, directoryOf: (sweep) => `/runs/${sweep}` },
    tell: (each) => news.push(each),
  });
  for (const event of before) step(state, event);
  announcements.takeUp();
  for (const event of events) announcements.heard(event, step(state, event).touched);
  return news;
}

const retry = { max: 1, backoffMs: 10, on: ['crash' as const] };

describe('news', () => {
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
        counts: { done: 1, failed: 1, killed: 0, lost: 0 },
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
    const news = newsOf([slots(1), { ...submit, groups }, started('a'), endedAs('a', failed)]);
    expect(news.filter(({ kind }) => kind === 'held')).toEqual([
      { kind: 'held', sweep: 's', group: 'main', words: 'a run failed within 10 s of starting', directory: '/runs/s' },
    ]);
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
