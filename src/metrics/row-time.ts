import type { WrittenRow } from './formats/format.js';

const timeKeys = ['_timestamp', 'timestamp', 'wall_time', 'time', 'ts'];

/** When a row says that it was written, Unix ms; null: it does not. A small number is no date but a time since the start, or that a step took. */
export function timeOf(row: WrittenRow): number | null {
  for (const key of timeKeys) {
    const time = row[key];
    if (typeof time === 'number' && time > 1e9) return time > 1e11 ? time : time * 1000;
    if (typeof time === 'string' && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  }
  return null;
}
