import type { RunWord } from '../../client/fleet.js';
import type { Painted } from '../terminal.js';

/** Colours of the terminal's own palette. */
const codes = { good: '32', bad: '31', warn: '33', busy: '36', dim: '2' } as const;
export type Tone = keyof typeof codes;

export const toneOf: Readonly<Record<RunWord, Tone>> = {
  queued: 'dim',
  starting: 'busy',
  running: 'busy',
  paused: 'warn',
  stopping: 'warn',
  held: 'warn',
  done: 'good',
  failed: 'bad',
  lost: 'bad',
  killed: 'warn',
};

/** The text in a colour. */
export function painted(text: string, tone: Tone): Painted {
  return { text, look: codes[tone] };
}
