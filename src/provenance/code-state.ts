import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sweepFiles } from '../contract/files.js';
import type { GitRecord } from '../contract/run-record.js';
import { readRegularBytes } from '../files/regular-file.js';
import { writeWhole } from '../files/whole-file.js';
import { type Redact, redactor } from '../text/redaction.js';
import { git, type GitHost, type GitState, readGitState } from './git-state.js';
import { packageLookup } from './packages.js';
import { makeFolder } from '../files/make-folder.js';

/** The properties that decide which code a run starts. */
type CodeOrigin = {
  readonly group: string;
  readonly cwd: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
};

/** The code of a run at its submission, as `run.json` refers to it. */
export type CodeState = { git: GitRecord | null; packages: string | null };

type Environment = Readonly<Record<string, string>>;
type Repository = { git: GitRecord; top: string } | null;

/** Limit on the keys that are looked up for one submission. */
const MOST_LOOKUPS = 200;

/** Runs with the same key have the same code, so that one lookup suffices. */
export function codeKey({ group, cwd, argv, env }: CodeOrigin): string {
  return JSON.stringify([group, cwd, argv[0], env['PATH'] ?? null]);
}

/**
 * Determines the code of the runs of one sweep, and stores its files in the sweep's directory. Each folder and interpreter is
 * examined once, however many runs share it, one after another, as background work.
 */
export class CodeReader {
  readonly #runs: readonly CodeOrigin[];
  readonly #environment: Environment;
  readonly #redact: Redact;
  readonly #repositories = new Map<string, Repository>();
  readonly #packages = new Map<string, string | null>();

