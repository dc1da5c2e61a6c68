import type { LeakedProcess } from '../../executors/local/local-executor.js';

/** Names spelt out before the rest is only counted. */
const NAMED = 3;

/** What is said of processes that are still there after their run has ended; null: there are none. `killed`: they were sent SIGKILL. */
export function leakedProcessWords(survivors: readonly LeakedProcess[], killed: boolean): string | null {
  if (survivors.length === 0) return null;
  const count = `${survivors.length} process${survivors.length === 1 ? '' : 'es'}`;
  const names = survivors.slice(0, NAMED).map(({ pid, name }) => `${name} (pid ${pid})`);
  const list = survivors.length > NAMED ? [...names, '…'] : names;
  return `${count} ${killed ? 'survived SIGKILL' : 'left behind'}: ${list.join(', ')}`;
}
