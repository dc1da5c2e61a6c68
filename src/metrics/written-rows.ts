import { statRegular } from '../files/regular-file.js';
import type { RowSink, WrittenRow } from './formats/format.js';
import { metricFormats } from './formats/registry.js';
import { stepKeyOf } from './metric-table.js';

/** A row as it was written. `step`: the value of its counter of steps. `time`: when it was written, if it says so, Unix ms. */
export type TimedRow = { values: WrittenRow; step: number | null; time: number | null };

/** Read at once, bytes. */
const PART_BYTES = 1 << 20;

/** All rows of a run in the order of writing, those too that a resumed run wrote again. */
export function* writtenRows(runDirectory: string): Generator<TimedRow> {
  for (const { detect, open } of metricFormats) {
    for (const path of detect(runDirectory)) {
      const reader = open(path);
      const part: WrittenRow[] = [];
      const sink: RowSink = { row: (row) => void part.push(row), restart: () => undefined };
      do {
        reader.read(PART_BYTES, sink);
        for (const row of part.splice(0)) yield { values: row, step: stepOf(row), time: timeOf(row) };
      } while (reader.more);
    }
  }
}

/** When the run wrote metrics last, Unix ms; 0: never. */
export function lastWritten(runDirectory: string): number {
  const paths = metricFormats.flatMap(({ detect }) => detect(runDirectory));
  const times = paths.map((path) => {
    const there = statRegular(path);
    return there.kind === 'file' ? there.stat.mtimeMs : 0;
  });
  return Math.max(0, ...times);
}

function stepOf(row: WrittenRow): number | null {
  const counter = stepKeyOf(Object.keys(row));
  const step = counter?.counts ? row[counter.key] : null;
  return typeof step === 'number' ? step : null;
}

const timeKeys = ['_timestamp', 'timestamp', 'wall_time', 'time', 'ts'];

/** Unix ms. A small number is no date but a time since the start, or that a step took. */
function timeOf(row: WrittenRow): number | null {
  for (const key of timeKeys) {
    const time = row[key];
    if (typeof time === 'number' && time > 1e9) return time > 1e11 ? time : time * 1000;
    if (typeof time === 'string' && !Number.isNaN(Date.parse(time))) return Date.parse(time);
  }
  return null;
}
