import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { sweepFiles } from '../contract/files.js';
import { statRegular, textOrNull } from './regular-file.js';
import { writeWhole } from './whole-file.js';

/** Bytes: more than a sweep file may have. */
const MOST = 2 ** 26;

/**
 * Keeps the text of a sweep file as it was submitted, for whoever reads the runs later. Whole or not at all. Another text
 * that is there stays beside it, under the time at which it was written.
 */
export function writeSweepText(sweepDirectory: string, text: string): void {
  mkdirSync(sweepDirectory, { recursive: true });
  const path = join(sweepDirectory, sweepFiles.text);
  const before = textOrNull(path, MOST);
  if (before === text) return;
  if (before !== null) keep(formerPath(sweepDirectory), before);
  keep(path, text);
}

/** Keeps where the text came from. @param path Absolute. */
export function writeSweepOrigin(sweepDirectory: string, path: string): void {
  keep(join(sweepDirectory, sweepFiles.origin), `${path}\n`);
}

/** Where the text came from that was submitted last; null: that is not known. */
export function sweepOrigin(sweepDirectory: string): string | null {
  return textOrNull(join(sweepDirectory, sweepFiles.origin), MOST)?.replace(/\n$/, '') ?? null;
}

/** What a launch said beside the file: `--set`, as typed, and `--per-gpu`. */
const SaidAtLaunch = z.looseObject({
  set: z.array(z.string()).default([]),
  perGpu: z.int().positive().optional(),
  fromSeeds: z.array(z.string()).catch([]),
});
export type SaidAtLaunch = { readonly set: readonly string[]; readonly perGpu?: number | undefined };

/** Keeps what a launch said beside the file, and which parameters the file computes from seeds: those who read the runs do not read the file. */
export function writeSaidAtLaunch(
  sweepDirectory: string,
  said: SaidAtLaunch & { readonly fromSeeds: readonly string[] },
): void {
  keep(join(sweepDirectory, sweepFiles.launch), `${JSON.stringify(said)}\n`);
}

/** What the last launch said beside the file; nothing where that is not known. */
export function saidAtLaunch(sweepDirectory: string): SaidAtLaunch {
  const { set, perGpu } = keptAtLaunch(sweepDirectory);
  return { set, ...(perGpu === undefined ? {} : { perGpu }) };
}

/** Parameters that the sweep file computes from seeds; none where that is not known, as of a launch by an older version. */
export function computedFromSeeds(sweepDirectory: string): readonly string[] {
  return keptAtLaunch(sweepDirectory).fromSeeds;
}

function keptAtLaunch(sweepDirectory: string): z.infer<typeof SaidAtLaunch> {
  const text = textOrNull(join(sweepDirectory, sweepFiles.launch), MOST);
  const said = SaidAtLaunch.safeParse(text === null ? null : jsonOf(text));
  return said.success ? said.data : { set: [], fromSeeds: [] };
}

/** Undefined: it is none. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The file that was submitted last, if it was another one than `path` and its text differs from `text`; else null. */
export function otherOrigin(sweepDirectory: string, path: string, text: string): string | null {
  const known = sweepOrigin(sweepDirectory);
  if (known === null || known === path) return null;
  return textOrNull(join(sweepDirectory, sweepFiles.text), MOST) === text ? null : known;
}

/** `sweep-20261122-043000.yaml`, of the time at which the text was written (UTC); with a number where there is one. */
function formerPath(sweepDirectory: string): string {
  const found = statRegular(join(sweepDirectory, sweepFiles.text));
  const time = found.kind === 'file' ? found.stat.mtime.toISOString() : '';
  const stem = `sweep-${time.replace(/[-:]/g, '').replace('T', '-').slice(0, 15)}`;
  for (let number = 1; ; number += 1) {
    const path = join(sweepDirectory, `${stem}${number === 1 ? '' : `-${number}`}.yaml`);
    if (!existsSync(path)) return path;
  }
}

/** Two programs may launch it at once. */
function keep(path: string, text: string): void {
  writeWhole(path, text, { draft: `${path}.${randomUUID()}.new` });
}
