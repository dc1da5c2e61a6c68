/**
 * Runs with a terminal of their own (`terminal: true`): for each a tmux server, whose only pane starts the shim.
 *
 * - The server and its pane outlive window and supervisor, and end with the shim. The shim claims the attempt, records the exit code
 *   and is the root of the run's processes, as for every other run; the server is an ancestor, and no signal to the run reaches it.
 * - Between the two is a shell, the leader of the session: tmux continues a program of its own that is stopped, so the shim must not
 *   be one, or a run without a cgroup could not be paused.
 * - What the pane shows goes to the log of the run by `pipe-pane`, from the first byte on. The `cat` that writes the log ignores
 *   polite signals, so that nothing is lost that a run prints while it stops.
 * - The server does not have the marks of the run in its environment, by which processes of a run are found; `env` sets them for
 *   the shim. It does not read the user's configuration, and all keys but one are the program's.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { runFiles, runMarks } from '../../contract/files.js';
import type { AttemptPlace } from '../../files/run-directory/own-directory.js';
import { leaveKey, noteTerminal, terminalOf, terminalSession } from '../../files/run-directory/terminal-note.js';
import { socketAddress } from '../../files/socket-address.js';
import { isAlive, type ProcessIdentity, readStat } from '../../processes/process-identity.js';
import { isOnPath } from '../../processes/program-file.js';
import { askProgram } from '../../processes/short-call.js';
import { attemptDirectory, readClaim } from '../attempt/attempt-files.js';
import { openedLog, problemOf, type Refusal, refusal, shimArguments } from '../attempt/start-attempt.js';
import type { LaunchSpec } from '../executor.js';

type Environment = Readonly<Record<string, string>>;
/** Limit on a call of tmux, and on the time until the shim has claimed its attempt, ms. */
const PATIENCE_MS = 10_000;
const CLAIM_LOOK_MS = 10;
/** Size of the terminal until somebody looks at it. */
const size = ['-x', '120', '-y', '36'];

/** Why runs cannot have a terminal here, in words; null: they can. */
export function terminalProblem(environment: Environment): string | null {
  if (isOnPath('tmux', environment)) return null;
  return 'A run with `terminal: true` has a terminal by tmux, which is not on the PATH here (`apt install tmux`, `brew install tmux`).';
}

/** `identity`: of the shim; null: another one has claimed the attempt. */
type TerminalStart = { readonly kind: 'started'; readonly pid: number; readonly identity: ProcessIdentity | null };

/** Starts an attempt in a terminal of its own, and returns when its shim is known. @param cgroup As in `startAttempt`. */
export async function startTerminalAttempt(spec: LaunchSpec, cgroup: string | null): Promise<TerminalStart | Refusal> {
  const opened = openedLog(spec);
  if (opened.kind === 'refused') return opened;
  closeSync(opened.log);
  try {
    return await startInTerminal(spec, ['/bin/sh', ...shimArguments(spec, cgroup)]);
  } catch (error) {
    return refusal(error, 'could not be started');
  }
}

/**
 * Starts an attempt, whose directory and log are there, in a terminal.
 *
 * @param shim Program and arguments of the shim.
 */
async function startInTerminal(spec: LaunchSpec, shim: readonly string[]): Promise<TerminalStart | Refusal> {
  const { directory, attempt: number, environment, cwd } = spec;
  const reason = terminalProblem(environment) ?? problemOf(spec);
  if (reason !== null) return { kind: 'refused', reason, transient: false };
  const folder = attemptDirectory(directory, number);
  if (readClaim(folder).kind !== 'none') return { kind: 'started', pid: 0, identity: null };
  const socket = newSocket();
  noteTerminal({ directory, number }, socket);
  const answer = await askProgram({
    program: 'tmux',
    args: ['-S', socket, '-f', '/dev/null', ...sequence(commands(shim, environment))],
    environment: serverEnvironment(spec),
    patienceMs: PATIENCE_MS,
    cwd,
  });
  if (answer.kind !== 'answered') {
    const why = answer.kind === 'hung' ? 'tmux does not answer' : `tmux: ${answer.reason}`;
    return { kind: 'refused', reason: `it could not be given a terminal: ${why}`, transient: answer.kind === 'hung' };
  }
  const identity = await claimantOf(folder, Number(answer.stdout.trim()));
  return { kind: 'started', pid: identity?.pid ?? 0, identity };
}

