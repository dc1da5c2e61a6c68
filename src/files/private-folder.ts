/**
 * Checks whether a runs directory can be trusted before it is read or written.
 *
 * Whoever can write to `.supervisor` decides which socket receives the user's environment, and which files are overwritten. So it
 * must belong to the user alone, contain no link, and nobody else may be able to replace it.
 */
import { lstatSync, readdirSync, statSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { geteuid } from 'node:process';
import { UserError } from '../base/user-error.js';
import { supervisorFiles } from '../contract/files.js';

const OTHERS_WRITE = 0o002;
const NOT_OWNER = 0o077;
const ANYBODY_ELSE_WRITES = 0o022;
/** In a directory with this bit users cannot remove or rename each other's files. */
const STICKY = 0o1000;

/**
 * Checks a runs directory; one that does not exist passes.
 *
 * @throws {UserError} When it, or the supervisor's folder in it, is open to other users, or a link is in that folder.
 */
export function checkRunsDirectory(runsDirectory: string): void {
  const runs = statSync(runsDirectory, { throwIfNoEntry: false });
  if (runs === undefined) return;
  if (!runs.isDirectory()) throw new UserError(`${runsDirectory} is not a directory.`, 'Name a folder with --runs.');
  checkOwner(runsDirectory, runs);
  if ((runs.mode & OTHERS_WRITE) !== 0 && (runs.mode & STICKY) === 0) {
    throw new UserError(
      `Every user of this machine can write to the runs directory ${runsDirectory}.`,
      `Run \`chmod o-w ${runsDirectory}\`, or choose another with --runs.`,
    );
  }
  checkSupervisorFolder(join(runsDirectory, supervisorFiles.directory));
}

/**
 * Checks the folder of a sweep before anything is written below it: in a runs directory that others may write to, another user may
 * have created a folder of that name.
 *
 * @throws {UserError} When it, or the link to it, belongs to another user.
 */
export function checkSweepFolder(folder: string): void {
  const named = lstatSync(folder, { throwIfNoEntry: false });
  const meant = statSync(folder, { throwIfNoEntry: false });
  if (named === undefined) return;
  if (isOwn(named) && (meant === undefined || isOwn(meant))) return;
  throw new UserError(
    `The sweep's folder ${folder} belongs to another user.`,
    'Give the sweep another `name`, or choose another runs directory with --runs.',
  );
}

/** Why the environment must not be sent to the socket at this path, in words; null: only its owner can have created it. */
export function socketProblem(path: string): string | null {
  const folder = lstatSync(dirname(path), { throwIfNoEntry: false });
  const socket = lstatSync(path, { throwIfNoEntry: false });
  if (folder === undefined || socket === undefined) return 'it does not exist';
  if (!socket.isSocket()) return 'it is not a socket';
  if (!isOwn(socket)) return 'it belongs to another user';
  if (!folder.isDirectory() || !isOwn(folder)) return 'its folder belongs to another user';
  return (folder.mode & NOT_OWNER) === 0 ? null : 'its folder is open to other users';
}

/** Checks the owner: root's directories are trusted by everyone; root itself trusts only its own. */
function checkOwner(path: string, { uid }: Stats): void {
  if (uid === own() || uid === 0) return;
  throw new UserError(
    `The runs directory ${path} belongs to another user (uid ${uid}).`,
    'Choose one of your own with --runs, or work as that user.',
  );
}

function checkSupervisorFolder(folder: string): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return;
  const problem = folderProblem(stat);
  if (problem !== null) {
    throw new UserError(
      `${folder} ${problem}: what is in it cannot be trusted.`,
      'Choose another runs directory with --runs, or remove it if you know where it comes from.',
    );
  }
  checkEntries(folder);
}

function folderProblem(stat: Stats): string | null {
  if (stat.isSymbolicLink()) return 'is a symbolic link';
  if (!stat.isDirectory()) return 'is not a directory';
  if (!isOwn(stat)) return 'belongs to another user';
  return (stat.mode & ANYBODY_ELSE_WRITES) === 0 ? null : 'can be written to by other users';
}

/** Folders whose files the supervisor reads and writes itself; NVIDIA's daemon uses another. */
const inner: readonly string[] = [supervisorFiles.plans, supervisorFiles.environments, supervisorFiles.terminals];

/** Checks for links; entries that are neither files nor links are never opened. */
function checkEntries(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && inner.includes(entry.name)) checkEntries(path);
    if (!entry.isSymbolicLink()) continue;
    throw new UserError(
      `${path} is a symbolic link, which the supervisor never makes.`,
      'Remove it if you know where it comes from.',
    );
  }
}

function isOwn({ uid }: Stats): boolean {
  return uid === own();
}

function own(): number {
  return geteuid?.() ?? 0;
}
