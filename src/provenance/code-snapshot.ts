/**
 * Copies of a work tree, so that a waiting run starts with the code it was submitted with. A copy has the files byte by byte; what
 * git ignores (data, environments, outputs) is linked. It has a repository of its own, which shares the objects of the original:
 * programs that ask git for the commit get that of the submission.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync, lstatSync, readlinkSync, type Stats } from 'node:fs';
import { copyFile, lstat, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { UserError } from '../base/user-error.js';
import { snapshotPrefix, sweepFiles } from '../contract/files.js';
import { isLink } from '../files/run-directory/own-directory.js';
import { obstacleOf, textOrNull } from '../files/regular-file.js';
import type { CodeSurvey } from './code-survey.js';
import { git, type GitHost } from './git-state.js';
import { makeFolder } from '../files/make-folder.js';

/** `path`: absolute. `linked`: paths that are links into the work tree, relative to it. */
export type MadeSnapshot = { readonly path: string; readonly linked: readonly string[] };

/** Number of files that are copied at the same time. */
const AT_ONCE = 16;
/** Digits of the hash in a name; 64 bits. */
const DIGITS = 16;
/** A file in the copy's repository that is written last and describes what was copied. */
const MARKER = join('.git', 'memrl-snapshot.json');
/** Size limit of the marker in bytes. */
const LARGEST = 1 << 16;
/** Prefix of drafts of copies. */
const draftPrefix = '.draft-';

/**
 * Stores a copy in the `code` folder of a sweep, under a hash of its content. An unchanged copy with that name is used again.
 *
 * @throws {UserError} When it cannot be created.
 */
export async function makeSnapshot(survey: CodeSurvey, sweepDirectory: string, host: GitHost): Promise<MadeSnapshot> {
  const folder = join(sweepDirectory, sweepFiles.code);
  if (isLink(folder)) {
    // A run may have created the link, and unused copies below it would be deleted.
    throw new UserError(
      `${folder}, where copies of the code are kept, is a symbolic link.`,
      'Put a folder in its place.',
    );
  }
  const draft = join(folder, `${draftPrefix}${randomUUID()}`);
  try {
    makeFolder(draft, 0o700);
    const hash = await copyFiles(survey, draft);
    return await kept(survey, { folder, draft, hash }, host);
  } catch (error) {
    if (error instanceof UserError || (error as NodeJS.ErrnoException).code === undefined) throw error;
    const obstacle = obstacleOf(error);
    const reason = obstacle.kind === 'unreadable' ? obstacle.reason : 'a folder of it is gone';
    throw new UserError(
      `The code in ${survey.top} could not be copied to ${folder}: ${reason}.`,
      'Make room for it or choose another runs directory, or take `code: snapshot` out of the sweep file.',
      { cause: error },
    );
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** The work tree that a copy was made of; null: there is no such copy (any more). */
export function snapshotTop(path: string): string | null {
  const text = textOrNull(join(path, MARKER), LARGEST);
  if (text === null) return null;
  try {
    const { top } = JSON.parse(text) as { top?: unknown };
    return typeof top === 'string' ? top : null;
  } catch {
    return null;
  }
}

/** Those of these paths that are links in a copy. */
export function linkedIn(path: string, candidates: readonly string[]): string[] {
  return candidates.filter((each) => lstatSync(join(path, each), { throwIfNoEntry: false })?.isSymbolicLink());
}

type Draft = { folder: string; draft: string; hash: string };

async function kept(survey: CodeSurvey, { folder, draft, hash }: Draft, host: GitHost): Promise<MadeSnapshot> {
  let isFinished = false;
  for (let number = 1; ; number += 1) {
    const path = join(folder, `${snapshotPrefix}${hash}${number === 1 ? '' : `-${number}`}`);
    if (!existsSync(path)) {
      if (!isFinished) await finish(survey, { folder, draft, hash }, host);
      isFinished = true;
      // Otherwise another process has just made the same copy.
      if (await moved(draft, path)) return { path, linked: await addLinks(survey, path) };
    }
    if (await isUnchanged(path, survey)) return { path, linked: await addLinks(survey, path) };
  }
}

async function moved(draft: string, path: string): Promise<boolean> {
  try {
    await rename(draft, path);
    return true;
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) return false;
    throw error;
  }
}

/** Copies the files. @returns The hash of the contents and of their origin. */
async function copyFiles({ top, commit, files }: CodeSurvey, draft: string): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify([top, commit]));
  for (let from = 0; from < files.length; from += AT_ONCE) {
    const some = files.slice(from, from + AT_ONCE);
    const hashes = await Promise.all(some.map(({ path }) => copyOne(top, path, draft)));
    some.forEach(({ path }, index) => hash.update(JSON.stringify([path, hashes[index]])));
  }
  return hash.digest('hex').slice(0, DIGITS);
}

