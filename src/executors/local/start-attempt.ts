import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, realpathSync } from 'node:fs';
import { hostIdentity } from '../../processes/host-identity.js';
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
import type { LaunchSpec, Start } from '../executor.js';

/** `child`: the shim. */
type ShimStart = Extract<Start, { kind: 'started' }> & { child: ChildProcess };

/** Read while files can be opened: what could not be read would make this another place. */
const place = placeWord(hostIdentity());

/**
 * Starts the shim in a session of its own, writing straight to `output.log`: neither the end of the terminal nor of the
 * supervisor reaches it. Returns at once. What stands in the way is told in `reason` and, if it can be, in the log.
 *
 * @param cgroup The attempt's own, for the shim to enter; null: none.
 * @param job See `ExecutorSetting`.
 */
export function startAttempt(spec: LaunchSpec, cgroup: string | null, job?: string): ShimStart | Refusal {
  const opened = job === undefined ? openedLog(spec) : reopenedLog(spec);
  if (opened.kind === 'refused') return opened;
  const { log } = opened;
  try {
    const start = launch(spec, log, { cgroup: cgroup ?? '', place: job === undefined ? place : `${place} job ${job}` });
    // What passes by itself is not worth a line for every time it is tried.
    if (start.kind === 'refused' && !start.transient) say(log, `memrl-tui: ${start.reason}\n`);
    return start;
  } finally {
    closeSync(log);
  }
}

/** What the shim is told beside the command. */
type ShimSetting = { cgroup: string; place: string };

function launch(spec: LaunchSpec, log: number, setting: ShimSetting): ShimStart | Refusal {
  const { directory, attempt, argv, cwd, environment, nice } = spec;
  const args = [
    '-c',
    SHIM,
    'memrl-shim',
    // Without links: by that the shim knows at its end whether another directory has taken the place of its own.
    realpathSync.native(attemptDirectory(directory, attempt)),
    setting.cgroup,
    setting.place,
    ...(nice === undefined ? [] : [niceProgram(), '-n', String(nice)]),
    ...carried(argv, environment),
  ];
  try {
    const child = spawn('/bin/sh', args, { detached: true, stdio: ['ignore', log, log], cwd, env: environment });
    // Without a listener a failed spawn would end the supervisor; the missing pid tells us all the same.
    child.on('error', () => undefined);
    child.unref();
    if (child.pid !== undefined) return { kind: 'started', child, pid: child.pid };
    const reason = problemOf(spec);
    // Node tells why only later. The shim can always be executed, so if the folder can be entered, it is a shortage.
    if (reason !== null) return { kind: 'refused', reason, transient: false };
    return { kind: 'refused', reason: 'the machine is out of processes or open files', transient: true };
  } catch (error) {
    const tooBig = 'arguments and environment are too long for the system';
    if (codeOf(error) === 'E2BIG') return { kind: 'refused', reason: tooBig, transient: false };
    return refusal(error, 'could not be started');
  }
}
