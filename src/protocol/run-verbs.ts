import type { RunSummary } from './run-summary.js';

/** What can be asked of runs; the same words on the command line and in the window. */
export const runVerbs = ['kill', 'resume', 'retry', 'hold', 'release', 'pause', 'continue'] as const;
export type RunVerb = (typeof runVerbs)[number];

/** Whether a verb makes sense for a run. The supervisor has the last word: the run may have moved on. */
export const suits: Readonly<Record<RunVerb, (run: RunSummary) => boolean>> = {
  kill: ({ state }) => !isOver(state) && state !== 'stopping',
  resume: (run) => (isOver(run.state) && run.state !== 'done') || awaitsRetry(run),
  retry: (run) => run.state === 'failed' || run.state === 'lost' || run.state === 'held' || awaitsRetry(run),
  hold: ({ state }) => state === 'queued',
  release: ({ state }) => state === 'held',
  pause: ({ state }) => state === 'running',
  continue: ({ state }) => state === 'paused',
};

/** Whether its place in the queue can still be changed to this one. */
export function takesPriority({ state, priority }: RunSummary, wanted: number): boolean {
  return !isOver(state) && priority !== wanted;
}

function isOver(state: RunSummary['state']): boolean {
  return state === 'done' || state === 'failed' || state === 'killed' || state === 'lost';
}

/** It waits for its next automatic try, and need not wait any longer. */
function awaitsRetry({ state, retryAt }: RunSummary): boolean {
  return state === 'queued' && retryAt !== null;
}
