import { isUnhealthy, type RunHealth } from '../../base/run-words.js';
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

/** The sign of a run with which something is wrong that its state does not tell. */
export const unhealthyGlyph = '!';

const lostForGood: ReadonlySet<RunHealth> = new Set(['nan', 'diverging', 'diverged', 'collapsed']);

/** What is lost for good is worse than what may come right. */
export function healthTone(health: RunHealth): Tone {
  return lostForGood.has(health) ? 'bad' : 'warn';
}

/** The sign of a run: that of its state, or that something is wrong with it. */
export function runLook(run: Pick<RunSummary, 'state' | 'health'>): { glyph: string; tone: Tone } {
  const isSignOfState = !isUnhealthy(run) || (run.state !== 'running' && run.state !== 'done');
  return isSignOfState ? stateLook[run.state] : { glyph: unhealthyGlyph, tone: healthTone(run.health) };
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
