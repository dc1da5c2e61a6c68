import { accessSync, constants, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';

/** Why this command cannot be started, in words; null when it can. A relative path is meant from `cwd`. */
export function commandProblem(command: string, cwd: string, path: string): string | null {
  if (!isDirectory(cwd)) return `working directory ${cwd} does not exist`;
  if (command.includes('/')) return fileProblem(isAbsolute(command) ? command : resolve(cwd, command));
  const candidates = path.split(':').map((folder) => resolve(cwd, join(folder, command)));
  if (candidates.some((candidate) => fileProblem(candidate) === null)) return null;
  return `command not found: ${command}`;
}

function fileProblem(file: string): string | null {
  try {
    if (!statSync(file).isFile()) return `${file} is not a program`;
    accessSync(file, constants.X_OK);
    return null;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return missing ? `command not found: ${file}` : `${file} may not be executed`;
  }
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
