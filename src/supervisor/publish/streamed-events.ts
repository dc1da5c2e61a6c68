import { nameOf, type RunId, sweepOf } from '../../base/ids.js';
import { countStates, endStateOf } from '../../base/run-words.js';
import type { Source, StreamedEvent } from '../../protocol/event-stream.js';
import { isSweepOver } from '../../scheduler/placement/waiting-reason.js';
import { slotName } from '../../scheduler/placement/slot.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { Ending, Run } from '../../scheduler/run-state.js';
import type { SchedulerState } from '../../scheduler/state.js';
import { groupBy } from '../../base/group-by.js';
import { endReason, wordOf } from './run-view.js';

/** What an event of the journal is called in the stream, so that it is told once. */
export function sourceOf(event: SchedulerEvent): Source {
  const { type, at } = event;
  const who = 'id' in event ? event.id : 'ids' in event ? `${event.ids.length} ${event.ids[0] ?? ''}` : '';
  return { at, key: `${type} ${who} ${'attempt' in event ? event.attempt : ''}` };
}

/** What an event means for who follows the stream. @param state After the event. @param touched Runs that the event has changed. */
export function streamedEventsOf(
  event: SchedulerEvent,
  touched: ReadonlySet<RunId>,
  state: SchedulerState,
): StreamedEvent[] {
  const runs = [...touched].flatMap((id) => state.runs.get(id) ?? []);
  switch (event.type) {
    case 'runs-submitted':
      return submitted(event);
    case 'run-started':
      return runs.filter(({ id }) => id === event.id).flatMap(started);
    case 'run-ended':
    case 'launch-failed':
      return withFinish(runs.filter(({ id }) => id === event.id).flatMap(ended), state);
    case 'stop-requested':
      return withFinish(bySweep('killed', runs.filter(isKilledWaiting)), state);
    case 'hold-requested':
      return withFinish(
        bySweep(
          'held',
          runs.filter(({ hold }) => hold !== null),
          event.reason,
        ),
        state,
      );
    case 'sweep-forgotten':
      return [{ event: 'forgotten', sweep: event.sweep }];
    case 'groups-closed':
      return event.groups.map((id) => ({ event: 'closed', ...placeOf(id), reason: event.reason }));
    default:
      return orderedIn(event.type, runs);
  }
}

const words = {
  'release-requested': 'released',
  'pause-requested': 'paused',
  'continue-requested': 'continued',
  'resume-requested': 'resumed',
  'retry-requested': 'resumed',
} as const satisfies Partial<Record<SchedulerEvent['type'], StreamedEvent['event']>>;

function orderedIn(type: SchedulerEvent['type'], runs: readonly Run[]): StreamedEvent[] {
  return type in words ? bySweep(words[type as keyof typeof words], runs) : [];
}

function submitted({ sweep, runs }: Extract<SchedulerEvent, { type: 'runs-submitted' }>): StreamedEvent[] {
  const added = runs.filter(({ wish }) => wish === 'run' || wish === 'adopt' || wish === 'extend');
  return added.length === 0 ? [] : [{ event: 'submitted', sweep, run: nameOf(added[0]!.id), runs: added.length }];
}

function started(run: Run): StreamedEvent[] {
  if (run.state.phase !== 'running') return [];
  return [{ event: 'started', ...runFacts(run), slot: slotName(run.state.slot) }];
}

function ended(run: Run): StreamedEvent[] {
  const { state } = run;
  if (state.phase === 'ended') return [{ event: endStateOf(state.outcome.kind), ...runFacts(run), ...endFacts(state) }];
  if (state.phase !== 'waiting' || state.last === null) return [];
  const event = state.last.outcome.kind === 'done' ? 'done' : run.hold === null ? 'retrying' : 'held';
  return [{ event, ...runFacts(run), ...endFacts(state.last) }];
}

function endFacts({ outcome }: Ending): Pick<StreamedEvent, 'reason' | 'code'> {
  const reason = endReason(outcome);
  return { ...(reason === null ? {} : { reason }), ...(outcome.kind === 'failed' ? { code: outcome.code } : {}) };
}

function isKilledWaiting({ state }: Run): boolean {
  return state.phase === 'ended' && state.outcome.kind === 'killed';
}

/** One event for the runs of each sweep. */
function bySweep(event: StreamedEvent['event'], runs: readonly Run[], reason?: string): StreamedEvent[] {
  const why = reason === undefined ? {} : { reason };
  return [...groupBy(runs, ({ sweep }) => sweep)].map(([sweep, own]) => {
    return { event, sweep, run: nameOf(own[0]!.id), runs: own.length, ...why };
  });
}

/** Adds the end of each sweep in which nothing can start any more. */
function withFinish(events: readonly StreamedEvent[], state: SchedulerState): StreamedEvent[] {
  const over = [...new Set(events.map(({ sweep }) => sweep))].filter((sweep) => isSweepOver(state, sweep));
  return [...events, ...over.map((sweep) => ({ event: 'finished' as const, sweep, counts: countsOf(sweep, state) }))];
}

function countsOf(sweep: string, { sweeps, runs }: SchedulerState): Record<string, number> {
  return countStates([...(sweeps.get(sweep) ?? [])].map((id) => ({ state: wordOf(runs.get(id)!) })));
}

function runFacts({ id, group, attempt }: Run): Pick<StreamedEvent, 'sweep' | 'group' | 'run' | 'attempt'> {
  return { ...placeOf(group), run: nameOf(id), attempt };
}

function placeOf(group: string): Pick<StreamedEvent, 'sweep' | 'group'> {
  return { sweep: sweepOf(group), group: nameOf(group) };
}
