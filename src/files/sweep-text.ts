import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import { join, parse } from 'node:path';
import * as z from 'zod';
import { sweepFiles, sweepTexts } from '../contract/files.js';
import { statRegular, textOrNull } from './regular-file.js';
import { sweepsOnDisk } from './sweep-folders.js';
import { writeWhole } from './whole-file.js';
import { makeFolder } from './make-folder.js';

/** Bytes: more than a sweep file may have. */
const MOST = 2 ** 26;

/** The text of a sweep file and where it is kept. */
type KeptText = { readonly path: string; readonly text: string };

/** The text that was submitted last; null: there is none. Of two, which a program left that was killed, the later. */
export function keptSweepText(sweepDirectory: string): KeptText | null {
  const kept = sweepTexts.flatMap((name) => {
    const path = join(sweepDirectory, name);
    const text = textOrNull(path, MOST);
    return text === null ? [] : [{ path, text }];
  });
  return kept.sort((a, b) => writtenAt(b.path) - writtenAt(a.path))[0] ?? null;
}

/**
 * Keeps the text of a sweep file as it was submitted, for whoever reads the runs later. Whole or not at all. Another text
 * that is there stays beside it, under the time at which it was written.
 *
 * @param file The name of the file: its ending says how the text is read.
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

/** Name of the sweep that was launched last into a runs directory; null: none was, or by an older version alone. */
export function lastLaunched(runsDirectory: string): string | null {
  const launches = sweepsOnDisk(runsDirectory).flatMap((name) => {
    const there = statRegular(join(runsDirectory, name, sweepFiles.launch));
    return there.kind === 'file' ? [{ name, at: there.stat.mtimeMs }] : [];
  });
  return launches.sort((a, b) => b.at - a.at)[0]?.name ?? null;
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
  return keptSweepText(sweepDirectory)?.text === text ? null : known;
}

/** `sweep-20261122-043000.yaml`, of the time at which the text was written (UTC); with a number where there is one. */
function formerPath(kept: string): string {
  const time = writtenAt(kept);
  const name = time === 0 ? '' : new Date(time).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  const { dir, ext } = parse(kept);
  for (let number = 1; ; number += 1) {
    const path = join(dir, `sweep-${name}${number === 1 ? '' : `-${number}`}${ext}`);
    if (!existsSync(path)) return path;
  }
}

/** Unix ms; 0: it is not there. */
function writtenAt(path: string): number {
  const found = statRegular(path);
  return found.kind === 'file' ? found.stat.mtimeMs : 0;
}

/** Two programs may launch it at once. */
function keep(path: string, text: string): void {
  writeWhole(path, text, { draft: `${path}.${randomUUID()}.new` });
}
