import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

/**
 * The file that a program's name means on a PATH; null: there is none that may be executed.
 *
 * @param cwd What an empty entry of the PATH, and a relative one, stands for. Without it these are passed over.
 */
export function programFile(program: string, path: string, cwd?: string): string | null {
  const folders = path.split(':').filter((folder) => cwd !== undefined || folder.startsWith('/'));
  const files = folders.map((folder) => resolve(cwd ?? '/', folder, program));
  return files.find(isExecutable) ?? null;
}

/** Whether such a program is on the PATH of `environment`. */
export function isOnPath(program: string, { PATH: path = '' }: Readonly<NodeJS.ProcessEnv>): boolean {
  return programFile(program, path) !== null;
}

/** A folder may be searched by the same right; it is no program. */
function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
