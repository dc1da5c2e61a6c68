import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

/** A row of measurements. NaN and the infinities are written as null, since JSON has no notation for them. */
export type Row = Readonly<Record<string, number | null>>;

/** Appends one row: one line of JSON, `step` first. */
export function appendRow(path: string, row: Row): void {
  // JSON.stringify writes non-finite numbers as null.
  appendJsonLine(path, row);
}

/** Any object with its `step`, as a line of JSON. */
export function appendJsonLine(path: string, row: { readonly step?: unknown }): void {
  appendFileSync(path, `${JSON.stringify(row)}\n`);
}

/**
 * Keeps only the rows of steps before `step`, for a run that resumes there: rows after its last checkpoint will be
 * written again. An incomplete line is removed too. The file is replaced by a rename.
 */
export function dropRowsFrom(path: string, step: number): void {
  if (!existsSync(path)) return;
  const text = readFileSync(path, 'utf8');
  const kept = text
    .split('\n')
    .filter((line) => isBefore(line, step))
    .map((line) => `${line}\n`)
    .join('');
  if (kept === text) return;
  const replacement = `${path}.new`;
  writeFileSync(replacement, kept);
  renameSync(replacement, path);
}

function isBefore(line: string, step: number): boolean {
  try {
    const row = JSON.parse(line) as { step?: unknown } | null;
    return typeof row?.step === 'number' && row.step < step;
  } catch {
    return false;
  }
}
