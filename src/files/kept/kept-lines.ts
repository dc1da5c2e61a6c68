import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../../package.json' with { type: 'json' };
import { crc32c } from '../../contract/crc32c.js';
import { readRegular } from '../regular-file.js';

/**
 * Values that were computed from other files, kept as lines of a file: each has a checksum, as a damaged digit would be a wrong result,
 * and JSON, in which numbers may be infinite or NaN.
 */

/** Limits of a file in bytes, and of a line in characters. */
export const LARGEST_FILE = 64 << 20;
export const LONGEST_LINE = 256 << 10;

/** The line of a value, with its newline. */
export function keptLine(value: unknown): string {
  const json = JSON.stringify(value, withoutInfinities);
  return `${sumOf(json)} ${json}\n`;
}

/** The values in a file, in its order; what is damaged or foreign is left out, and a file that cannot be read has none. */
export function keptValues(path: string, limit = LARGEST_FILE): unknown[] {
  const read = readRegular(path, limit, { noLink: true });
  return read.kind === 'text' ? read.text.split('\n').flatMap(valueIn) : [];
}

/** A text that stands for data: that of other data is another one. */
export function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64');
}

/** Identifies the build of the program, as another one may compute other values from the same files. @param url That of a module. */
export function buildOf(url: string): string {
  const { size, mtimeMs } = statSync(fileURLToPath(url));
  return `${packageJson.version} ${size} ${mtimeMs}`;
}

function valueIn(line: string): unknown[] {
  const json = line.slice(line.indexOf(' ') + 1);
  if (line !== `${sumOf(json)} ${json}`) return [];
  try {
    return [JSON.parse(json, withInfinities)];
  } catch {
    // The line is foreign.
    return [];
  }
}

function sumOf(text: string): string {
  const bytes = Buffer.from(text);
  return crc32c(bytes, 0, bytes.length).toString(16).padStart(8, '0');
}

/** JSON has no NaN and no infinities, so they are stored as objects of a form that no value contains. */
function withoutInfinities(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? { notFinite: String(value) } : value;
}

function withInfinities(_key: string, value: unknown): unknown {
  const { notFinite } = (value ?? {}) as { readonly notFinite?: unknown };
  return typeof notFinite === 'string' ? Number(notFinite) : value;
}
