/** The words for where a run is. `status --json`, the window and the query language use these. */
export const runStates = [
  'queued',
  'starting',
  'running',
  'paused',
  'stopping',
  'done',
  'failed',
  'killed',
  'lost',
  'held',
] as const;
export type RunWord = (typeof runStates)[number];

/** How a run ended. */
export const exitClasses = ['done', 'failed', 'signal', 'oom', 'timeout', 'killed', 'lost'] as const;

/**
 * How a run does that goes on, as far as that can be seen from outside. Where several hold, the first of them is its word: what
 * cannot be made good comes first, and a cause before its effects.
 */
export const runHealths = ['ok', 'nan', 'diverging', 'disk', 'silent', 'idle', 'slow'] as const;
export type RunHealth = (typeof runHealths)[number];
/** What may be wrong with it. */
export const ailments = ['nan', 'diverging', 'disk', 'silent', 'idle', 'slow'] as const satisfies readonly RunHealth[];
export type Ailment = (typeof ailments)[number];

/** Words of older versions, and what is meant now. Sweep files, queries, saved views and supervisors may still have them. */
export const formerHealths = { stalled: 'silent' } as const satisfies Readonly<Record<string, Ailment>>;

/** The states that a run does not leave by itself. */
export const endStates = ['done', 'failed', 'killed', 'lost'] as const satisfies readonly RunWord[];
type EndState = (typeof endStates)[number];

/** Whether a run in this state is over, well or not: nothing of it runs, and nothing is waited for. */
export function hasEnded(state: RunWord): state is EndState {
  return endStates.some((each) => each === state);
}

/** What a run said when it failed; null: it has not failed, or nobody knows. `reason`: why it is in its state. */
export function errorOf({ state, reason }: { readonly state: RunWord; readonly reason: string | null }): string | null {
  return state === 'failed' || state === 'lost' ? reason : null;
}

/** The state that an exit class puts a run in. */
export function endStateOf(kind: (typeof exitClasses)[number]): EndState {
  return kind === 'signal' || kind === 'oom' || kind === 'timeout' ? 'failed' : kind;
}
