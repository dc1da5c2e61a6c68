import { randomUUID } from 'node:crypto';
import { type Dirent, existsSync, readdirSync, rmSync } from 'node:fs';
import { join, parse } from 'node:path';
import * as z from 'zod';
import { isStudyName, runFiles, sweepFiles, sweepTexts } from '../contract/files.js';
import { naturalOrder } from '../text/natural-order.js';
import { statRegular, textOrNull } from './regular-file.js';
import { writeWhole } from './whole-file.js';
import { makeFolder } from './make-folder.js';

/** Size limit in bytes, above that of a sweep file. */
const MOST = 2 ** 26;

/** The text of a sweep file and its path. */
type KeptText = { readonly path: string; readonly text: string };

/** The text that was submitted last; null: there is none. If a killed program left two, the later one. */
export function keptSweepText(sweepDirectory: string): KeptText | null {
  const kept = sweepTexts.flatMap((name) => {
    const path = join(sweepDirectory, name);
    const text = textOrNull(path, MOST);
    return text === null ? [] : [{ path, text }];
  });
  return kept.sort((a, b) => writtenAt(b.path) - writtenAt(a.path))[0] ?? null;
}

/**
 * Stores the text of a sweep file as it was submitted, atomically. A different earlier text is kept beside it, under the time at
 * which it was written.
 *
 * @param file The name of the file, whose ending tells how the text is parsed.
 */
export function writeSweepText(sweepDirectory: string, text: string, file: string): void {
  makeFolder(sweepDirectory);
  const path = join(sweepDirectory, /\.toml$/i.test(file) ? sweepFiles.toml : sweepFiles.text);
  const before = keptSweepText(sweepDirectory);
  if (before?.path === path && before.text === text) return;
  if (before !== null) keep(formerPath(before.path), before.text);
  keep(path, text);
  if (before !== null && before.path !== path) rmSync(before.path, { force: true });
}

/** Stores the path of the submitted file. @param path Absolute. */
export function writeSweepOrigin(sweepDirectory: string, path: string): void {
  keep(join(sweepDirectory, sweepFiles.origin), `${path}\n`);
}

/** The path of the file that was submitted last; null: unknown. */
export function sweepOrigin(sweepDirectory: string): string | null {
  return textOrNull(join(sweepDirectory, sweepFiles.origin), MOST)?.replace(/\n$/, '') ?? null;
}

/** The options of a launch that change its runs: `--set`, as typed, and `--per-gpu`. */
const LaunchOverrides = z.looseObject({
  set: z.array(z.string()).default([]),
  perGpu: z.int().positive().optional(),
  fromSeeds: z.array(z.string()).catch([]),
});
export type LaunchOverrides = { readonly set: readonly string[]; readonly perGpu?: number | undefined };

/** Stores the options of a launch, and which parameters the file computes from seeds, for readers that do not parse the file. */
export function writeLaunchOverrides(
  sweepDirectory: string,
  said: LaunchOverrides & { readonly fromSeeds: readonly string[] },
): void {
  keep(join(sweepDirectory, sweepFiles.launch), `${JSON.stringify(said)}\n`);
}

/** The options of the last launch; none if they are unknown. */
export function readLaunchOverrides(sweepDirectory: string): LaunchOverrides {
  const { set, perGpu } = savedLaunch(sweepDirectory);
  return { set, ...(perGpu === undefined ? {} : { perGpu }) };
}

/** Name of the sweep that was launched last into a runs directory; null: none was, or by an older version alone. */
export function lastLaunched(runsDirectory: string): string | null {
  const launches = sweepsOnDisk(runsDirectory).flatMap((name) => {
    const there = statRegular(join(runsDirectory, name, sweepFiles.launch));
    return there.kind === 'file' ? [{ name, at: there.stat.mtimeMs }] : [];
  });
  return launches.sort((a, b) => b.at - a.at)[0]?.name ?? null;
}

