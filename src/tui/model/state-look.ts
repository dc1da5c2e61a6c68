import type { RunHealth } from '../../base/run-words.js';
import type { RunSummary, RunWord } from '../state/port.js';
import type { Tone } from '../surface/span.js';

/** The sign of each state. Shape and colour both tell it, so either may be missing. */
export const stateLook: Record<RunWord, { glyph: string; tone: Tone }> = {
  queued: { glyph: '○', tone: 'wait' },
  starting: { glyph: '◐', tone: 'busy' },
  running: { glyph: '●', tone: 'busy' },
  paused: { glyph: '◫', tone: 'warn' },
  stopping: { glyph: '◑', tone: 'warn' },
  done: { glyph: '✓', tone: 'good' },
  failed: { glyph: '✗', tone: 'bad' },
  killed: { glyph: '■', tone: 'warn' },
  lost: { glyph: '?', tone: 'bad' },
  held: { glyph: '‖', tone: 'warn' },
};

/** The sign of a run that is up, and with which something is wrong. */
export const unhealthyGlyph = '!';

/** What is lost for good is worse than what may come right. */
export function healthTone(health: RunHealth): Tone {
  return health === 'nan' || health === 'diverging' ? 'bad' : 'warn';
}

/** The sign of a run: that of its state, or that something is wrong with it. */
export function runLook({ state, health }: Pick<RunSummary, 'state' | 'health'>): { glyph: string; tone: Tone } {
  const isUnhealthy = state === 'running' && health !== 'ok';
  return isUnhealthy ? { glyph: unhealthyGlyph, tone: healthTone(health) } : stateLook[state];
}

/** What wants a person's eye first comes first. */
export const statesByUrgency: readonly RunWord[] = [
  'failed',
  'lost',
  'held',
  'killed',
  'stopping',
  'paused',
  'running',
  'starting',
  'queued',
  'done',
];

/** In the order of a run's life, for counts. */
export const statesInOrder: readonly RunWord[] = [
  'running',
  'starting',
  'paused',
  'stopping',
  'queued',
  'held',
  'done',
  'failed',
  'killed',
  'lost',
];