/** A path for a socket that nothing uses. Not in `$XDG_RUNTIME_DIR`, which is deleted when the user logs out. */
function newSocket(): string {
  const host = { runtimeDirectory: undefined, temporary: tmpdir(), uid: process.getuid?.() ?? 0 };
  let path: string;
  do path = socketAddress(randomUUID(), host);
  while (existsSync(path));
  return path;
}

/** The environment of the tmux server: that of the run without its marks, and without the tmux that the user is in. */
function serverEnvironment({ directory, environment }: LaunchSpec): Environment {
  const marks: readonly string[] = [...Object.values(runMarks), 'TMUX', 'TMUX_PANE'];
  const rest = Object.entries(environment).filter(([name]) => !marks.includes(name));
  return { ...Object.fromEntries(rest), [logVariable]: join(directory, runFiles.log) };
}

/** Tells the shell of `pipe-pane` the path of the log: in the command itself tmux would expand `#` and `%`. */
const logVariable = 'MEMRL_TERMINAL_LOG';

/** Catches, and does not ignore, the signals that its keys send to the run, which gets the default dispositions back. */
const leader = 'trap : HUP INT QUIT TERM; "$@"; exit';

function commands(shim: readonly string[], environment: Environment): string[][] {
  const marks = Object.values(runMarks).map((name) => `${name}=${environment[name] ?? ''}`);
  const program = ['/bin/sh', '-c', leader, 'memrl-terminal', '/usr/bin/env', '-u', logVariable, ...marks, ...shim];
  return [
    ['set-option', '-g', 'history-limit', '10000'],
    ['new-session', '-d', '-s', terminalSession, ...size, '-P', '-F', '#{pane_pid}', '--', ...program],
    ['pipe-pane', '-t', terminalSession, `trap '' TERM INT HUP; exec cat >> "$${logVariable}"`],
    ['set-option', '-g', 'status', 'off'],
    ['set-option', '-g', 'prefix', 'None'],
    ['set-option', '-s', 'escape-time', '0'],
    // A key that is read together with others would count as pasted and go to the run, which the key that leaves would quit.
    ['set-option', '-g', 'assume-paste-time', '0'],
    ['bind-key', '-n', leaveKey.tmux, 'detach-client'],
  ];
}

/** Several commands for one call. tmux takes a word that ends in `;` for the end of a command. */
function sequence(lines: readonly (readonly string[])[]): string[] {
  return lines.flatMap((words, index) => [
    ...(index === 0 ? [] : [';']),
    ...words.map((word) => (word.endsWith(';') ? `${word.slice(0, -1)}\\;` : word)),
  ]);
}

/** The identity of the shim, a child of the leader, once it has claimed its attempt; null: it never will. */
async function claimantOf(folder: string, leaderPid: number): Promise<ProcessIdentity | null> {
  for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(CLAIM_LOOK_MS)) {
    const claim = readClaim(folder);
    if (claim.kind === 'withdrawn') return null;
    if (claim.kind !== 'begun') continue;
    const { identity } = claim;
    // A process that has ended cannot be asked for its parent.
    const parent = isAlive(identity) ? readStat(identity.pid)?.parent : undefined;
    return parent === undefined || parent === leaderPid ? identity : null;
  }
  return null;
}

/** Types a line into the terminal of an attempt; see `Executor.type`. */
export async function typeIntoTerminal(which: AttemptPlace, line: string): Promise<string | null> {
  const socket = terminalOf(which);
  if (socket === null) return 'has no terminal to type into';
  const answer = await askProgram({
    program: 'tmux',
    args: [
      '-S',
      socket,
      ...sequence([
        ['load-buffer', '-b', 'typed', '-'],
        ['paste-buffer', '-d', '-b', 'typed', '-t', terminalSession],
      ]),
    ],
    environment: process.env,
    patienceMs: PATIENCE_MS,
    input: `${line}\n`,
  });
  if (answer.kind === 'answered') return null;
  return `cannot be typed into: ${answer.kind === 'hung' ? 'tmux does not answer' : answer.reason}`;
}