/** Parameters that the sweep file computes from seeds; empty if unknown, as after a launch by an older version. */
export function computedFromSeeds(sweepDirectory: string): readonly string[] {
  return savedLaunch(sweepDirectory).fromSeeds;
}

function savedLaunch(sweepDirectory: string): z.infer<typeof LaunchOverrides> {
  const text = textOrNull(join(sweepDirectory, sweepFiles.launch), MOST);
  const said = LaunchOverrides.safeParse(text === null ? null : jsonOf(text));
  return said.success ? said.data : { set: [], fromSeeds: [] };
}

/** The value of a JSON text; undefined: it is invalid. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The file that was submitted last, if it is another one than `path` and its text differs from `text`; else null. */
export function otherOrigin(sweepDirectory: string, path: string, text: string): string | null {
  const known = sweepOrigin(sweepDirectory);
  if (known === null || known === path) return null;
  return keptSweepText(sweepDirectory)?.text === text ? null : known;
}

/**
 * The path of an earlier text, by the time at which it was written (UTC): `sweep-20261122-043000.yaml`; numbered if that exists.
 */
function formerPath(kept: string): string {
  const time = writtenAt(kept);
  const name = time === 0 ? '' : new Date(time).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const { dir, ext } = parse(kept);
  for (let number = 1; ; number += 1) {
    const path = join(dir, `sweep-${name}${number === 1 ? '' : `-${number}`}${ext}`);
    if (!existsSync(path)) return path;
  }
}

/** Modification time, Unix ms; 0: the file does not exist. */
function writtenAt(path: string): number {
  const found = statRegular(path);
  return found.kind === 'file' ? found.stat.mtimeMs : 0;
}

/** Writes a file under a unique draft name, as two programs may launch the sweep at once. */
function keep(path: string, text: string): void {
  writeWhole(path, text, { draft: `${path}.${randomUUID()}.new` });
}

/** Limits on the folders that are searched, as a directory may hold a million entries. */
const MOST_SWEEPS = 1000;
const MOST_RUNS = 1000;

/**
 * Names of the sweeps in a runs directory, by its files alone. Other programs may write there as well (TensorBoard's `./runs`): a
 * folder without a sweep's text is a sweep only if one of its runs was started.
 */
export function sweepsOnDisk(runsDirectory: string): string[] {
  return foldersIn(runsDirectory)
    .slice(0, MOST_SWEEPS)
    .filter(
      (name) =>
        sweepTexts.some((text) => existsSync(join(runsDirectory, name, text))) || hasRuns(join(runsDirectory, name)),
    );
}

/**
 * Names of the folders below a directory, without hidden ones. Empty if it is missing or not readable; errors are reported when a
 * run's own directory is read.
 */
export function foldersIn(directory: string): string[] {
  try {
    const entries = readdirSync(directory, { withFileTypes: true });
    // A run may have been moved to another disk, and linked.
    const isFolder = (entry: Dirent) => entry.isDirectory() || entry.isSymbolicLink();
    return entries.filter((entry) => isFolder(entry) && !entry.name.startsWith('.')).map(({ name }) => name);
  } catch {
    return [];
  }
}

/** Whether runs of the sweep were started. */
export function hasRuns(sweepDirectory: string): boolean {
  return foldersIn(sweepDirectory)
    .slice(0, MOST_RUNS)
    .map((run) => join(sweepDirectory, run))
    .some((run) => existsSync(join(run, runFiles.record)) || existsSync(join(run, runFiles.attempts)));
}

/** Names of the studies in the directory of a sweep, `study.json` first; none where the directory cannot be read. */
export function studyNames(sweepDirectory: string): string[] {
  try {
    const names = readdirSync(sweepDirectory).filter(isStudyName).sort(naturalOrder);
    const isFirst = (name: string) => name === runFiles.study;
    return [...names.filter(isFirst), ...names.filter((name) => !isFirst(name))];
  } catch {
    // Whoever reads the runs says what is wrong with the directory.
    return [];
  }
}
