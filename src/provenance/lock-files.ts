import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularBytes } from '../files/regular-file.js';

/** Files by which people pin what is installed. */
const pinning =
  /^(?:uv\.lock|poetry\.lock|pdm\.lock|Pipfile\.lock|pixi\.lock|conda-lock\.yml|pylock(?:\..+)?\.toml|requirements[\w.-]*\.txt|environment\.ya?ml|pyproject\.toml|package-lock\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|Cargo\.lock)$/;
/** Bytes. */
const LARGEST = 64 * 2 ** 20;

/** SHA-256 of each such file in the folders, by its path. */
export function lockFileHashes(folders: readonly string[]): Record<string, string> {
  const hashes: Record<string, string> = {};
  for (const folder of new Set(folders)) {
    for (const name of namesIn(folder).filter((each) => pinning.test(each))) {
      const hash = hashOf(join(folder, name));
      if (hash !== null) hashes[join(folder, name)] = hash;
    }
  }
  return hashes;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Null for what is no file, too large, or may not be read. */
function hashOf(path: string): string | null {
  const read = readRegularBytes(path, LARGEST);
  return read.kind === 'bytes' ? createHash('sha256').update(read.bytes).digest('hex') : null;
}
