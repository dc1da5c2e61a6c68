import { statRegular } from '../files/regular-file.js';
import { stepKeyOf, timeOf } from './row-numbers.js';
import { Detection, type FoundSource } from './detection.js';
import { isNamedBy, isOfEvaluation } from './curve-names.js';
import type { RowSink, WrittenRow } from './formats/format.js';
import { metricFormats } from './formats/registry.js';
import { declaredPlaces } from './run-places.js';

/**
 * A row as it was written. `step`: the value of its counter of steps. `time`: when it was written, Unix ms; null: it has no time.
 */
export type TimedRow = { values: WrittenRow; step: number | null; time: number | null };

/** Bytes read at once. */
const PART_BYTES = 1 << 20;

/**
 * All rows of the first source of a run that has the metric, in the order of writing, including those that a resumed run wrote
 * again. The name may begin with that of the file, see `CurveNames`.
 */
export function* writtenRows(runDirectory: string, metric: string): Generator<TimedRow> {
  const sources = sourcesOf(runDirectory);
  const ofTraining = sources.filter((source) => !isOfEvaluation(source));
  const ordered = [...new Set([...ofTraining, ...sources])];
  const parts = metric.split('/');
  for (let from = 0; from < parts.length; from++) {
    const [file, key] = [parts.slice(0, from), parts.slice(from)].map((each) => each.join('/')) as [string, string];
    const source = ordered.find((each) => (from === 0 || isNamedBy(each, file)) && has(each, key));
    if (source === undefined) continue;
    for (const row of rowsOf(source)) yield { ...row, values: { ...row.values, [metric]: row.values[key] } };
    return;
  }
}

function has(source: FoundSource, key: string): boolean {
  for (const { values } of rowsOf(source)) if (typeof values[key] === 'number') return true;
  return false;
}

/** When the run last wrote metrics, Unix ms; 0: never. */
export function lastWritten(runDirectory: string): number {
  const times = sourcesOf(runDirectory).flatMap(({ paths }) =>
    paths.map((path) => {
      const there = statRegular(path);
      return there.kind === 'file' ? there.stat.mtimeMs : 0;
    }),
  );
  return Math.max(0, ...times);
}

function sourcesOf(runDirectory: string): readonly FoundSource[] {
  const { folders, patterns } = declaredPlaces(runDirectory);
  const detection = new Detection(runDirectory, folders, metricFormats(patterns));
  do detection.look();
  while (detection.more);
  return detection.sources;
}

function* rowsOf(source: FoundSource): Generator<TimedRow> {
  const reader = source.format.open(source);
  const part: TimedRow[] = [];
  const row: RowSink['row'] = (values, time = NaN) => {
    part.push({ values, step: stepOf(values), time: Number.isNaN(time) ? timeOf(values) : time });
  };
  do {
    reader.read(PART_BYTES, { row, restart: () => void part.splice(0) });
    yield* part.splice(0);
  } while (reader.more);
}

function stepOf(row: WrittenRow): number | null {
  const counter = stepKeyOf(Object.keys(row), (key) => row[key]);
  const step = counter?.counts ? row[counter.key] : null;
  return typeof step === 'number' ? step : null;
}
