/** The terminal of a run, as the executor that made it has written it down, and the command that shows it. */
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { supervisorFiles } from '../../contract/files.js';
import { makeFolder } from '../make-folder.js';
import { type AttemptPlace, firstNumber } from './own-directory.js';
import { socketProblem } from '../private-folder.js';
import { textOrNull } from '../regular-file.js';
import { writeFresh } from '../whole-file.js';

/** The key that leaves a terminal, for tmux and as users see it. */
export const leaveKey = { tmux: 'C-\\', shown: 'Ctrl-\\' } as const;

/** Name of the session of each terminal, which has a tmux server of its own. */
export const terminalSession = 'run';

/** Limit on the size of the file with a path, in bytes. */
const LARGEST = 4096;

/**
 * The socket of the tmux server that is the terminal of an attempt; null: it has none here.
 *
 * Whoever may write to the directory of a run must not choose what is typed into, shown or deleted, so the path is kept in the
 * folder of the supervisor; and it counts only while nobody else can have put that socket there.
 */
export function terminalOf(which: AttemptPlace): string | null {
  const socket = textOrNull(noteOf(which), LARGEST)?.trim() ?? null;
  return socket === null || socketProblem(socket) !== null ? null : socket;
}

/** Notes the socket of an attempt that is about to start. @throws The error of the operating system. */
export function noteTerminal(which: AttemptPlace, socket: string): void {
  const path = noteOf(which);
  makeFolder(dirname(path), 0o700);
  writeFresh(path, `${socket}\n`, 0o600);
}

/** Deletes the socket of an attempt that has ended, which tmux leaves, and the note of it. */
export function removeTerminal(which: AttemptPlace): void {
  const socket = terminalOf(which);
  try {
    for (const path of [socket, noteOf(which)]) if (path !== null) rmSync(path, { force: true });
  } catch {
    // A disk that refuses keeps them, and they are in nobody's way.
  }
}

/** The file with the path of the socket: `.supervisor/terminals/SWEEP:RUN.ATTEMPT`, hashed as names may be long. */
function noteOf(which: AttemptPlace): string {
  const sweep = dirname(which.directory);
  const name = `${basename(sweep)}:${basename(which.directory)}.${firstNumber(which)}`;
  const file = createHash('sha256').update(name).digest('hex').slice(0, 32);
  return join(dirname(sweep), supervisorFiles.directory, supervisorFiles.terminals, file);
}

/** The command that shows the terminal at this socket, until the user leaves it or its run ends. */
export function attachCommand(socket: string): { program: string; args: string[] } {
  return { program: 'tmux', args: ['-S', socket, 'attach-session', '-t', terminalSession] };
}
