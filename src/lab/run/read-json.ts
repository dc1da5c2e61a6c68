import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** The parsed content of a JSON file; null when it is missing or invalid. */
export function readJson(path: string, reviver?: (key: string, value: unknown) => unknown): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'), reviver);
  } catch {
    return null;
  }
}

/** Replaces a file at once: a reader sees the old text or the new one. Several processes may do so. */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, text);
  renameSync(draft, path);
}
