import type { WrittenRow } from './formats/format.js';

const timeKeys = ['_timestamp', 'timestamp', 'wall_time', 'time', 'ts'];

/** When a row was written by its own fields, Unix ms; null: it has no time. A small number is not a date but a duration. */
export function timeOf(row: WrittenRow): number | null {
  for (const key of timeKeys) {
    const time = row[key];
    if (typeof time === 'number' && time > 1e9) return time > 1e11 ? time : time * 1000;
    if (typeof time === 'string' && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  }
  return null;
}
