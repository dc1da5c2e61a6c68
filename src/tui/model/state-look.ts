import type { RunWord } from '../state/port.js';
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
