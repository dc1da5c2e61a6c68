/** The states of a run, as `status --json`, the window and the query language write them. */
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

/** The ways in which a run can end. */
export const exitClasses = ['done', 'failed', 'signal', 'oom', 'timeout', 'killed', 'lost'] as const;

/**
 * The health of a run, as far as it can be seen from outside. Where several words apply, the first of them is shown: what cannot be
 * repaired comes first, and a cause before its effects. `diverging` and the words after `limit` apply to runs that are up,
 * `diverged` to runs that have ended, `nan`, `collapsed` and `limit` to both.
 */
export const runHealths = [
  'ok',
  'nan',
  'diverging',
  'diverged',
  'collapsed',
  'limit',
  'disk',
  'silent',
  'idle',
  'slow',
] as const;
export type RunHealth = (typeof runHealths)[number];
/** All words for a run that is not healthy. */
export const ailments = runHealths.filter((word) => word !== 'ok');
export type Ailment = Exclude<RunHealth, 'ok'>;
/** The words for values that say nothing of a setting but that it broke. */
const brokenHealths: readonly RunHealth[] = ['nan', 'diverging', 'diverged', 'collapsed'];
/** The words that a run keeps after its end, as its state does not show them. */
const lastingHealths: readonly RunHealth[] = [...brokenHealths.filter((word) => word !== 'diverging'), 'limit'];

/** Words of older versions, and their present equivalents. Sweep files, queries, saved views and supervisors may still use them. */
export const formerHealths = { stalled: 'silent' } as const satisfies Readonly<Record<string, Ailment>>;

/** The states that a run does not leave without a request. */
export const endStates = ['done', 'failed', 'killed', 'lost'] as const satisfies readonly RunWord[];
type EndState = (typeof endStates)[number];

/** Whether a run in this state has ended, successfully or not. */
export function hasEnded(state: RunWord): state is EndState {
  return endStates.some((each) => each === state);
}

/**
 * Whether the health of a run is shown beside its state: while it runs, and after its end where its state hides a lasting problem.
 * For a failed run the reason of the failure says more.
 */
export function isUnhealthy({ state, health }: { readonly state: RunWord; readonly health: RunHealth }): boolean {
  if (state === 'running') return health !== 'ok';
  return (state === 'done' || state === 'killed') && lastingHealths.includes(health);
}

/** Whether the values of a run say nothing of its setting but that it broke: it diverges, has diverged or collapsed, or is NaN. */
export function isBroken({ health }: { readonly health: RunHealth }): boolean {
  return brokenHealths.includes(health);
}

/** The error of a run that failed; null: it has not failed, or the error is unknown. `reason`: why the run is in its state. */
export function errorOf({ state, reason }: { readonly state: RunWord; readonly reason: string | null }): string | null {
  return state === 'failed' || state === 'lost' ? reason : null;
}

/**
 * What a run that has not begun waits for, in words that are equal for all runs that wait for the same: without the number of its job.
 * null: it has begun, or nothing is known.
 */
export function waitOf({ state, reason }: { readonly state: RunWord; readonly reason: string | null }): string | null {
  if (state === 'queued' || reason === null) return state === 'queued' ? reason : null;
  return state === 'starting' ? (/Slurm job \S+ waits \((.*)\)$/.exec(reason)?.[1] ?? null) : null;
}

/** The state that an exit class leads to. */
export function endStateOf(kind: (typeof exitClasses)[number]): EndState {
  return kind === 'signal' || kind === 'oom' || kind === 'timeout' ? 'failed' : kind;
}

/** The number of runs in each state that some are in. */
export function countStates(runs: readonly { readonly state: RunWord }[]): Partial<Record<RunWord, number>> {
  const counts: Partial<Record<RunWord, number>> = {};
  for (const { state } of runs) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** The share of its work that a run has done, 0 to 1: that which it last reported, and all of it where the run is done. */
export function progressOf({ state, progress }: { readonly state: RunWord; readonly progress: number | null }): number {
  return state === 'done' ? 1 : (progress ?? 0);
}
