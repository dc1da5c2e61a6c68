import { execFile } from 'node:child_process';

export type GitState = { commit: string; dirty: boolean };

/** Above this a repository is too slow to be worth knowing, ms. */
const PATIENCE_MS = 5000;

/** The commit that a folder is at; null outside a repository. Never rejects. */
export async function readGitState(folder: string): Promise<GitState | null> {
  const commit = await git(folder, ['rev-parse', 'HEAD']);
  if (commit === null) return null;
  const changes = await git(folder, ['status', '--porcelain', '--untracked-files=no']);
  return { commit: commit.trim(), dirty: changes === null || changes !== '' };
}

function git(cwd: string, args: string[]): Promise<string | null> {
  return new Promise((resolve) => {
    execFile('git', args, { cwd, timeout: PATIENCE_MS, maxBuffer: 1 << 26 }, (error, stdout) =>
      resolve(error === null ? stdout : null),
    );
  });
}