/** Copies one file. @returns The facts that identify its content; null: the file has disappeared meanwhile. */
async function copyOne(top: string, path: string, draft: string): Promise<string | null> {
  const [from, to] = [join(top, path), join(draft, path)];
  const stat = await lstat(from).catch(() => null);
  if (stat === null) return null;
  makeFolder(dirname(to));
  if (stat.isSymbolicLink()) {
    const target = targetOf(top, path);
    await symlink(target, to);
    return `link ${target}`;
  }
  const mode = (stat.mode & 0o111) === 0 ? 0o644 : 0o755;
  const bytes = await readFile(from);
  await writeFile(to, bytes, { mode });
  return `${mode} ${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The target of a link in the copy: in the copy if it is code, else the original one. */
function targetOf(top: string, path: string): string {
  const target = readlinkSync(join(top, path));
  const folder = dirname(join(top, path));
  const whole = resolve(folder, target);
  const isInside = whole === top || whole.startsWith(`${top}${sep}`);
  if (isAbsolute(target)) return isInside ? relative(folder, whole) || '.' : target;
  return isInside ? target : whole;
}

/** Whether a copy has exactly the copied files, and none was written to since. */
async function isUnchanged(path: string, { top, files }: CodeSurvey): Promise<boolean> {
  const marker = await lstat(join(path, MARKER)).catch(() => null);
  if (marker === null) return false;
  const sizes = new Map(files.map((file) => [file.path, file.size]));
  const isOwn = (entry: string, stat: Stats): boolean => {
    if (entry.startsWith(`.git${sep}`)) return stat.ctimeMs <= marker.ctimeMs;
    if (stat.isSymbolicLink() && !sizes.has(entry)) return readlinkSync(join(path, entry)) === join(top, entry);
    const size = sizes.get(entry);
    sizes.delete(entry);
    // The size of a link is the length of its target, which may be written differently in the copy.
    return size !== undefined && stat.ctimeMs <= marker.ctimeMs && (stat.size === size || !stat.isFile());
  };
  try {
    return (await areAll(path, '', isOwn)) && sizes.size === 0;
  } catch {
    // An entry appeared or disappeared meanwhile.
    return false;
  }
}

/**
 * Files that running code or using git creates beside it, and that do not count as changes: bytecode of existing files,
 * unreferenced objects, git's cache of file times.
 */
const byproducts = /(^|\/)(__pycache__|\.(pytest|mypy|ruff)_cache)$|^\.git\/(objects|index)$/;

/** Whether a test holds for every file below a folder. */
async function areAll(root: string, folder: string, isOwn: (entry: string, stat: Stats) => boolean): Promise<boolean> {
  for (const name of await readdir(join(root, folder))) {
    const entry = join(folder, name);
    if (byproducts.test(entry)) continue;
    const stat = await lstat(join(root, entry));
    if (!(stat.isDirectory() ? await areAll(root, entry, isOwn) : isOwn(entry, stat))) return false;
  }
  return true;
}

/** Links what git ignores, except where a run has written something of that name. */
async function addLinks({ top, linked }: CodeSurvey, path: string): Promise<string[]> {
  for (const each of linked) {
    const place = join(path, each);
    if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) continue;
    makeFolder(dirname(place));
    await symlink(join(top, each), place).catch(unlessThere);
  }
  return linkedIn(path, linked);
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

/** Creates the repository of a copy. */
async function finish(survey: CodeSurvey, { draft, hash }: Draft, host: GitHost): Promise<void> {
  const { top, commit, branch, remote, objects, linked } = survey;
  const format = commit.length > 40 ? ['--object-format=sha256'] : [];
  await call(draft, host, ['init', '--quiet', '--template=', ...format]);
  const repository = join(draft, '.git');
  makeFolder(join(repository, 'info'));
  makeFolder(join(repository, 'objects', 'info'));
  await writeFile(join(repository, 'objects', 'info', 'alternates'), `${objects}\n`);
  // A pattern for a folder does not match a link to one.
  const patterns = linked.map((path) => `/${path.replace(/[\\*?[\] !#]/g, '\\$&')}\n`);
  await writeFile(join(repository, 'info', 'exclude'), patterns.join(''));
  const shallow = join(dirname(objects), 'shallow');
  if (existsSync(shallow)) await copyFile(shallow, join(repository, 'shallow'));
  if (branch === null) await call(draft, host, ['update-ref', '--no-deref', 'HEAD', commit]);
  else {
    await call(draft, host, ['symbolic-ref', 'HEAD', `refs/heads/${branch}`]);
    await call(draft, host, ['update-ref', `refs/heads/${branch}`, commit]);
  }
  if (remote !== null) await call(draft, host, ['config', 'remote.origin.url', remote]);
  await call(draft, host, ['read-tree', 'HEAD']);
  await writeFile(join(draft, MARKER), `${JSON.stringify({ version: 1, top, commit, hash })}\n`);
}

async function call(folder: string, host: GitHost, words: readonly string[]): Promise<void> {
  const answer = await git(folder, host, words);
  if (answer.kind === 'answered') return;
  const why = answer.kind === 'hung' ? 'it does not answer' : answer.reason;
  throw new UserError(
    `No snapshot of the code could be made: \`git ${words.join(' ')}\` failed (${why}).`,
    'See what it says there, or take `code: snapshot` out of the sweep file.',
  );
}
