import { readFileSync } from 'node:fs';

/** The parsed content of a JSON file; null when it is missing or invalid. */
export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return null;
  }
}
