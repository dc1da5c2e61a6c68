import { type ShortAnswer, shortCall } from '../processes/short-call.js';

/** The state of a repository. */
export type GitState = {
  commit: string;
  /** Whether tracked files differ from the commit. */
  dirty: boolean;
  /** Null: no branch is checked out. */
  branch: string | null;
  /** URL of the remote, without user and password; null: there is none. */
  remote: string | null;
  /** Absolute path of the work tree. */
  top: string;
};

/** How git is called. `patienceMs`: time limit; absent: the default. */
export type GitHost = { environment: Readonly<Record<string, string>>; patienceMs?: number };

/** Time limit of git, ms: a slower repository is left out. */
const PATIENCE_MS = 5000;

/** The state of the repository that contains a folder; null outside one, and without git. Never rejects. */
export async function readGitState(folder: string, host: GitHost): Promise<GitState | null> {
  const place = await git(folder, host, ['rev-parse', '--show-toplevel', 'HEAD']);
  if (place.kind !== 'answered') return null;
  const [top, commit] = place.stdout.toString().trimEnd().split('\n');
  const status = await git(folder, host, ['status', '--porcelain=v2', '--branch', '--untracked-files=no']);
  const lines = status.stdout.toString().split('\n');
  const head = lines.find((line) => line.startsWith('# branch.head '))?.slice('# branch.head '.length) ?? null;
  const addresses = await git(folder, host, ['config', '--get-regexp', '^remote\\..*\\.url$']);
  return {
    commit: commit!,
    dirty: status.kind !== 'answered' || lines.some((line) => line !== '' && !line.startsWith('#')),
    branch: head === '(detached)' ? null : head,
    remote: remoteOf(addresses.stdout.toString()),
    top: top!,
  };
}

/** Calls git without side effects, prompts and translated output. Never rejects. */
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

/** Removes git's variables: a hook sets them to its own repository, which need not be that of the runs. */
function withoutPointers(environment: Readonly<Record<string, string>>): Record<string, string> {
  const pointers = ['GIT_DIR', 'GIT_WORK_TREE', 'GIT_INDEX_FILE', 'GIT_PREFIX', 'GIT_OBJECT_DIRECTORY'];
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !pointers.includes(name)));
}

/** The address in lines of `remote.NAME.url ADDRESS`; `origin` is preferred. */
function remoteOf(config: string): string | null {
  const addresses = config.split('\n').filter((line) => line !== '');
  const line = addresses.find((each) => each.startsWith('remote.origin.url ')) ?? addresses[0];
  return line === undefined ? null : withoutUser(line.slice(line.indexOf(' ') + 1));
}

/** Removes the user from a URL: `https://me:token@host/x` loses `me:token@`; `git@host:x` contains no secret. */
function withoutUser(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
}
