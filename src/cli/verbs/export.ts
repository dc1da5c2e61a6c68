import { closeSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { exportLines, type ExportFormat } from '../export/export-lines.js';
import { runsDirectory, type CommonOptions } from '../options.js';
import { runValueOf } from '../run-value.js';
import { sweepDirectory } from '../sweep-directory.js';
import { printData, remark } from '../terminal.js';

type ExportOptions = Pick<CommonOptions, 'runs'> & {
  format?: ExportFormat;
  metrics?: 'last' | 'all';
  value?: string;
  output?: string;
};

/** Characters written at once. */
const BATCH = 1 << 16;

/** `memrl-tui export SWEEP`: its runs as a table for other programs. Reads files only; needs no supervisor. */
export async function exportSweep([name]: readonly string[], options: ExportOptions): Promise<number> {
  const directory = sweepDirectory(runsDirectory(options.runs), name!);
  if (options.metrics === 'all' && options.value !== undefined)
    throw new UserError('--metrics all has every value.', 'Leave out --value.');
  const metrics = options.metrics === 'all' ? 'all' : runValueOf(options.value, name!, options);
  const lines = exportLines({ name: name!, directory }, options.format ?? 'csv', metrics);
  if (options.output === undefined) await toOutput(lines);
  else remark(`${toFile(options.output, lines)} lines in ${options.output}.`);
  return 0;
}

function* batches(lines: Iterable<string>): Generator<{ text: string; count: number }> {
  let text = '';
  let count = 0;
  for (const line of lines) {
    text += `${line}\n`;
    count += 1;
    if (text.length < BATCH) continue;
    yield { text, count };
    text = '';
    count = 0;
  }
  yield { text, count };
}

/** Waits for a slow reader instead of keeping everything for it. */
async function toOutput(lines: Iterable<string>): Promise<void> {
  for (const { text } of batches(lines)) await printData(text);
}

/** Writes beside the file and moves it into place, so that there is never half of it. Gives the number of lines. */
function toFile(path: string, lines: Iterable<string>): number {
  const part = `${path}.part`;
  let total = 0;
  try {
    const descriptor = openSync(part, 'w');
    try {
      for (const { text, count } of batches(lines)) {
        writeFileSync(descriptor, text);
        total += count;
      }
    } finally {
      closeSync(descriptor);
    }
    renameSync(part, path);
    return total;
  } catch (cause) {
    rmSync(part, { force: true });
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new UserError(`Cannot write ${path}: ${message}.`, 'Name another file with -o, or make room for it.', {
      cause,
    });
  }
}
