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
 * How a run does, as far as that can be seen from outside. Where several words hold, the first of them is the run's: what cannot
 * be made good comes first, and a cause before its effects. `diverging` and what follows `collapsed` are said of runs that are up,
 * `diverged` and `collapsed` of runs that have ended.
 */
export const runHealths = [
  'ok',
  'nan',
  'diverging',
  'diverged',
  'collapsed',
  'disk',
  'silent',
  'idle',
  'slow',
] as const;
export type RunHealth = (typeof runHealths)[number];
/** What may be wrong with it. */
export const ailments = runHealths.filter((word) => word !== 'ok');
export type Ailment = Exclude<RunHealth, 'ok'>;
/** The words that a run keeps when it has ended: its state alone would hide them. */
const lastingHealths: readonly RunHealth[] = ['nan', 'diverged', 'collapsed'];

/** Words of older versions, and what is meant now. Sweep files, queries, saved views and supervisors may still have them. */
export const formerHealths = { stalled: 'silent' } as const satisfies Readonly<Record<string, Ailment>>;

/** The states that a run does not leave by itself. */
export const endStates = ['done', 'failed', 'killed', 'lost'] as const satisfies readonly RunWord[];
type EndState = (typeof endStates)[number];

/** Whether a run in this state is over, well or not: nothing of it runs, and nothing is waited for. */
export function hasEnded(state: RunWord): state is EndState {
  return endStates.some((each) => each === state);
}

/**
 * Whether the word for how a run does is to be told beside its state: while it runs, and when it ended so that its state hides
 * what lasts. How a run failed says more.
 */
export function isUnhealthy({ state, health }: { readonly state: RunWord; readonly health: RunHealth }): boolean {
  if (state === 'running') return health !== 'ok';
  return (state === 'done' || state === 'killed') && lastingHealths.includes(health);
}

/** What a run said when it failed; null: it has not failed, or nobody knows. `reason`: why it is in its state. */
export function errorOf({ state, reason }: { readonly state: RunWord; readonly reason: string | null }): string | null {
  return state === 'failed' || state === 'lost' ? reason : null;
}

/** The state that an exit class puts a run in. */
export function endStateOf(kind: (typeof exitClasses)[number]): EndState {
  return kind === 'signal' || kind === 'oom' || kind === 'timeout' ? 'failed' : kind;
}