  /** @param redact Made from the environment. Values that the sweep file sets are redacted as well. */
  constructor(runs: readonly CodeOrigin[], environment: Environment, redact: Redact) {
    this.#runs = [...new Map(runs.map((run) => [codeKey(run), run])).values()].slice(0, MOST_LOOKUPS);
    this.#environment = environment;
    const own = redactor(joined(this.#runs.map(({ env }) => env)));
    this.#redact = (text) => redact(own(text));
  }

  /** Returns code states by `codeKey`. Takes up to some seconds; rejects only when files cannot be written. */
  async read(): Promise<Map<string, CodeState>> {
    const found = new Map<string, CodeState>();
    for (const run of this.#runs) found.set(codeKey(run), await this.#stateOf(run));
    return found;
  }

  async #stateOf(run: CodeOrigin): Promise<CodeState> {
    const environment = { ...this.#environment, ...run.env };
    const known = this.#repositories.get(run.cwd);
    const repository = known === undefined ? await this.#readRepository(run, environment) : known;
    this.#repositories.set(run.cwd, repository);
    const folders = repository === null ? [run.cwd] : [run.cwd, repository.top];
    return { git: repository?.git ?? null, packages: await this.#keepPackages(run, folders, environment) };
  }

  async #readRepository(run: CodeOrigin, environment: Environment): Promise<Repository> {
    const state = await readGitState(run.cwd, { environment });
    if (state === null) return null;
    const sweepDirectory = dirname(run.directory);
    const diff = await readCodeDiff(state, { environment, redact: this.#redact, except: dirname(sweepDirectory) });
    const path = diff === null ? null : keepCode(sweepDirectory, diff, (hash) => `${hash}.diff`);
    const { top, ...facts } = state;
    return { git: { ...facts, diff: path }, top };
  }

  async #keepPackages(run: CodeOrigin, folders: readonly string[], environment: Environment): Promise<string | null> {
    const lookup = packageLookup(run.argv, { cwd: run.cwd, environment });
    const known = this.#packages.get(lookup.key);
    if (known !== undefined) return known;
    const packages = await lookup.read(folders);
    const text = packages === null ? null : this.#redact(`${JSON.stringify(packages, null, 2)}\n`);
    const path =
      text === null ? null : keepCode(dirname(run.directory), Buffer.from(text), (hash) => `packages-${hash}.json`);
    this.#packages.set(lookup.key, path);
    return path;
  }
}

/** One environment with all values of several, for redaction. */
function joined(environments: readonly Environment[]): Environment {
  const entries = environments.flatMap((each, index) =>
    Object.entries(each).map(([name, value]) => [`${index}_${name}`, value] as const),
  );
  return Object.fromEntries(entries);
}

/** Digits of the hash in a name; 64 bits. */
const DIGITS = 16;

/**
 * Stores a text in the sweep's `code` folder under a hash of its content, so that runs with the same code share one file. Readable
 * by the owner alone, as unpublished code is private.
 *
 * @param name Returns the file's name for the hash.
 * @returns The path below the sweep's directory.
 */
function keepCode(sweepDirectory: string, bytes: Buffer, name: (hash: string) => string): string {
  const file = name(createHash('sha256').update(bytes).digest('hex').slice(0, DIGITS));
  if (!existsSync(join(sweepDirectory, sweepFiles.code, file))) writeCode(sweepDirectory, file, bytes);
  return `${sweepFiles.code}/${file}`;
}

/** Replaces a file of the `code` folder atomically. */
export function writeCode(sweepDirectory: string, file: string, content: Buffer | string): void {
  const folder = join(sweepDirectory, sweepFiles.code);
  makeFolder(folder, undefined, dirname(sweepDirectory));
  writeWhole(join(folder, file), content, { mode: 0o600 });
}

/** Size limit of a diff in bytes; a longer one is cut between two files. */
const MOST = 2 * 2 ** 20;
/** Limit on the names that are listed. */
const NAMED = 100;

type Extent = GitHost & {
  redact: Redact;
  /** Absolute: the runs directory, which is not code. */ except: string;
};

/**
 * A patch for `git apply` that turns the commit into the working tree, preceded by lines that list what it leaves out. Secrets are
 * masked, so a patch of a file with secrets does not restore that file. Null when nothing differs, or git fails.
 */
async function readCodeDiff(state: GitState, { environment, redact, except }: Extent): Promise<Buffer | null> {
  const tracked = state.dirty ? await trackedChanges(state.top, { environment }) : nothing;
  const most = MOST - tracked.text.length;
  const untracked = await readUntracked(state.top, { environment }, { except, most });
  const patch = tracked.text + untracked.patch;
  if (patch === '') return null;
  const safe = [redact(tracked.text), redact(untracked.patch)] as const;
  const head = heading(state, untracked, { isCut: tracked.isCut, isMasked: safe.join('') !== patch });
  return Buffer.concat([Buffer.from(head), Buffer.from(safe[0], tracked.encoding), Buffer.from(safe[1])]);
}

/** `encoding`: the one in which the text restores the bytes of the files, whatever their encoding. */
type Changes = { text: string; encoding: 'utf8' | 'latin1'; isCut: boolean };

const nothing: Changes = { text: '', encoding: 'utf8', isCut: false };

async function trackedChanges(top: string, host: GitHost): Promise<Changes> {
  const words = ['diff', 'HEAD', '--binary', '--no-color', '--no-ext-diff', '--no-textconv'];
  const prefixes = ['--src-prefix=a/', '--dst-prefix=b/'];
  const { kind, stdout } = await git(top, host, [...words, ...prefixes], MOST);
  const isWhole = kind === 'answered';
  const encoding = isUtf8(stdout) ? 'utf8' : 'latin1';
  const text = stdout.toString(encoding);
  return { text: isWhole ? text : wholeFiles(text), encoding, isCut: !isWhole };
}

/** The text without a file that was cut off. */
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

/** Files that git does not track: `patch` creates those of `taken`; `left` names the others. */
type Untracked = { patch: string; taken: string[]; left: string[] };

const MOST_FILES = 200;
/** Size limit in bytes; code is smaller, data is larger. */
const LARGEST = 256 * 1024;
/** Files in which secrets are kept: they are named only. */
export const secretFile =
  /(^|\/)(\.env|\.netrc|\.npmrc|\.pypirc|\.(aws|ssh|gnupg|kube)\/|id_[a-z0-9]+)|secret|credential|password|\.(pem|key|p12|pfx)$/i;
/** Names that need no quoting in a patch. */
const plainName = /^[^"\\\p{Cc}]+$/u;

/**
 * New files of a repository that are not ignored, as a patch: a new `train.py` is as much code as a changed one. Only small text
 * files; none below `except` (the runs themselves).
 *
 * @param most Size limit of the patch in bytes.
 */
async function readUntracked(
  top: string,
  host: GitHost,
  { except, most }: { except: string; most: number },
): Promise<Untracked> {
  const listed = await git(top, host, ['ls-files', '--others', '--exclude-standard', '-z']);
  // A code snapshot is itself among the runs.
  const isCopy = `${top}/`.startsWith(`${except}/`);
  const names = listed.stdout
    .toString()
    .split('\0')
    .filter((name) => name !== '' && (isCopy || !`${join(top, name)}/`.startsWith(`${except}/`)));
  const untracked: Untracked = { patch: '', taken: [], left: [] };
  for (const name of names) {
    const patch = untracked.taken.length < MOST_FILES ? patchOf(top, name) : null;
    const isTaken = patch !== null && untracked.patch.length + patch.length <= most;
    if (isTaken) untracked.patch += patch;
    (isTaken ? untracked.taken : untracked.left).push(name);
  }
  return untracked;
}

/** The patch that creates a file; null: it is not a small text file, or not readable. */
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
  // Git ends a name that contains a space with a tab.
  const tab = name.includes(' ') ? '\t' : '';
  const body = lines.map((line) => `+${line}`).join('\n');
  return `${head}--- /dev/null\n+++ b/${name}${tab}\n@@ -0,0 +1,${lines.length} @@\n${body}${end}\n`;
}
