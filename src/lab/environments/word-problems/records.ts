import { readFileSync } from 'node:fs';
import { errorText, UserError } from '../../../base/user-error.js';
import { sizeText } from '../../../text/numbers.js';

/**
 * The rows of a data set in a local file: JSON lines, or parquet as on the Hugging Face Hub.
 *
 * @throws UserError that names the file, and the line where there is one.
 */
export async function readRecords(path: string): Promise<Record<string, unknown>[]> {
  if (path.toLowerCase().endsWith('.parquet')) return readParquet(path);
  const lines = readLines(path);
  return lines.flatMap((line, index) => (line.trim() === '' ? [] : [recordIn(line, `${path}:${index + 1}`)]));
}

/** Limits of a parquet file: a few MB of equal rows may hold billions, all of which would be in memory. */
const MOST_ROWS = 2_000_000;
const MOST_BYTES = 2 ** 30;

async function readParquet(path: string): Promise<Record<string, unknown>[]> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    requireSmall(path, Number(metadata.num_rows), metadata.row_groups);
    return await parquetReadObjects({ file, metadata });
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${path} cannot be read as parquet: ${errorText(cause)}.`,
      'Give a file that is there, uncompressed or compressed by Snappy; or JSON lines.',
      { cause },
    );
  }
}

function requireSmall(path: string, rows: number, groups: readonly { readonly total_byte_size: bigint }[]): void {
  const bytes = groups.reduce((sum, { total_byte_size: size }) => sum + Number(size), 0);
  if (rows <= MOST_ROWS && bytes <= MOST_BYTES) return;
  throw new UserError(
    `${path} has ${rows} rows of ${sizeText(bytes)} unpacked; at most ${MOST_ROWS} rows of ${sizeText(MOST_BYTES)} are read.`,
    'Give a part of it.',
  );
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${errorText(cause)}.`, 'Check the path.', { cause });
  }
}

function recordIn(line: string, where: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(line);
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Record<string, unknown>;
  } catch {
    // The error is thrown below.
  }
  throw new UserError(
    `${where} is not a JSON object.`,
    'Each line must be one, such as {"question": "…", "answer": "…"}.',
  );
}
