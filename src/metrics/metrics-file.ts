import { basename } from 'node:path';
import { smallBounds } from './curve.js';
import { isAxis } from './row-numbers.js';
import { recognised } from './detection.js';
import { isDatabase } from './formats/databases/database.js';
import { formatsOfBegun } from './formats/databases/database-runs.js';
import type { NamedWriter } from './formats/format.js';
import { formatNamed, metricFormats } from './formats/registry.js';
import { foundFile } from './run-folders.js';
import { Source } from './source.js';

/** Facts about a single file, wherever it is, that help to find the run it belongs to. */

/** Whether a file may hold metrics, by its name. */
export function isMetricsName(path: string): boolean {
  return formatNamed(basename(path)) !== null;
}

/** The process that writes a file, by its name; null: the name does not tell. */
export function writerIn(path: string): NamedWriter | null {
  const name = basename(path);
  return formatNamed(name)?.writerIn?.(name) ?? null;
}

/**
 * The id of the source that a file is a part of: files of the same source are read together. Null: it is a source of its own;
 * undefined: it has no metrics, or none yet.
 */
export function sourceOf(path: string): string | null | undefined {
  const { recognition } = recognised(foundFile(path), formats);
  return recognition.is === 'yes' ? (recognition.source ?? null) : undefined;
}

/** Whether a database has runs that the run in this directory has begun, which are read although others write to it, too. */
export function hasRunsOf(directory: string, path: string): boolean {
  return isDatabase(path) && recognised(foundFile(path), formatsOfBegun(directory)).recognition.is === 'yes';
}

/** Names of the curves at the beginning of a file: metrics with several points. */
export function curvesIn(path: string): string[] {
  const { recognition, format } = recognised(foundFile(path), formats);
  if (recognition.is !== 'yes' || format === null) return [];
  const found = { id: path, format, why: recognition.why, paths: [path], places: [path], attempt: 0 };
  const source = new Source(found, smallBounds, false);
  source.read(BEGINNING, null, () => undefined);
  return source.keys().filter((key) => !isAxis(key) && source.table.series(key).y.length > 1);
}

/** Bytes. */
const BEGINNING = 64 << 10;

/** Whether metrics by these names include all the curves, also where another logger spells them otherwise (`train/loss`, `loss`). */
export function hasCurves(names: Iterable<string>, curves: readonly string[]): boolean {
  const own = new Set([...names].map(spelled));
  return curves.length > 0 && curves.every((name) => own.has(spelled(name)));
}

function spelled(name: string): string {
  return name
    .replace(/^train\//, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const formats = metricFormats();
