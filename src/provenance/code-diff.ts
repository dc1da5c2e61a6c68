import { isUtf8 } from 'node:buffer';
import type { Redact } from '../text/redaction.js';
import { git, type GitState, type GitHost } from './git-state.js';
import { readUntracked, type Untracked } from './untracked-files.js';

/** Bytes of a diff; what is longer is cut off between two files. */
const MOST = 2 * 2 ** 20;
/** Names that are spelt out. */
const NAMED = 100;

type Extent = GitHost & {
  redact: Redact;
  /** Absolute: the runs directory, which is not code. */ except: string;
};

/**
 * What makes the working tree out of the commit: a patch for `git apply`, after some lines that say what is not in it.
 * Secrets are masked, so a patch of a file that holds some does not give back that file. Null when nothing differs, or git
 * cannot say.
 */
export async function readCodeDiff(state: GitState, { environment, redact, except }: Extent): Promise<Buffer | null> {
  const tracked = state.dirty ? await trackedChanges(state.top, { environment }) : nothing;
  const most = MOST - tracked.text.length;
  const untracked = await readUntracked(state.top, { environment }, { except, most });
  const patch = tracked.text + untracked.patch;
  if (patch === '') return null;
  const safe = [redact(tracked.text), redact(untracked.patch)] as const;
  const head = heading(state, untracked, { isCut: tracked.isCut, isMasked: safe.join('') !== patch });
  return Buffer.concat([Buffer.from(head), Buffer.from(safe[0], tracked.encoding), Buffer.from(safe[1])]);
}

/** `encoding`: in which the text gives back the bytes of the files, whatever they are written in. */
type Changes = { text: string; encoding: 'utf8' | 'latin1'; isCut: boolean };

const nothing: Changes = { text: '', encoding: 'utf8', isCut: false };

async function trackedChanges(top: string, surroundings: GitHost): Promise<Changes> {
  const words = ['diff', 'HEAD', '--binary', '--no-color', '--no-ext-diff', '--no-textconv'];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
  const { output, isWhole } = await git(top, surroundings, [...words, ...prefixes], MOST);
  const encoding = isUtf8(output) ? 'utf8' : 'latin1';
  const text = output.toString(encoding);
  return { text: isWhole ? text : wholeFiles(text), encoding, isCut: !isWhole };
}

/** Without the file that was cut off. */
function wholeFiles(text: string): string {
  const last = text.lastIndexOf('\ndiff --git ');
  return last < 0 ? '' : text.slice(0, last + 1);
}

function heading(
  { commit, branch }: GitState,
  { taken, left }: Untracked,
  { isCut, isMasked }: { isCut: boolean; isMasked: boolean },
): string {
  const lines = [
    `Differences to commit ${commit}${branch === null ? '' : ` of branch ${branch}`}. To get them back:`,
    `git checkout ${commit} && git apply THIS-FILE`,
    ...(taken.length > 0 ? [`New files that are in it: ${listed(taken)}`] : []),
    ...(left.length > 0 ? [`New files that are not in it: ${listed(left)}`] : []),
    ...(isCut ? [`There was more than ${MOST / 2 ** 20} MiB, or git was too slow: the rest is not in it.`] : []),
    ...(isMasked ? ['Secrets stand as *** in it.'] : []),
  ];
  return `${lines.map((line) => `# ${line}\n`).join('')}\n`;
}

function listed(names: readonly string[]): string {
  const rest = names.length - NAMED;
  const shown = names.slice(0, NAMED).map((name) => (/^[^\p{Cc},]+$/u.test(name) ? name : JSON.stringify(name)));
  return shown.join(', ') + (rest > 0 ? `, and ${rest} more` : '');
}
