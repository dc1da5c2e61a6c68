import type { RunId } from '../../base/ids.js';
import { failureClass } from '../../base/outcome.js';
import type { Command } from '../../protocol/message.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import type { Run } from '../../scheduler/run-state.js';

/** A command that names its runs. */
export type RunCommand = Extract<Command, { ids: RunId[] }>;

/** Why the command makes no sense for this run, as what follows its name; null when it does. Asked for twice is once. */
export function refusalOf(command: RunCommand, run: Run): string | null {
  return command.verb === 'priority' ? priorityRefusal(run, command.priority) : refusals[command.verb](run);
}

/** What has been asked for, as a fact. */
export function requestedBy(command: RunCommand, ids: RunId[], at: number): SchedulerEvent {
  if (command.verb === 'priority') return { type: 'priority-requested', at, ids, priority: command.priority };
  return { type: requests[command.verb], at, ids };
}

/** What has been done to the runs, in words that follow their number. */
export function doneBy(command: RunCommand): string {
  return command.verb === 'priority' ? `given priority ${command.priority}` : words[command.verb];
}

const requests = {
  kill: 'stop-requested',
  resume: 'resume-requested',
  retry: 'retry-requested',
  hold: 'hold-requested',
  release: 'release-requested',
  pause: 'pause-requested',
  continue: 'continue-requested',
} as const;

const words: Record<keyof typeof requests, string> = {
  kill: 'being stopped',
  resume: 'queued again',
  retry: 'queued again',
  hold: 'held',
  release: 'released',
  pause: 'paused',
  continue: 'going on',
};

const refusals: Record<keyof typeof requests, (run: Run) => string | null> = {
  kill: killRefusal,
  resume: resumeRefusal,
  retry: retryRefusal,
  hold: holdRefusal,
  release: ({ hold }) => (hold === null ? 'is not held' : null),
  pause: pauseRefusal,
  continue: ({ state }) => (state.phase === 'running' && state.pausedAt !== null ? null : 'is not paused'),
};

function killRefusal({ state: { phase } }: Run): string | null {
  return phase === 'ended' ? 'has ended' : stoppingRefusal(phase, 'is stopping already');
}

function resumeRefusal({ state, hold }: Run): string | null {
  if (state.phase === 'ended') {
    return state.outcome.kind === 'done' ? 'is done; raise its budget to continue it' : null;
  }
  if (state.phase !== 'waiting') return upRefusal(state);
  if (hold !== null) return 'is held; release it';
  return state.notBefore === null ? 'waits already' : null;
}

function retryRefusal({ state, hold }: Run): string | null {
  if (state.phase === 'ended') return endedRefusal(state.outcome);
  if (state.phase !== 'waiting') return upRefusal(state);
  if (hold !== null && hold.by !== 'breaker') return 'is held; release it';
  return hold === null && state.notBefore === null ? 'waits already' : null;
}

function endedRefusal(outcome: Extract<Run['state'], { phase: 'ended' }>['outcome']): string | null {
  if (failureClass(outcome) !== null) return null;
  return outcome.kind === 'killed' ? 'was killed; resume it' : 'is done';
}

function holdRefusal({ state, hold }: Run): string | null {
  if (state.phase === 'ended') return 'has ended';
  if (state.phase !== 'waiting') return stoppingRefusal(state.phase, 'is stopping') ?? 'is running; pause it instead';
  return hold === null ? null : 'is held already';
}

function pauseRefusal({ state }: Run): string | null {
  switch (state.phase) {
    case 'waiting':
      return 'is not running; hold it instead';
    case 'starting':
      return 'is only just starting; ask again in a moment';
    case 'running':
      return state.pausedAt === null ? null : 'is paused already';
    case 'ended':
      return 'has ended';
    default:
      return 'is stopping';
  }
}

function priorityRefusal({ state, priority }: Run, wanted: number): string | null {
  if (state.phase === 'ended') return 'has ended';
  return priority === wanted ? 'has that priority already' : null;
}

function upRefusal(state: Run['state']): string {
  if (state.phase === 'running' && state.pausedAt !== null) return 'is paused; continue it';
  return stoppingRefusal(state.phase, 'is still stopping') ?? 'is running';
}

function stoppingRefusal(phase: Run['state']['phase'], words: string): string | null {
  return phase === 'stopping' || phase === 'killing' ? words : null;
}
