import { readFileSync } from 'node:fs';

/** What a file of JSON holds; null where there is none, or something else. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
