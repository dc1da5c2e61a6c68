import { spawnSync } from 'node:child_process';
import { UserError } from '../../base/user-error.js';
import { print } from '../terminal.js';

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens a text in the person's editor, and waits for it.
 *
 * @throws {UserError} When it cannot be started, or ends with anything but 0, as vim does on `:cq`.
 */
export function editText(path: string, environment: Environment): void {
  // The variable may hold arguments (`code --wait`): it is a piece of shell by custom.
  const editor = said(environment['VISUAL']) ?? said(environment['EDITOR']) ?? 'vi';
  const { status, error } = spawnSync('sh', ['-c', `${editor} "$1"`, 'editor', path], { stdio: 'inherit' });
  if (error === undefined && status === 0) return;
  const how = error?.message ?? (status === 127 ? 'it was not found' : `it ended with ${status ?? 'a signal'}`);
  throw new UserError(
    `The editor \`${editor}\` failed: ${how}. Nothing was submitted; the text is in ${path}.`,
    'Set EDITOR to an editor that waits until the file is closed, for example `EDITOR=nano`.',
  );
}

/**
 * Opens the person's shell in a directory, and waits for its end, however it ends.
 *
 * @throws {UserError} When there is no such directory, or the shell cannot be started.
 */
export function openShell(directory: string, environment: Environment): void {
  const shell = said(environment['SHELL']) ?? 'sh';
  print(['', directory, 'exit (or Ctrl-D) brings the window back.']);
  const { error } = spawnSync(shell, [], { stdio: 'inherit', cwd: directory });
  if (error === undefined) return;
  throw new UserError(
    `No shell could be opened in ${directory}: ${error.message}.`,
    'Look whether the directory is there yet (a run has one once it has started), and what SHELL is set to.',
  );
}

function said(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text;
}
