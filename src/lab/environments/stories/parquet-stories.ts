import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pid } from 'node:process';
import { errorText, UserError } from '../../../base/user-error.js';
import { makeDirectory } from '../../run/make-directory.js';

const columns = ['story', 'text'];

/**
 * Converts stories of a `.parquet` file, the format of the Hugging Face Hub, to JSON lines and returns their path;
 * returns any other path as it is. The lines are written once, into the folder for temporary files, since stories are
 * read synchronously, a few at a time.
 *
 * @throws UserError when the file is not parquet, or has no column of stories.
 */
export async function readableStories(path: string | null): Promise<string | null> {
  if (path === null || !path.toLowerCase().endsWith('.parquet')) return path;
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new UserError(`There is no file ${path}.`, 'Check the path.');
  const name = createHash('sha256')
    .update(`${resolve(path)}\n${stats.size}\n${stats.mtimeMs}`)
    .digest('hex')
    .slice(0, 16);
  const folder = join(tmpdir(), 'memrl-stories');
  const lines = join(folder, `${name}.jsonl`);
  if (existsSync(lines)) return lines;
  makeDirectory(folder, 'TMPDIR');
  // Each process writes its own draft, since runs may start together.
  const draft = `${lines}.${pid}`;
  try {
    await writeLines(path, draft);
    renameSync(draft, lines);
  } finally {
    rmSync(draft, { force: true });
  }
  return lines;
}

async function writeLines(path: string, target: string): Promise<void> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await import('hyparquet');
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    const column = columns.find((name) => metadata.schema.some((element) => element.name === name));
    if (column === undefined) throw new Error(`it has no column ${columns.join(' or ')}`);
    writeFileSync(target, '');
    let start = 0;
    for (const { num_rows: count } of metadata.row_groups) {
      const end = start + Number(count);
      const rows = await parquetReadObjects({ file, metadata, columns: [column], rowStart: start, rowEnd: end });
      const stories = rows.flatMap((row) => (typeof row[column] === 'string' ? [row[column]] : []));
      appendFileSync(target, stories.map((story) => `${JSON.stringify({ story })}\n`).join(''));
      start = end;
    }
  } catch (cause) {
    throw new UserError(
      `${path} cannot be read as stories: ${errorText(cause)}.`,
      'Give a parquet file with a column `story` or `text`, uncompressed or compressed by Snappy; or a .txt or .jsonl file.',
      { cause },
    );
  }
}
