import { type FSWatcher, watch } from 'node:fs';

/**
 * Resolves when the system reports that something has happened to one of these files or folders, or after so long: a path may not
 * be there, and some file systems report nothing. Keeps the process alive.
 */
export function firstChange(paths: readonly string[], longestMs: number): Promise<'reported' | 'time is up'> {
  return new Promise((resolve) => {
    const end = (how: 'reported' | 'time is up'): void => {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      resolve(how);
    };
    const timer = setTimeout(end, longestMs, 'time is up');
    const watchers = paths.flatMap((path) => watcherOf(path, () => end('reported')) ?? []);
  });
}

/** Null: it is not there, or there are too many watchers on this machine. */
function watcherOf(path: string, changed: () => void): FSWatcher | null {
  try {
    return watch(path, changed).on('error', () => undefined);
  } catch {
    return null;
  }
}
