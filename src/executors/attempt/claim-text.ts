/**
 * What stands in the `pid` file of an attempt, line by line:
 *
 *     4711 (sh) S 1 … BOOT-ID at HOST/MACHINE-ID/PID-NAMESPACE job 12:KEY                         by the shim of a job of Slurm
 *     4711 (sh) S 1 … BOOT-ID at HOST/MACHINE-ID/PID-NAMESPACE cgroup /sys/fs/cgroup/…/memrl/…   by the shim, when it begins
 *     Killed                                                                                    by its shell, of the command
 *     exit 137                                                                                  where `exit` had no room
 *
 * The first line is `/proc/PID/stat` and the boot id; without /proc (macOS) `PID lstart TIME`. Files of versions before this
 * have no place. A supervisor that wants the attempt never to begin writes `withdrawn by the supervisor` instead, and adds
 * `; its directory was gone` where it cannot tell whether the attempt had begun.
 */
import { isRunCgroup } from '../../processes/cgroup.js';
import type { HostIdentity } from '../../processes/host-identity.js';
import { type ProcessIdentity, parseIdentity } from '../../processes/process-identity.js';

/** Where the shim ran, beside the boot id of its identity. */
type Place = Omit<HostIdentity, 'bootId'>;

/**
 * Who owns an attempt. `unreadable`: someone has created the file and its line is not there (yet, or the disk was full).
 * `withdrawn`: a supervisor claimed it so that it can never start; `neverRan`: nor had it. `begun`: a shim did, and entered
 * that cgroup, if any.
 */
export type Claim =
  | { kind: 'none' }
  | { kind: 'unreadable' }
  | { kind: 'withdrawn'; neverRan: boolean }
  /** `place` null: an earlier version wrote it, and did not say. `job`: of Slurm, by which it was started; absent: by none. */
  | { kind: 'begun'; identity: ProcessIdentity; place: Place | null; job?: string; cgroup: string | null };

const withdrawal = 'withdrawn by the supervisor';
const wasGone = '; its directory was gone';

/** The line by which a supervisor takes the shim's place. @param neverRan Whether the command is known not to have run. */
export function withdrawalLine(neverRan: boolean): string {
  return `${withdrawal}${neverRan ? '' : wasGone}\n`;
}

/** The line that a supervisor adds when a person says that an attempt out of reach has ended. */
export const surrender = 'given up';

/** @param text Of the file; null: there is none. */
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

/** As one word. */
export function placeWord({ host, machineId, pidNamespace }: Place): string {
  return [host, machineId, pidNamespace].map(encodeURIComponent).join('/');
}

/** The first line for a shim that is known otherwise, and whose shell may say its words where nobody reads them. @param stat Text of its `/proc/PID/stat`. */
export function claimLine(stat: string, { bootId, ...place }: HostIdentity, cgroup: string | null): string {
  const words = [stat.trim(), bootId, 'found', 'at', placeWord(place), ...(cgroup === null ? [] : ['cgroup', cgroup])];
  return `${words.join(' ')}\n`;
}

/** What the shell said of the command. */
export type ShellWords = {
  /** The command died of a signal; null: what the shell said of that, if anything, is not here. */
  signalled: boolean | null;
  /** No process could be made for the command, so it was not run. */
  notRun: boolean;
};

/**
 * A shell gives a program that ends itself with 143 the same code as one that dies of SIGTERM, but says `Terminated` of the
 * second alone. What it says of its own trouble to fork is nothing that happened to the command.
 */
export function shellWords(text: string | null): ShellWords {
  const [first = '', ...lines] = (text ?? '').split('\n');
  const said = lines.filter((line) => line !== '' && !/^exit \d+$/.test(line) && !ours.includes(line));
  const isOfCommand = said.some((line) => !/fork/i.test(line));
  const knows = /(?<! found) at \S+( job \S+)?( cgroup \/.*)?$/.test(first);
  return {
    signalled: knows ? isOfCommand : null,
    notRun: lines.includes('not run') && said.some((line) => /fork/i.test(line)),
  };
}

const ours = ['not run', surrender];

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
