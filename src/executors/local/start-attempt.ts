import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { attemptDirectory } from './attempt-files.js';
import { commandProblem } from './find-command.js';
import { SHIM } from './shim.js';

/** One start of a run, complete. */
export type AttemptOrder = {
  /** Of the run; absolute. */
  directory: string;
  attempt: number;
  argv: readonly string[];
  cwd: string;
  /** The whole of it: nothing is inherited from the supervisor. */
  environment: Readonly<Record<string, string>>;
};

export type Start = { kind: 'started'; child: ChildProcess; pid: number } | { kind: 'refused'; reason: string };

/**
 * Starts the shim in a session of its own, writing straight to `output.log`: neither the end of the terminal nor of the
 * supervisor reaches it. Returns at once. What stands in the way is told in `reason` and, if it can be, in the log.
 */
export function startAttempt(order: AttemptOrder): Start {
  let log: number;
  try {
    mkdirSync(attemptDirectory(order.directory, order.attempt), { recursive: true });
    log = openSync(join(order.directory, runFiles.log), 'a');
  } catch (error) {
    return { kind: 'refused', reason: `cannot write to ${order.directory} (${codeOf(error)})` };
  }
  try {
    return startIn(order, log);
  } finally {
    closeSync(log);
  }
}

function startIn(order: AttemptOrder, log: number): Start {
  separate(log, order.attempt);
  const start = launch(order, log);
  if (start.kind === 'refused') say(log, `memrl-tui: ${start.reason}\n`);
  return start;
}

function launch(order: AttemptOrder, log: number): Start {
  const { directory, attempt, argv, cwd, environment } = order;
  const args = ['-c', SHIM, 'memrl-shim', attemptDirectory(directory, attempt), ...argv];
  try {
    const child = spawn('/bin/sh', args, { detached: true, stdio: ['ignore', log, log], cwd, env: environment });
    // Without a listener a failed spawn would end the supervisor; the missing pid tells us all the same.
    child.on('error', () => undefined);
    child.unref();
    if (child.pid !== undefined) return { kind: 'started', child, pid: child.pid };
    return { kind: 'refused', reason: problemOf(order) ?? 'no process could be started (out of processes?)' };
  } catch (error) {
    const tooBig = codeOf(error) === 'E2BIG';
    const reason = tooBig ? 'arguments and environment are too long' : `could not be started (${codeOf(error)})`;
    return { kind: 'refused', reason };
  }
}

/** Why the command of an attempt cannot be started, in words; null when nothing is wrong with it. */
export function problemOf({ argv, cwd, environment }: AttemptOrder): string | null {
  return commandProblem(argv[0] ?? '', cwd, environment['PATH'] ?? '');
}

/** A line between attempts, so that the log of a resumed run can be read. */
function separate(log: number, attempt: number): void {
  if (fstatSync(log).size === 0) return;
  say(log, `\n──── attempt ${attempt}, ${new Date().toISOString()} ────\n`);
}

/** The log is a courtesy: a full disk must not keep the reason from the person's screen. */
function say(log: number, text: string): void {
  try {
    writeSync(log, text);
  } catch {
    // Nothing better to do with it.
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
