import type { Ack, Fleet, RunSummary } from '../../client/fleet.js';
import { hasEnded } from '../plain/watched-run.js';

export type RunVerb = 'kill' | 'resume' | 'retry' | 'hold' | 'release' | 'pause' | 'continue' | 'priority';

/** Something to do to runs. */
export type RunAct = {
  readonly verb: RunVerb;
  /** Whether it makes sense for this run. The supervisor has the last word: the run may have moved on. */
  readonly fits: (run: RunSummary) => boolean;
  readonly ask: (fleet: Fleet, ids: readonly RunSummary['id'][]) => Promise<Ack>;
};

export const runActs: Readonly<Record<Exclude<RunVerb, 'priority'>, RunAct>> = {
  kill: {
    verb: 'kill',
    fits: (run) => !hasEnded(run) && run.state !== 'stopping',
    ask: (fleet, ids) => fleet.kill(ids),
  },
  resume: {
    verb: 'resume',
    fits: (run) => (hasEnded(run) && run.state !== 'done') || awaitsRetry(run),
    ask: (fleet, ids) => fleet.resume(ids),
  },
  retry: {
    verb: 'retry',
    fits: (run) => run.state === 'failed' || run.state === 'lost' || run.state === 'held' || awaitsRetry(run),
    ask: (fleet, ids) => fleet.retry(ids),
  },
  hold: { verb: 'hold', fits: ({ state }) => state === 'queued', ask: (fleet, ids) => fleet.hold(ids) },
  release: { verb: 'release', fits: ({ state }) => state === 'held', ask: (fleet, ids) => fleet.release(ids) },
  pause: { verb: 'pause', fits: ({ state }) => state === 'running', ask: (fleet, ids) => fleet.pause(ids) },
  continue: { verb: 'continue', fits: ({ state }) => state === 'paused', ask: (fleet, ids) => fleet.continue(ids) },
};

export function priorityAct(priority: number): RunAct {
  const fits = (run: RunSummary) => !hasEnded(run) && run.priority !== priority;
  return { verb: 'priority', fits, ask: (fleet, ids) => fleet.priority(ids, priority) };
}

function awaitsRetry({ state, retryAt }: RunSummary): boolean {
  return state === 'queued' && retryAt !== null;
}
