import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { runMarks } from '../../contract/run-marks.js';
import { isDead, type ProcessStat, readStat } from './process-identity.js';

/** One living process at the moment of the reading. */
export type ProcessEntry = ProcessStat & {
  /** Directory of the run whose mark it carries in its environment; null when it has none or may not be read. */
  mark: () => string | null;
  /** Number of the attempt whose mark it carries. */
  attempt: () => string | null;
  /** Its environment was emptied: neither a mark nor a home in it, though it may be read. */
  isWiped: () => boolean;
  /** Files that its stdout and stderr go to. */
  outputs: () => readonly string[];
  /** Files that it holds open for writing, by whatever descriptor. Costs a system call for each open file. */
  writes: () => readonly string[];
  /** Working directory; null when it may not be read. */
  cwd: () => string | null;
  /** Its command; empty when it may not be read. */
  argv: () => readonly string[];
};

/** All living processes. Linux: about 30 µs each; what is behind the functions is read when first asked for. */
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

/** `ps -A -o` with `psColumns`: what there is to know without /proc. The session is taken to be the group. */
export function parsePs(text: string): ProcessStat[] {
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, group, state, tty, startTime, command] = psLine.exec(line) ?? [];
    if (command === undefined || state!.startsWith('Z')) return [];
    const ids = { pid: Number(pid), parent: Number(parent), group: Number(group), session: Number(group) };
    const rest = { name: basename(command), state: state![0]!, terminal: /\w/.test(tty!) };
    return [{ ...ids, ...rest, startTime: startTime!.replace(/\s+/g, ' ') }];
  });
}

const psColumns = 'pid=,ppid=,pgid=,stat=,tty=,lstart=,comm=';
/** The time is five words: `Mon Jan  5 10:11:12 2026`. */
const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+((?:\S+\s+){4}\S+)\s+(.+?)\s*$/;

function processesFromPs(): ProcessEntry[] {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 1 << 26 } as const;
  const { stdout } = spawnSync('ps', ['-A', '-o', psColumns], options);
  const unknown = {
    ...{ mark: () => null, attempt: () => null, isWiped: () => false, outputs: () => [], cwd: () => null },
    ...{ writes: () => [], argv: () => [] },
  };
  return parsePs(stdout).map((stat) => ({ ...stat, ...unknown }));
}

function entryOf(stat: ProcessStat): ProcessEntry {
  const environment = once(() => readEnvironment(stat.pid));
  return {
    ...stat,
    mark: once(() => valueIn(environment(), runMarks.directory)),
    isWiped: once(() => environment() !== null && valueIn(environment(), 'HOME') === null),
    outputs: once(() => [1, 2].flatMap((fd) => readLink(`/proc/${stat.pid}/fd/${fd}`) ?? [])),
    attempt: once(() => valueIn(environment(), runMarks.attempt)),
    writes: once(() => openForWriting(stat.pid)),
    cwd: once(() => readLink(`/proc/${stat.pid}/cwd`)),
    argv: once(() => (readOrNull(`/proc/${stat.pid}/cmdline`) ?? '').split('\0').slice(0, -1)),
  };
}

function openForWriting(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const file = readLink(`/proc/${pid}/fd/${fd}`);
      const isFile = file !== null && file.startsWith('/') && !file.startsWith('/dev/');
      return isFile && isForWriting(pid, fd) ? [file] : [];
    });
  } catch {
    return [];
  }
}

/** The last octal digit of its flags is how it was opened: 0 for reading only. */
function isForWriting(pid: number, descriptor: string): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readOrNull(`/proc/${pid}/fdinfo/${descriptor}`) ?? '')?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0;
}

function once<Value>(read: () => Value): () => Value {
  let known: { value: Value } | null = null;
  return () => (known ??= { value: read() }).value;
}

/** Null when it may not be read. */
function readEnvironment(pid: number): string | null {
  const text = readOrNull(`/proc/${pid}/environ`);
  return text === null ? null : `\0${text}`;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function valueIn(environment: string | null, name: string): string | null {
  const at = environment?.indexOf(`\0${name}=`) ?? -1;
  if (environment === null || at < 0) return null;
  const start = at + name.length + 2;
  return environment.slice(start, environment.indexOf('\0', start));
}

/** A file that was deleted goes by the name it had. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path).replace(/ \(deleted\)$/, '');
  } catch {
    return null;
  }
}
