import { basename } from 'node:path';
import { recognised } from './detection.js';
import type { NamedWriter } from './formats/format.js';
import { formatNamed, metricFormats } from './formats/registry.js';
import { foundFile } from './run-folders.js';

export type { NamedWriter } from './formats/format.js';

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

const formats = metricFormats();
