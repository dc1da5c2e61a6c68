import { isUnhealthy, type RunHealth } from '../../base/run-words.js';
import type { RunSummary, RunWord } from '../state/port.js';
import type { Tone } from '../surface/span.js';

/** The symbol and tone of each state. Either alone identifies the state. */
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

/** The symbol of a run with a problem that its state does not show. */
export const unhealthyGlyph = '!';

const lostForGood: ReadonlySet<RunHealth> = new Set(['nan', 'diverging', 'diverged', 'collapsed']);

/** The tone of a health problem; a permanent loss looks worse than a problem that may pass. */
export function healthTone(health: RunHealth): Tone {
  return lostForGood.has(health) ? 'bad' : 'warn';
}

/** The symbol of a run: that of its state, or `unhealthyGlyph`. */
export function runLook(run: Pick<RunSummary, 'state' | 'health'>): { glyph: string; tone: Tone } {
  const isSignOfState = !isUnhealthy(run) || (run.state !== 'running' && run.state !== 'done');
  return isSignOfState ? stateLook[run.state] : { glyph: unhealthyGlyph, tone: healthTone(run.health) };
}

/** States in the order in which they need attention. */
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

/** States in the order of a run's life, for counts. */
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
