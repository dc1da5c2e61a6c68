import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textOrNull } from '../files/regular-file.js';
import { shortCall } from './short-call.js';

/** What a Node program of that folder can import: the versions of its direct dependencies that are installed. */
export type NodePackages = {
  version: string;
  /** `name@version` of the project; null where there is no package.json. */
  project: string | null;
  packages: Record<string, string>;
};

/** ms */
const PATIENCE_MS = 5000;
/** Of a package.json, bytes. */
const LARGEST = 2 ** 22;

type Manifest = { name?: string; version?: string; dependencies?: object; devDependencies?: object };

/** Never rejects. A string says why there is no answer. */
export async function nodePackages(
  command: readonly string[],
  place: { cwd: string; environment: Readonly<Record<string, string>> },
): Promise<NodePackages | string> {
  const { output, problem } = await shortCall([...command, '--version'], { ...place, patienceMs: PATIENCE_MS });
  if (problem !== null) return problem;
  const version = output.toString().trim();
  const folder = folderOfProject(place.cwd);
  const manifest = folder === null ? null : readManifest(folder);
  if (folder === null || manifest === null) return { version, project: null, packages: {} };
  const names = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies }).sort();
  const installed = names.map((name) => [name, readManifest(join(folder, 'node_modules', name))?.version] as const);
  return {
    version,
    project: `${manifest.name ?? '(no name)'}@${manifest.version ?? '(no version)'}`,
    packages: Object.fromEntries(installed.map(([name, found]) => [name, found ?? 'not installed'])),
  };
}

/** The nearest folder with a package.json, upwards. */
function folderOfProject(start: string): string | null {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

function readManifest(folder: string): Manifest | null {
  const text = textOrNull(join(folder, 'package.json'), LARGEST);
  if (text === null) return null;
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === 'object' ? read : null;
  } catch {
    return null;
  }
}
