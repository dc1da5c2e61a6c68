import { writeFileSync } from 'node:fs';
import { UserError } from '../../base/user-error.js';
import { type ExportedSweep, exportLines, type TextFormat } from '../export/export-lines.js';
import type { RunValue } from '../../analysis/run-value.js';
import { writeOutput } from '../../files/output-file.js';
import { runsDirectory, type CommonOptions } from '../options.js';
import { at } from '../ports.js';
import { supervisedRuns } from '../print-report.js';
import { runValueOf } from '../run-value.js';
import { sweepDirectory } from '../sweep-directory.js';
import { printData, remark } from '../terminal.js';
import { foundRuns, viewedPaths } from '../viewed-paths.js';

type ExportFormat = TextFormat | 'parquet';

type ExportOptions = Pick<CommonOptions, 'runs'> & {
  format?: ExportFormat;
  metrics?: 'last' | 'all';
  value?: string;
  output?: string;
};

/** Number of characters written at once. */
const BATCH = 1 << 16;

/**
 * `memrl-tui export SWEEP`: its runs as a table for other programs. Works without a supervisor, which knows the states better, and the
 * runs that have not begun.
 */
export async function exportSweep([name]: readonly string[], options: ExportOptions): Promise<number> {
  if (options.metrics === 'all' && options.value !== undefined)
    throw new UserError('--metrics all has every value.', 'Leave out --value.');
  const metrics = options.metrics === 'all' ? 'all' : runValueOf(options.value, name!, options);
  const sweep = await exported(name!, options);
  const format = options.format ?? formatOf(options.output);
  if (format === 'parquet') return toParquet(sweep, metrics, options);
  const lines = exportLines(sweep, format, metrics);
  if (options.output === undefined) await toOutput(lines);
  else
    remark(
      `${writeOutput(options.output, (file) => writeLines(file, lines), at(options.output))} lines in ${options.output}.`,
    );
  return 0;
}

/** The sweep, or the folder of runs. */
async function exported(name: string, options: ExportOptions): Promise<ExportedSweep> {
  const [viewed] = viewedPaths([name], options).paths;
  if (viewed !== undefined) return { name: viewed.label, directory: viewed.path, found: await foundRuns([viewed]) };
  const runs = runsDirectory(options.runs);
  const directory = sweepDirectory(runs, name);
  return { name, directory, known: await supervisedRuns(runs, name) };
}

/** By the ending of the file's name. */
function formatOf(output: string | undefined): ExportFormat {
  const ending = /\.(csv|jsonl?|parquet)$/i.exec(output ?? '')?.[1];
  return (ending?.toLowerCase() as ExportFormat | undefined) ?? 'csv';
}

/** Writes a Parquet file; the writer is loaded on demand. */
async function toParquet(
  sweep: Parameters<typeof exportLines>[0],
  metrics: RunValue | 'all',
  { output }: ExportOptions,
): Promise<number> {
  if (output === undefined) {
    throw new UserError('Parquet is no text, and is not printed.', 'Name a file: `-o runs.parquet`.');
  }
  const { writeParquet } = await import('../export/parquet-file.js');
  remark(`${writeOutput(output, (file) => writeParquet(file, sweep, metrics), at(output))} rows in ${output}.`);
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

/** Writes to stdout, and waits for a slow reader instead of buffering everything. */
async function toOutput(lines: Iterable<string>): Promise<void> {
  for (const { text } of batches(lines)) await printData(text);
}

function writeLines(descriptor: number, lines: Iterable<string>): number {
  let total = 0;
  for (const { text, count } of batches(lines)) {
    writeFileSync(descriptor, text);
    total += count;
  }
  return total;
}
