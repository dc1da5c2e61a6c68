/**
 * The lines of an attempt's `pid` file:
 *
 *     4711 (sh) S 1 … BOOT-ID at HOST/MACHINE-ID/PID-NAMESPACE job 12:KEY:0,1                     by the shim of a job of Slurm, with its GPUs
 *     4711 (sh) S 1 … BOOT-ID at HOST/MACHINE-ID/PID-NAMESPACE cgroup /sys/fs/cgroup/…/memrl/…   by the shim, when it begins
 *     Killed                                                                                    by its shell, of the command
 *     got SIGTERM                                                                               by the shim, which has got it too
 *     exit 137                                                                                  where `exit` had no room
 *
 * The first line is `/proc/PID/stat` and the boot id; without /proc (macOS) `PID lstart TIME`. Files of versions before this
 * have no place. A supervisor that wants the attempt never to begin writes `withdrawn by the supervisor` instead, and adds
 * `; its directory was gone` where it cannot tell whether the attempt had begun.
 */
import { isRunCgroup } from '../../processes/cgroup.js';
import { type HostIdentity, parseIdentity, type ProcessIdentity } from '../../processes/process-identity.js';

/** The machine and namespace of the shim; its boot id is in the identity. */
type Place = Omit<HostIdentity, 'bootId'>;

/**
 * The owner of an attempt. `unreadable`: the file exists without its line (yet, or because the disk was full). `withdrawn`: a
 * supervisor claimed it so that it can never start; `neverRan`: it had not started before. `begun`: a shim claimed it, and entered
 * that cgroup, if any.
 */
export type Claim =
  | { kind: 'none' }
  | { kind: 'unreadable' }
  | { kind: 'withdrawn'; neverRan: boolean }
  /** `place` null: an earlier version wrote the claim without it. `job`: the Slurm job of the shim; absent: none. */
  | { kind: 'begun'; identity: ProcessIdentity; place: Place | null; job?: string; cgroup: string | null };

const withdrawal = 'withdrawn by the supervisor';
const wasGone = '; its directory was gone';

/** The line with which a supervisor claims an attempt. @param neverRan Whether the command is known not to have run. */
export function withdrawalLine(neverRan: boolean): string {
  return `${withdrawal}${neverRan ? '' : wasGone}\n`;
}

/** The line that a supervisor adds when a user gives up an unreachable attempt. */
export const surrender = 'given up';

/** @param text Text of the file; null: there is none. */
export function parseClaim(text: string | null): Claim {
  if (text === null) return { kind: 'none' };
  if (text.startsWith(withdrawal)) return { kind: 'withdrawn', neverRan: !text.includes(wasGone) };
  const [, shim = '', place, job, cgroup = ''] =
    /^(.*?)(?: (?:found )?at (\S+))?(?: job (\S+))?(?: cgroup (\/.*))?\n/.exec(text) ?? [];
  const identity = parseIdentity(shim);
  if (identity === null) return { kind: 'unreadable' };
  const begun = { kind: 'begun', identity, place: parsePlace(place) } as const;
  return { ...begun, cgroup: isRunCgroup(cgroup) ? cgroup : null, ...(job === undefined ? {} : { job }) };
}

/** A place as one word. */
export function placeWord({ host, machineId, pidNamespace }: Place): string {
  return [host, machineId, pidNamespace].map(encodeURIComponent).join('/');
}

/**
 * The first line for a live shim that was identified without its file. Its shell may write its messages to a deleted file. @param
 * stat Text of its `/proc/PID/stat`.
 */
export function claimLine(stat: string, { bootId, ...place }: HostIdentity, cgroup: string | null): string {
  const words = [stat.trim(), bootId, 'found', 'at', placeWord(place), ...(cgroup === null ? [] : ['cgroup', cgroup])];
  return `${words.join(' ')}\n`;
}

/** The messages of the shell about the command. */
export type ShellWords = {
  /** Whether the command died of a signal; null: the shell's messages are not available. */
  signalled: boolean | null;
  /** Whether no process could be created for the command, so that it was not run. */
  notRun: boolean;
  /** Whether the shim got SIGTERM, as it does with its command from whoever ends all processes of a run. */
  terminated: boolean;
};

/**
 * Parses the messages of the shell. For a program that exits with 143 it reports the same code as for one that dies of SIGTERM, but
 * prints `Terminated` only for the latter. Its messages about failed forks do not concern the command.
 */
export function shellWords(text: string | null): ShellWords {
  const [first = '', ...lines] = (text ?? '').split('\n');
  const said = lines.filter((line) => line !== '' && !/^exit \d+$/.test(line) && !ours.includes(line));
  const isOfCommand = said.some((line) => !/fork/i.test(line));
  const knows = /(?<! found) at \S+( job \S+)?( cgroup \/.*)?$/.test(first);
  return {
    signalled: knows ? isOfCommand : null,
    notRun: lines.includes('not run') && said.some((line) => /fork/i.test(line)),
    terminated: lines.includes('got SIGTERM'),
  };
}

const ours = ['not run', 'got SIGTERM', surrender];

function parsePlace(word: string | undefined): Place | null {
  const [host, machineId, pidNamespace, ...more] = (word ?? '').split('/').map(decoded);
  if (host === undefined || machineId === undefined || pidNamespace === undefined || more.length > 0) return null;
  return { host, machineId, pidNamespace };
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
