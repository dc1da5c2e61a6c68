import { basename } from 'node:path';
import { recognised } from './detection.js';
import type { NamedWriter } from './formats/format.js';
import { formatNamed, metricFormats } from './formats/registry.js';
import { foundFile } from './run-folders.js';

export type { NamedWriter } from './formats/format.js';

/** What can be told of a file by itself, wherever it lies, for who wants to know whose it is. */

/** Whether it may hold metrics, by its name. */
export function isMetricsName(path: string): boolean {
  return formatNamed(basename(path)) !== null;
}

/** The process that writes it, as its name has it; null: that does not say. */
export function writerIn(path: string): NamedWriter | null {
  const name = basename(path);
  return formatNamed(name)?.writerIn?.(name) ?? null;
}

/**
 * What it is a part of: files of the same source are read as one. Null: it is by itself; undefined: it has no metrics, or none
 * yet.
 */
export function sourceOf(path: string): string | null | undefined {
  const { recognition } = recognised(foundFile(path), formats);
  return recognition.is === 'yes' ? (recognition.source ?? null) : undefined;
}

const formats = metricFormats();
