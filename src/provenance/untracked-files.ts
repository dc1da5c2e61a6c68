import { lstatSync } from 'node:fs';
import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { readRegularBytes } from '../files/regular-file.js';
import { git, type GitHost } from './git-state.js';

/** Files git does not know yet: `patch` makes those that could be taken in; `left` names the others. */
export type Untracked = { patch: string; taken: string[]; left: string[] };

const MOST_FILES = 200;
/** Bytes; code is smaller, data is larger. */
const LARGEST = 256 * 1024;
/** What people keep secrets in. Their names are said, and nothing more. */
const secretFile =
  /(^|\/)(\.env|\.netrc|\.npmrc|\.pypirc|id_[a-z0-9]+)|secret|credential|password|\.(pem|key|p12|pfx)$/i;
/** Names that stand in a patch as they are. */
const plainName = /^[^"\\\p{Cc}]+$/u;

/**
 * New files of a repository that are not ignored, as a patch: a new `train.py` is as much a part of the code as a changed
 * one. Only small text files; nothing below `except` (the runs themselves).
 *
 * @param most Bytes that the patch may have.
 */
export async function readUntracked(
  top: string,
  surroundings: GitHost,
  { except, most }: { except: string; most: number },
): Promise<Untracked> {
  const listed = await git(top, surroundings, ['ls-files', '--others', '--exclude-standard', '-z']);
  const names = listed.output
    .toString()
    .split('\0')
    .filter((name) => name !== '' && !`${join(top, name)}/`.startsWith(`${except}/`));
  const untracked: Untracked = { patch: '', taken: [], left: [] };
  for (const name of names) {
    const patch = untracked.taken.length < MOST_FILES ? patchOf(top, name) : null;
    const isTaken = patch !== null && untracked.patch.length + patch.length <= most;
    if (isTaken) untracked.patch += patch;
    (isTaken ? untracked.taken : untracked.left).push(name);
  }
  return untracked;
}

/** Null for what is not a small text file, or cannot be read. */
function patchOf(top: string, name: string): string | null {
  if (secretFile.test(name) || !plainName.test(name)) return null;
  try {
    const stat = lstatSync(join(top, name));
    if (!stat.isFile()) return null;
    const read = readRegularBytes(join(top, name), LARGEST, { noLink: true });
    if (read.kind !== 'bytes' || read.bytes.includes(0) || !isUtf8(read.bytes)) return null;
    return newFile(name, read.bytes.toString(), (stat.mode & 0o100) === 0 ? '100644' : '100755');
  } catch {
    return null;
  }
}

function newFile(name: string, text: string, mode: string): string {
  const head = `diff --git a/${name} b/${name}\nnew file mode ${mode}\n`;
  if (text === '') return `${head}index 0000000..e69de29\n`;
  const lines = text.replace(/\n$/, '').split('\n');
  const end = text.endsWith('\n') ? '' : '\n\\ No newline at end of file';
  // A name with a space is ended by a tab, as git does it.
  const tab = name.includes(' ') ? '\t' : '';
  const body = lines.map((line) => `+${line}`).join('\n');
  return `${head}--- /dev/null\n+++ b/${name}${tab}\n@@ -0,0 +1,${lines.length} @@\n${body}${end}\n`;
}
