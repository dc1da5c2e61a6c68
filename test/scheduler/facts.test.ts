import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GpuIndex } from '../../src/base/ids.js';
import { SchedulerEvent } from '../../src/scheduler/event.js';
import { type Slot, slotName } from '../../src/scheduler/placement/slot.js';
import { emptyState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';
import { after, asked, ended, id, launched, play, slots, started, stopAsked, submitted } from './play.js';

const cpu = (index: number): Slot => ({ kind: 'cpu', index });
const onGpu = (index: number): Slot => ({ kind: 'gpu', gpus: [GpuIndex.parse(index)] });
const startedOn = (name: string, slot: Slot, attempt = 1): SchedulerEvent => ({
  ...{ type: 'run-started', at: 1, id: id(name), attempt, pid: 1, slot },
});

/** `a running on cpu 0 (1)`, the attempt in brackets. */
function standing(...events: SchedulerEvent[]): string[] {
  return [...play(...events).state.runs.values()].map(({ id: run, state, attempt }) => {
    const slot = 'slot' in state ? ` on ${slotName(state.slot)}` : '';
    return `${run.slice(2)} ${state.phase}${slot} (${attempt})`;
  });
}

describe('what the journal says of a start counts, whatever would be decided today', () => {
  it.each<{ when: string; events: SchedulerEvent[]; standing: string[] }>([
    {
      when: 'a run that would wait is put where it was',
      events: [slots(1), submitted(['a', 'b']), startedOn('b', cpu(0))],
      standing: ['a waiting (0)', 'b running on cpu 0 (1)'],
    },
    {
      when: 'a run that would be elsewhere, too',
      events: [slots(3), submitted(['a', 'b']), startedOn('a', cpu(2))],
      standing: ['a running on cpu 2 (1)', 'b starting on cpu 1 (1)'],
    },
    {
      when: 'two that changed places',
      events: [slots(2), submitted(['a', 'b']), startedOn('a', cpu(1)), startedOn('b', cpu(0))],
      standing: ['a running on cpu 1 (1)', 'b running on cpu 0 (1)'],
    },
    {
      when: 'a held run',
      events: [slots(0), submitted(['a']), asked('hold', 'a'), startedOn('a', cpu(0))],
      standing: ['a running on cpu 0 (1)'],
    },
    {
      when: 'a run that would be done',
      events: [slots(1), submitted(['a']), started('a'), ended('a'), startedOn('a', cpu(0), 2)],
      standing: ['a running on cpu 0 (2)'],
    },
    {
      when: 'a later attempt than would be made',
      events: [slots(1), submitted(['a']), startedOn('a', cpu(0), 3)],
      standing: ['a running on cpu 0 (3)'],
    },
    {
      when: 'on a GPU, without more runs on it than agree',
      events: [
        slots(0, 2),
        submitted(['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, need: { gpus: 1, perGpu: 2 } }))),
        ...[startedOn('a', onGpu(0)), startedOn('e', onGpu(0))],
      ],
      standing: [
        ...['a running on gpu 0 (1)', 'b starting on gpu 1 (1)', 'c waiting (0)', 'd starting on gpu 1 (1)'],
        'e running on gpu 0 (1)',
      ],
    },
    {
      when: 'on a GPU, with the others that were meant to start there',
      events: [
        slots(0, 1),
        submitted(['a', 'b', 'c'].map((name) => ({ name, need: { gpus: 1, perGpu: 3 } }))),
        startedOn('b', onGpu(0)),
      ],
      standing: ['a starting on gpu 0 (1)', 'b running on gpu 0 (1)', 'c starting on gpu 0 (1)'],
    },
    {
      when: 'late news of an attempt that is over is none',
      events: [slots(1), submitted(['a']), startedOn('a', cpu(0)), ended('a'), startedOn('a', cpu(0))],
      standing: ['a ended (1)'],
    },
    {
      when: 'news of a run that is up is none',
      events: [slots(1), submitted(['a']), startedOn('a', cpu(0)), startedOn('a', cpu(5), 2)],
      standing: ['a running on cpu 0 (1)'],
    },
    {
      when: 'an end that could not have come by what would be decided',
      events: [slots(0), submitted(['a']), ended('a', 'failed', 1)],
      standing: ['a ended (1)'],
    },
    {
      when: 'a number that was used for a launch that was taken back',
      events: [slots(0), submitted(['a']), { type: 'launch-withdrawn', at: 1, id: id('a'), attempt: 2 }, slots(1)],
      standing: ['a starting on cpu 0 (3)'],
    },
  ])('$when', ({ events, standing: expected }) => {
    expect(standing(...events)).toEqual(expected);
  });

  it('and of a stop that was asked for before: a run that cannot have been starting is stopped where it waited', () => {
    const events = [slots(1), submitted(['a', 'b']), stopAsked('a'), startedOn('b', cpu(0))];
    expect(after('a', ...events).state).toMatchObject({ phase: 'ended', outcome: { kind: 'killed' } });
  });

  it('finds a place for a run whose start is told without one, as the first version did', () => {
    const events = [slots(1), submitted(['a', 'b']), started('a'), started('b')];
    expect(standing(...events)).toEqual(['a running on cpu 0 (1)', 'b running on cpu 1 (1)']);
    const next = play(...events, submitted(['c']), ended('a'));
    expect(launched(next.actions)).toEqual(['a']);
    // The place was a guess, which a better-known one corrects.
    expect(standing(...events, submitted(['c']), startedOn('c', cpu(1)))).toEqual([
      ...['a running on cpu 0 (1)', 'b running on cpu 2 (1)', 'c running on cpu 1 (1)'],
    ]);
  });
});

describe('a journal of version 1', () => {
  const lines = readFileSync('test/fixtures/journals/version-1.jsonl', 'utf8').trim().split('\n').slice(1);
  const events = lines.map((line) => SchedulerEvent.parse(JSON.parse(line)));
  const state = emptyState();
  const actions = events.flatMap((event) => step(state, event).actions);

  it('gives the endings that are in it', () => {
    const endings = Object.fromEntries(
      [...state.runs.values()].map(({ id: run, state: was, attempt }) => [
        run,
        was.phase === 'ended' ? `${was.outcome.kind} (${attempt})` : was.phase,
      ]),
    );
    expect(endings).toMatchInlineSnapshot(`
      {
        "gpu/s0": "done (1)",
        "gpu/s1": "done (1)",
        "gpu/s2": "done (1)",
        "gpu/s3": "done (1)",
        "old/blocked_s0": "killed (0)",
        "old/prepare_s0": "done (1)",
        "old/prepare_s1": "done (1)",
        "old/rule_s0": "done (1)",
        "old/train_bad_s0": "failed (2)",
        "old/train_bad_s1": "failed (1)",
        "old/train_long_s0": "killed (2)",
        "old/train_long_s1": "killed (1)",
        "old/train_ok_s0": "done (1)",
        "old/train_ok_s1": "done (1)",
      }
    `);
  });

  it('is decided upon as it was then', () => {
    const told = events
      .filter(({ type }) => type === 'run-started')
      .map((event) => 'attempt' in event && `${event.id} ${event.attempt}`);
    const decided = actions.filter(({ type }) => type === 'launch').map((action) => `${action.id} ${action.attempt}`);
    expect(decided.sort()).toEqual(told.sort());
  });
});
