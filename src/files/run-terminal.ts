/** The terminal of a run, as the executor that made it has written it down, and the command that shows it. */
import { join } from 'node:path';
import { runFiles } from '../contract/files.js';
import { textOrNull } from './regular-file.js';

/** An attempt by the directory of its run and its number. */
export type AttemptPlace = { readonly directory: string; readonly number: number };

/** The key that leaves a terminal, for tmux and as users see it. */
export const leaveKey = { tmux: 'C-\\', shown: 'Ctrl-\\' } as const;

/** Name of the session of each terminal, which has a tmux server of its own. */
export const terminalSession = 'run';

/** Limit on the size of the file with a path, in bytes. */
const LARGEST = 4096;

/** The socket of the tmux server that is the terminal of an attempt; null: it has none. */
export function terminalOf({ directory, number }: AttemptPlace): string | null {
  const path = join(directory, runFiles.attempts, String(number), runFiles.terminal);
  return textOrNull(path, LARGEST)?.trim() ?? null;
}

/** The command that shows the terminal at this socket, until the user leaves it or its run ends. */
export function attachCommand(socket: string): { program: string; args: string[] } {
  return { program: 'tmux', args: ['-S', socket, 'attach-session', '-t', terminalSession] };
}
