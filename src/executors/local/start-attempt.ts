import type { ChildProcess } from 'node:child_process';
import { closeSync, realpathSync } from 'node:fs';
import { hostIdentity } from '../../processes/host-identity.js';
import { startDetached } from '../../processes/started-program.js';
import { attemptDirectory } from '../attempt/attempt-files.js';
import { placeWord } from '../attempt/claim-text.js';
import { problemOf } from '../attempt/command-problem.js';
import { carried } from '../attempt/environment-carrier.js';
import {
  codeOf,
  niceProgram,
  openedLog,
  type Refusal,
  refusal,
  reopenedLog,
  say,
} from '../attempt/prepared-attempt.js';
import { SHIM } from '../attempt/shim.js';
import { startInTerminal } from './run-terminal.js';
import type { LaunchSpec, Start } from '../executor.js';

/** `child`: the shim. */
type ShimStart = Extract<Start, { kind: 'started' }> & { child: ChildProcess };

/** Read at startup, while files can be opened, as a missing part would make it a different place. */
const place = placeWord(hostIdentity());

/**
 * Starts the shim in a session of its own, writing directly to `output.log`, so that neither the end of the terminal nor that of
 * the supervisor affects it. Returns at once. A failure is in `reason` and, if possible, in the log.
 *
 * @param cgroup The attempt's cgroup for the shim to enter; null: none.
 * @param job See `ExecutorSetting`.
 */
export function startAttempt(spec: LaunchSpec, cgroup: string | null, job?: string): ShimStart | Refusal {
  const opened = job === undefined ? openedLog(spec) : reopenedLog(spec);
  if (opened.kind === 'refused') return opened;
  const { log } = opened;
  try {
    const start = launch(spec, log, { cgroup: cgroup ?? '', place: job === undefined ? place : `${place} job ${job}` });
    // Transient failures are not logged, as the start is tried many times.
    if (start.kind === 'refused' && !start.transient) say(log, `memrl-tui: ${start.reason}\n`);
    return start;
  } finally {
    closeSync(log);
  }
}

/** What the shim is told beside the command. */
type ShimSetting = { cgroup: string; place: string };

/**
 * Starts the shim in a terminal of its own instead. @param cgroup As in `startAttempt`.
 */
export async function startTerminalAttempt(spec: LaunchSpec, cgroup: string | null) {
  const opened = openedLog(spec);
  if (opened.kind === 'refused') return opened;
  closeSync(opened.log);
  try {
    return await startInTerminal(spec, ['/bin/sh', ...shimArguments(spec, { cgroup: cgroup ?? '', place })]);
  } catch (error) {
    return refusal(error, 'could not be started');
  }
}

function shimArguments(spec: LaunchSpec, setting: ShimSetting): string[] {
  const { directory, attempt, argv, environment, nice, input } = spec;
  return [
    '-c',
    SHIM,
    'memrl-shim',
    // Without links: at its end the shim compares it, to notice whether another directory has replaced its own.
    realpathSync.native(attemptDirectory(directory, attempt)),
    setting.cgroup,
    setting.place,
    input === 'lines' ? input : '',
    ...(nice === undefined ? [] : [niceProgram(), '-n', String(nice)]),
    ...carried(argv, environment),
  ];
}

function launch(spec: LaunchSpec, log: number, setting: ShimSetting): ShimStart | Refusal {
  const { cwd, environment } = spec;
  const args = shimArguments(spec, setting);
  try {
    const child = startDetached('/bin/sh', args, { cwd, env: environment, output: log });
    if (child.pid !== undefined) return { kind: 'started', child, pid: child.pid };
    const reason = problemOf(spec);
    // Node reports the reason only later. The shim itself is always executable, so if the folder is accessible, it is a shortage.
    if (reason !== null) return { kind: 'refused', reason, transient: false };
    return { kind: 'refused', reason: 'the machine is out of processes or open files', transient: true };
  } catch (error) {
    const tooBig = 'arguments and environment are too long for the system';
    if (codeOf(error) === 'E2BIG') return { kind: 'refused', reason: tooBig, transient: false };
    return refusal(error, 'could not be started');
  }
}
