import { type ChildProcess, spawn, spawnSync } from 'node:child_process';

/**
 * How programs are started that are no short calls. Node's own `spawn`, as execa makes each launch dearer and gives nothing that
 * these need (docs/architecture.md has the figures); short calls, which it serves well, are in `short-call.ts`.
 */

/** `output`: the descriptor that takes the program's standard output and error; its input is empty. */
type Detached = {
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly output: number;
};

/**
 * Starts a program in a session of its own, writing directly to a file, so that neither the end of the terminal nor that of this
 * process affects it. Returns at once; a process without a pid could not be started.
 *
 * @throws For arguments that no system call accepts.
 */
export function startDetached(program: string, args: readonly string[], { cwd, env, output }: Detached): ChildProcess {
  const child = spawn(program, args, {
    ...{ detached: true, stdio: ['ignore', output, output], env },
    ...(cwd === undefined ? {} : { cwd }),
  });
  // Without a listener a failed start would end this process; the missing pid shows the failure.
  child.on('error', () => undefined);
  child.unref();
  return child;
}

/** `status`: null after a signal. `error`: why it could not be started. */
type Left = { readonly status: number | null; readonly error?: Error | undefined };

/** Gives this terminal to a program until it ends. */
export function runInForeground(
  program: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Left {
  return spawnSync(program, args, {
    stdio: 'inherit',
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
  });
}
