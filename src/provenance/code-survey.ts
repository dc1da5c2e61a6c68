import { lstatSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { UserError } from '../base/user-error.js';
import { isOnPath } from '../processes/program-file.js';
import { sizeText } from '../text/numbers.js';
import { secretFile } from './code-state.js';
import { git, type GitHost, readGitState } from './git-state.js';

/** A file of a work tree that belongs to its code. `path`: below the work tree; `size`: bytes. */
type CodeFile = { readonly path: string; readonly size: number };

/** The contents of a copy of a work tree. Paths are relative to `top`, except `cwd` and `objects`, which are absolute. */
export type CodeSurvey = {
  /** The requested folder, and its path within the work tree. */
  readonly cwd: string;
  readonly within: string;
  readonly top: string;
  readonly commit: string;
  readonly branch: string | null;
  /** URL of the remote, without user and password; null: there is none. */
  readonly remote: string | null;
  /** The folder of the repository's objects. */
  readonly objects: string;
  /** Sorted by path. */
  readonly files: readonly CodeFile[];
  readonly bytes: number;
  /** Number of files that differ from the commit, and of new ones. */
  readonly changed: number;
  readonly fresh: number;
  /** Files and folders that are linked instead of copied. */
  readonly linked: readonly string[];
  /** Those of them that git does not ignore, but whose names are those of secrets. */
  readonly secrets: readonly string[];
};

/** Limits on all files together. */
const MOST_FILES = 50_000;
const MOST_BYTES = 512 * 2 ** 20;
/** Size limit of a file that git does not track: code is smaller. */
const MOST_FRESH_BYTES = 32 * 2 ** 20;
/** Limit on the ignored paths, folders counted as one. */
const MOST_LINKED = 20_000;
/** Time limit of git, ms, as a repository may be large and on a slow disk. */
const PATIENCE_MS = 60_000;

/** Code about secrets is code. */
const source = /\.(py|ipynb|pyx|[cm]?[jt]sx?|sh|r|jl|go|rs|cc?|cpp|cu|h|hpp|md|rst|ya?ml|toml)$/i;
/** Files with these endings are examples of the others. */
const example = /[-._](example|sample|template|dist)$/i;

/** Caches of programs, which must not be shared with other code. */
const caches = /(^|\/)(__pycache__|\.(pytest|mypy|ruff)_cache|\.ipynb_checkpoints|\.git|\.DS_Store|[^/]*\.py[co])$/;

/**
 * Determines the code of a program that starts in a folder: all tracked files as they are now, and new ones that are not ignored.
 * Changes nothing.
 *
 * @param runs The runs directory, absolute, which is never code.
 * @throws {UserError} If that cannot be copied, or should not be.
 */
export async function surveyCode(cwd: string, { environment, runs }: GitHost & { runs: string }): Promise<CodeSurvey> {
  const host = { environment, patienceMs: PATIENCE_MS };
  const { top, within, commit, objects } = await placeOf(cwd, host);
  const known = await listed(top, host, ['ls-files', '--stage']);
  const entries = known.map((line) => ({ mode: line.slice(0, 6), path: line.slice(line.indexOf('\t') + 1) }));
  refuseSubmodules(top, entries);
  const isRuns = (path: string) => `${join(top, path)}/`.startsWith(`${runs}/`);
  const others = await listed(top, host, ['ls-files', '--others', '--exclude-standard']);
  // Copies lie among the results, which people give to others.
  const secrets = others.filter((path) => !isRuns(path) && isSecret(path));
  const fresh = others.filter((path) => !isRuns(path) && !isSecret(path));
  refuseRepositories(top, fresh);
  const ignored = await listed(top, host, ['ls-files', '--others', '--ignored', '--exclude-standard', '--directory']);
  const files = present(top, [...new Set([...entries.map(({ path }) => path), ...fresh])]);
  refuseLarge(top, files, new Set(fresh));
  // A copy is among the runs: a link to them would create a cycle.
  const links = ignored.map((path) => path.replace(/\/$/, '')).filter((path) => !caches.test(path) && !isRuns(path));
  const linked = [...links, ...secrets];
  refuseManyLinks(top, linked);
  refuseElsewhere(cwd, within, files, linked);
  const state = await readGitState(top, host);
  const changed = await listed(top, host, ['diff', '--name-only', 'HEAD']);
  return {
    ...{ cwd, within, top, commit, objects, files },
    ...{ linked: linked.sort(), secrets },
    ...{ branch: state?.branch ?? null, remote: state?.remote ?? null },
    bytes: files.reduce((sum, { size }) => sum + size, 0),
    changed: changed.length,
    fresh: fresh.length,
  };
}

function isSecret(path: string): boolean {
  return secretFile.test(path) && !source.test(path) && !example.test(path) && !path.endsWith('/');
}

type Place = Pick<CodeSurvey, 'top' | 'within' | 'commit' | 'objects'>;

async function placeOf(cwd: string, host: GitHost): Promise<Place> {
  if (!isOnPath('git', host.environment)) {
    throw new UserError('A snapshot of the code needs git, which is not on your PATH.', `Install git, or ${without}.`);
  }
  const words = ['rev-parse', '--show-toplevel', '--show-prefix', '--git-path', 'objects', 'HEAD'];
  const answer = await git(cwd, host, words);
  if (answer.kind === 'answered') {
    const [top, prefix, objects, commit] = answer.stdout.toString().split('\n') as [string, string, string, string];
    return { top, within: prefix.replace(/\/$/, ''), objects: resolve(cwd, objects), commit };
  }
  const tree = await git(cwd, host, ['rev-parse', '--show-toplevel']);
  if (tree.kind === 'answered') {
    throw new UserError(
      `${tree.stdout.toString().trimEnd()} has no commit yet, so there is no snapshot of its code.`,
      `Commit something first, or ${without}.`,
    );
  }
  const why = tree.kind === 'hung' ? 'git does not answer' : tree.reason;
  throw new UserError(
    `There is no snapshot of the code in ${cwd}: it is not in the work tree of a git repository (${why}).`,
    `Run \`git init\` and commit the code, or ${without}.`,
  );
}

const without = 'take `code: snapshot` out of the sweep file';

/** The NUL-terminated lines of git's answer. @throws {UserError} When git fails. */
async function listed(top: string, host: GitHost, words: readonly string[]): Promise<string[]> {
  const answer = await git(top, host, [words[0]!, '-z', ...words.slice(1)], MOST_LIST);
  if (answer.kind === 'answered') return answer.stdout.toString().split('\0').slice(0, -1);
  const why = answer.kind === 'hung' ? `it took longer than ${PATIENCE_MS / 1000} s` : answer.reason;
  throw new UserError(
    `There is no snapshot of the code in ${top}: \`git ${words.join(' ')}\` failed (${why}).`,
    `See what it says there, or ${without}.`,
  );
}

/** Size limit of a list of files in bytes. */
const MOST_LIST = 64 * 2 ** 20;
const SUBMODULE = '160000';

function refuseSubmodules(top: string, entries: readonly { mode: string; path: string }[]): void {
  const module = entries.find(({ mode }) => mode === SUBMODULE);
  if (module === undefined) return;
  throw new UserError(
    `There is no snapshot of the code in ${top}: ${module.path} is a submodule, which is not copied.`,
    `Take \`code: snapshot\` out of the sweep file, or launch from a work tree without submodules.`,
  );
}

/** Refuses nested repositories, which git lists as a folder without contents. */
function refuseRepositories(top: string, fresh: readonly string[]): void {
  const other = fresh.find((path) => path.endsWith('/'));
  if (other === undefined) return;
  throw new UserError(
    `There is no snapshot of the code in ${top}: ${other} is a git repository of its own, which is not copied.`,
    `Add ${other} to .gitignore (the snapshot then links to it as it is), or ${without}.`,
  );
}

/** The paths that exist, as git also lists deleted files; only files and links. */
function present(top: string, paths: string[]): CodeFile[] {
  return paths.sort().flatMap((path) => {
    const stat = lstatSync(join(top, path), { throwIfNoEntry: false });
    return stat?.isFile() || stat?.isSymbolicLink() ? [{ path, size: stat.size }] : [];
  });
}

function refuseLarge(top: string, files: readonly CodeFile[], fresh: ReadonlySet<string>): void {
  const large = files.find(({ path, size }) => fresh.has(path) && size > MOST_FRESH_BYTES);
  if (large !== undefined) {
    throw new UserError(
      `There is no snapshot of the code in ${top}: ${large.path} is new and has ${sizeText(large.size)}; the limit for new files is ${sizeText(MOST_FRESH_BYTES)}.`,
      `Add it to .gitignore (the snapshot then links to it), commit it, or ${without}.`,
    );
  }
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length <= MOST_FILES && bytes <= MOST_BYTES) return;
  const largest = [...files].sort((a, b) => b.size - a.size)[0]!;
  throw new UserError(
    `There is no snapshot of the code in ${top}: it has ${files.length} files with ${sizeText(bytes)} (the largest is ${largest.path}); the limit is ${MOST_FILES} files with ${sizeText(MOST_BYTES)}.`,
    `Add data to .gitignore (the snapshot then links to it), or ${without}.`,
  );
}

function refuseManyLinks(top: string, linked: readonly string[]): void {
  if (linked.length <= MOST_LINKED) return;
  throw new UserError(
    `There is no snapshot of the code in ${top}: git ignores ${linked.length} files and folders there, each of which would be linked; the limit is ${MOST_LINKED}.`,
    `Keep such files in a folder that is ignored as a whole, or ${without}.`,
  );
}

/** Refuses a folder that is not copied, as it has no code to store. */
function refuseElsewhere(cwd: string, within: string, files: readonly CodeFile[], linked: readonly string[]): void {
  const isCopied = within === '' || files.some(({ path }) => path.startsWith(`${within}/`));
  if (isCopied && !linked.some((path) => `${within}/`.startsWith(`${path}/`))) return;
  throw new UserError(
    `There is no snapshot of the code in ${cwd}: git ignores that folder, or knows no file in it.`,
    `Launch from the folder ${basename(cwd)} belongs to, or ${without}.`,
  );
}
