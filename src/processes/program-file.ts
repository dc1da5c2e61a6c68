import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * The executable file of a program's name on a PATH; null: there is none.
 *
 * @param cwd The directory for empty and relative entries of the PATH. Without it these are skipped.
 */
export function programFile(program: string, path: string, cwd?: string): string | null {
  const folders = path.split(':').filter((folder) => cwd !== undefined || folder.startsWith('/'));
  const files = folders.map((folder) => resolve(cwd ?? '/', folder, program));
  return files.find(isExecutable) ?? null;
}

/** Whether a program is on the PATH of `environment`. */
export function isOnPath(program: string, { PATH: path = '' }: Readonly<NodeJS.ProcessEnv>): boolean {
  return programFile(program, path) !== null;
}

/** Whether a file is executable. Folders have the same permission bit, but do not count. */
function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
