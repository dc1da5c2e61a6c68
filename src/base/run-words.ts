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

/** How a run came to its end. */
export const exitClasses = ['done', 'failed', 'signal', 'oom', 'timeout', 'killed', 'lost'] as const;

/** What the metrics of a live run say of it. */
export const runHealths = ['ok', 'stalled', 'nan'] as const;
