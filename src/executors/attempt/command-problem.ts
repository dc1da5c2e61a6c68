import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import type { LaunchSpec } from '../executor.js';

/** Why the command of an attempt cannot be started, in words; null: no problem was found. */
export function problemOf({ argv, cwd, environment }: LaunchSpec): string | null {
  return commandProblem(argv[0] ?? '', cwd, environment['PATH'] ?? '');
}

/** Why a command cannot be started, in words; null: no problem was found. A relative path is relative to `cwd`. */
export function commandProblem(command: string, cwd: string, path: string): string | null {
  const place = placeProblem(cwd);
  if (place !== null) return place;
  if (command.includes('/')) return fileProblem(isAbsolute(command) ? command : resolve(cwd, command));
  const candidates = path.split(':').map((folder) => resolve(cwd, join(folder, command)));
  if (candidates.some((candidate) => fileProblem(candidate) === null)) return null;
  // The shell would have taken the first existing file.
  const there = candidates.find((candidate) => existsSync(candidate));
  return there === undefined ? `command not found: ${command}` : fileProblem(there);
}

function placeProblem(cwd: string): string | null {
  try {
    if (!statSync(cwd).isDirectory()) return `working directory ${cwd} is not a directory`;
    accessSync(cwd, constants.X_OK);
    return null;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return `working directory ${cwd} ${missing ? 'does not exist' : 'cannot be entered'}`;
  }
}

function fileProblem(file: string): string | null {
  if (!existsSync(file)) return `command not found: ${file}`;
  const about = statSync(file);
  if (!about.isFile()) return `${file} is not a program`;
  try {
    accessSync(file, constants.X_OK);
    return interpreterProblem(file);
  } catch {
    const isForAll = (about.mode & 0o111) === 0o111;
    return `${file} is not executable${isForAll ? ': its file system is mounted noexec' : ''}`;
  }
}

/**
 * Why the interpreter of a script cannot be started: if its first line names a missing program, the shell reports "not found" for
 * the script.
 */
function interpreterProblem(file: string): string | null {
  const interpreter = /^#!\s*([^\s\0]+)(\r?)/.exec(firstBytes(file));
  if (interpreter === null) return null;
  const [, program, windows] = interpreter;
  if (windows !== '') return `${file} has Windows line ends, so its interpreter is not found`;
  return existsSync(program!) ? null : `the interpreter of ${file} does not exist: ${program}`;
}

/** The first bytes of a file, of which the kernel reads no more. Empty if it may be executed but not read. */
function firstBytes(file: string): string {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(256);
      return bytes.toString('utf8', 0, readSync(descriptor, bytes));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}
