import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { runMarks } from '../../contract/run-marks.js';
import { isDead, type ProcessStat, readStat } from './process-identity.js';

/** One living process at the moment of the reading. */
export type ProcessEntry = ProcessStat & {
  /** Directory of the run whose mark it carries in its environment; null when it has none or may not be read. */
  mark: () => string | null;
  /** Files that its stdout and stderr go to. */
  outputs: () => readonly string[];
};

/** All living processes. Linux: about 30 µs each; what is behind `mark` and `outputs` is read when first asked for. */
export function readProcesses(): ProcessEntry[] {
  if (!existsSync('/proc/self/stat')) return processesFromPs();
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const stat = readStat(pid);
    return stat === null || isDead(stat) ? [] : [entryOf(stat)];
  });
}

/** One of them; null when nobody living has this pid, or there is no /proc. */
export function readProcess(pid: number): ProcessEntry | null {
  const stat = readStat(pid);
  return stat === null || isDead(stat) ? null : entryOf(stat);
}

/** `ps -A -o pid=,ppid=,pgid=,stat=,lstart=`: what there is to know without /proc. The session is taken to be the group. */
export function parsePs(text: string): ProcessStat[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, startTime] = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
    if (startTime === undefined || state!.startsWith('Z')) return [];
    const ids = { pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group) };
    return [{ ...ids, state: state![0]!, startTime: startTime.replace(/\s+/g, ' ') }];
  });
}

function processesFromPs(): ProcessEntry[] {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 1 << 26 } as const;
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart='], options);
  return parsePs(stdout).map((stat) => ({ ...stat, mark: () => null, outputs: () => [] }));
}

function entryOf(stat: ProcessStat): ProcessEntry {
  let mark: string | null | undefined;
  let outputs: readonly string[] | undefined;
  return {
    ...stat,
    mark: () => (mark === undefined ? (mark = readMark(stat.pid)) : mark),
    outputs: () => (outputs ??= [1, 2].flatMap((fd) => readLink(`/proc/${stat.pid}/fd/${fd}`))),
  };
}

function readMark(pid: number): string | null {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8');
    const at = `\0${environment}`.indexOf(`\0${runMarks.directory}=`);
    if (at < 0) return null;
    const start = at + runMarks.directory.length + 1;
    return environment.slice(start, environment.indexOf('\0', start));
  } catch {
    return null;
  }
}

function readLink(path: string): string[] {
  try {
    return [readlinkSync(path)];
  } catch {
    return [];
  }
}
