import { readFileSync } from 'node:fs';
import { errorText, UserError } from '../../../base/user-error.js';

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

async function readParquet(path: string): Promise<Record<string, unknown>[]> {
  const { asyncBufferFromFile, parquetReadObjects } = await import('hyparquet');
  try {
    return await parquetReadObjects({ file: await asyncBufferFromFile(path) });
  } catch (cause) {
    throw new UserError(
      `${path} cannot be read as parquet: ${errorText(cause)}.`,
      'Give a file that is there, uncompressed or compressed by Snappy; or JSON lines.',
      { cause },
    );
  }
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
    // Said below.
  }
  throw new UserError(
    `${where} is no JSON object.`,
    'Each line must be one, such as {"question": "…", "answer": "…"}.',
  );
}
