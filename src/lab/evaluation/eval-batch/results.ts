/**
 * The files of an evaluation of checkpoints:
 *
 *   step_000010/records.jsonl.gz     a line for each prompt: answers, log-probabilities, entropies
 *   step_000010/metrics.csv          a row for each prompt
 *   step_000010/run_meta.json        the subject, the settings and the means
 *   consolidated_metrics.csv         all rows of all steps, with the step as a whole number
 *   metrics.jsonl                    the means of each step
 *
 * Several processes may each evaluate some of the steps: a step appears whole or not at all, and every process that
 * has finished one consolidates the steps that are there.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import * as z from 'zod';
import { runFiles } from '../../../contract/files.js';
import { csvLine } from '../../../text/csv.js';
import { makeMissing } from '../../run/make-directory.js';
import type { Row } from '../../run/metrics-file.js';
import { readJson } from '../../run/read-json.js';

const files = { records: 'records.jsonl.gz', metrics: 'metrics.csv', meta: 'run_meta.json' } as const;
export const consolidatedFile = 'consolidated_metrics.csv';

/** `subject`: the model and the settings; results of another subject are replaced. */
export type Evaluated = {
  readonly step: number;
  readonly subject: Readonly<Record<string, unknown>>;
  readonly records: readonly object[];
  readonly rows: readonly Readonly<Record<string, number>>[];
  readonly means: Row;
};

const Meta = z.looseObject({
  step: z.int().nonnegative(),
  subject: z.record(z.string(), z.unknown()),
  means: z.record(z.string(), z.number().nullable()),
});

const nameOf = (step: number) => `step_${String(step).padStart(6, '0')}`;

/** Whether there is an evaluation of the same subject. */
export function isEvaluated(root: string, step: number, subject: Evaluated['subject']): boolean {
  const meta = Meta.safeParse(readJson(join(root, nameOf(step), files.meta)));
  return meta.success && JSON.stringify(meta.data.subject) === JSON.stringify(subject);
}

/** Writes the files of a step and moves them into place at once, over earlier ones. */
export function keepEvaluation(root: string, { step, subject, records, rows, means }: Evaluated): void {
  const target = join(root, nameOf(step));
  const draft = `${target}.new`;
  rmSync(draft, { recursive: true, force: true });
  makeMissing(draft);
  const columns = Object.keys(rows[0]!);
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvLine);
  writeFileSync(join(draft, files.records), gzipSync(records.map((record) => `${JSON.stringify(record)}\n`).join('')));
  writeFileSync(join(draft, files.metrics), `${lines.join('\n')}\n`);
  writeFileSync(join(draft, files.meta), `${JSON.stringify({ step, subject, means }, null, 2)}\n`);
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
}

/**
 * Consolidates the finished steps, again if another process has finished a step meanwhile.
 * @returns the means of each step, in order.
 */
export function consolidate(root: string): Row[] {
  for (;;) {
    const steps = evaluatedSteps(root);
    const rows = steps.map(({ step, means }): Row => ({ step, ...means }));
    replace(join(root, runFiles.metrics), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    replace(join(root, consolidatedFile), consolidatedText(root, steps));
    const names = (found: typeof steps) => found.map(({ name }) => name).join();
    if (names(steps) === names(evaluatedSteps(root))) return rows;
  }
}

type Step = z.infer<typeof Meta> & { readonly name: string };

function evaluatedSteps(root: string): Step[] {
  const found = readdirSync(root).flatMap((name) => {
    const meta = Meta.safeParse(/^step_\d+$/.test(name) ? readJson(join(root, name, files.meta)) : null);
    return meta.success && existsSync(join(root, name, files.metrics)) ? [{ ...meta.data, name }] : [];
  });
  return found.sort((a, b) => a.step - b.step);
}

/** Steps may lack columns that others have: fewer answers have fewer pass@k. */
function consolidatedText(root: string, steps: readonly Step[]): string {
  const tables = steps.map(({ name, step }) => {
    const [head, ...lines] = readFileSync(join(root, name, files.metrics), 'utf8')
      .trimEnd()
      .split('\n');
    return { name, step, columns: head!.split(','), rows: lines.map((line) => line.split(',')) };
  });
  const columns = [...new Set(tables.flatMap((table) => table.columns))];
  const lines = tables.flatMap(({ name, step, columns: own, rows }) => {
    const places = columns.map((column) => own.indexOf(column));
    return rows.map((row) => [step, name, ...places.map((at) => (at < 0 ? null : row[at]))]);
  });
  return [['step', 'eval_dir', ...columns], ...lines].map((line) => `${csvLine(line)}\n`).join('');
}

/** Replaces a file by a rename, from a draft that no other process writes. */
function replace(path: string, content: string): void {
  const draft = `${path}.${randomUUID()}.new`;
  writeFileSync(draft, content);
  renameSync(draft, path);
}
