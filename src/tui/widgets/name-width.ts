import { textWidth } from '../../text/display-width.js';

const least = 16;
const most = 40;

/** Columns for a list of names: those of the longest, within limits and within `room`. */
export function nameWidth(names: readonly string[], room: number): number {
  return Math.max(1, Math.min(most, room, Math.max(least, ...names.map(textWidth))));
}
