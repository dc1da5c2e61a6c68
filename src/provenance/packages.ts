import { type Interpreter, interpreterOf } from './interpreter.js';
import { lockFileHashes } from './lock-files.js';
import { type NodePackages, nodePackages } from './node-packages.js';
import { type PythonPackages, pythonPackages } from './python-packages.js';

/** What a run's code could import, and by which files that was pinned. `unknown`: why the interpreter did not say. */
export type Packages = {
  version: 1;
  python?: PythonPackages;
  node?: NodePackages;
  unknown?: string;
  /** SHA-256 by path. */
  pinned: Record<string, string>;
};

type Place = { cwd: string; environment: Readonly<Record<string, string>> };

/** The same key: the same packages. Looking costs 50 µs, reading up to a second. */
export type PackageLookup = { key: string; read: (folders: readonly string[]) => Promise<Packages | null> };

/** Finds the interpreter that a command comes down to. */
export function packageLookup(argv: readonly string[], place: Place): PackageLookup {
  const interpreter = interpreterOf(argv, { cwd: place.cwd, path: place.environment['PATH'] ?? '' });
  return {
    key: JSON.stringify([place.cwd, place.environment['PATH'], interpreter]),
    read: (folders) => readPackages(interpreter, folders, place),
  };
}

/** Null when there is nothing to tell: neither Python nor Node, nor a file that pins packages in the folders. */
async function readPackages(
  interpreter: Interpreter | null,
  folders: readonly string[],
  place: Place,
): Promise<Packages | null> {
  const pinned = lockFileHashes(folders);
  if (interpreter === null) return Object.keys(pinned).length === 0 ? null : { version: 1, pinned };
  return { version: 1, ...(await installed(interpreter, place)), pinned };
}

async function installed({ language, command }: Interpreter, place: Place): Promise<Partial<Packages>> {
  const answer = await (language === 'python' ? pythonPackages(command, place) : nodePackages(command, place));
  return typeof answer === 'string' ? { unknown: `${command.join(' ')}: ${answer}` } : { [language]: answer };
}
