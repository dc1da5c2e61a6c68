import { type ShortAnswer, shortCall } from '../processes/short-call.js';

/** A repository at one moment. */
export type GitState = {
  commit: string;
  /** Whether tracked files differ from the commit. */
  dirty: boolean;
  /** Null: no branch is checked out. */
  branch: string | null;
  /** Address of the remote, without user and password; null: there is none. */
  remote: string | null;
  /** Absolute. */
  top: string;
};

/** How git is asked. `patienceMs`: how long it may take; absent: as long as it is worth knowing. */
export type GitHost = { environment: Readonly<Record<string, string>>; patienceMs?: number };

/** Above this a repository is too slow to be worth knowing, ms. */
const PATIENCE_MS = 5000;

/** The state of the repository that a folder is in; null outside one, and without git. Never rejects. */
export async function readGitState(folder: string, surroundings: GitHost): Promise<GitState | null> {
  const place = await git(folder, surroundings, ['rev-parse', '--show-toplevel', 'HEAD']);
  if (place.kind !== 'answered') return null;
  const [top, commit] = place.stdout.toString().trimEnd().split('\n');
  const status = await git(folder, surroundings, ['status', '--porcelain=v2', '--branch', '--untracked-files=no']);
  const lines = status.stdout.toString().split('\n');
  const head = lines.find((line) => line.startsWith('# branch.head '))?.slice('# branch.head '.length) ?? null;
  const addresses = await git(folder, surroundings, ['config', '--get-regexp', '^remote\\..*\\.url$']);
  return {
    commit: commit!,
    dirty: status.kind !== 'answered' || lines.some((line) => line !== '' && !line.startsWith('#')),
    branch: head === '(detached)' ? null : head,
    remote: remoteOf(addresses.stdout.toString()),
    top: top!,
  };
}

/** Calls git so that it changes nothing, asks nobody, and says the same in every language. Never rejects. */
export function git(
  folder: string,
  { environment, patienceMs = PATIENCE_MS }: GitHost,
  words: readonly string[],
  most?: number,
): Promise<ShortAnswer> {
  const quiet = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' };
  return shortCall({
    program: 'git',
    args: ['-c', 'core.fsmonitor=false', '-c', 'core.quotepath=false', ...words],
    cwd: folder,
    environment: { ...withoutPointers(environment), ...quiet },
    patienceMs,
    ...(most === undefined ? {} : { most }),
  });
}

/** In a hook, git tells its children of a repository that need not be the one of the runs. */
function withoutPointers(environment: Readonly<Record<string, string>>): Record<string, string> {
  const pointers = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX', 'GIT_OBJECT_DIRECTORY'];
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !pointers.includes(name)));
}

/** Lines are `remote.NAME.url ADDRESS`; `origin` goes first. */
function remoteOf(config: string): string | null {
  const addresses = config.split('\n').filter((line) => line !== '');
  const line = addresses.find((each) => each.startsWith('remote.origin.url ')) ?? addresses[0];
  return line === undefined ? null : withoutUser(line.slice(line.indexOf(' ') + 1));
}

/** `https://me:token@host/x` loses `me:token@`; `git@host:x` has no secret in it. */
function withoutUser(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
}
