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
  /**
   * Whether it holds such a file open for writing, by whatever descriptor. The first time it costs a system call for each
   * open file, then two for each that is such a one.
   */
  writesTo: (isSuch: (path: string) => boolean) => boolean;
  /** Working directory; null when it may not be read. */
  cwd: () => string | null;
  /** Its command; empty when it may not be read. */
  argv: () => readonly string[];
};

/**
 * What a process was told when it executed its program. It is kept from one reading to the next: to read the environment
 * of every process costs as much again as to read who they are.
 */
type Told = Pick<ProcessStat, 'startTime' | 'image'> & { mark: string | null; attempt: string | null; wiped: boolean };

/** By pid. */
let told = new Map<number, Told>();

/** All living processes. Linux: about 15 µs each; what is behind the functions is read when first asked for. */
export function readProcesses(): ProcessEntry[] {
  if (!existsSync('/proc/self/stat')) return processesFromPs();
  const before = told;
  told = new Map();
  return readdirSync('/proc').flatMap((pid) => {
    const stat = isNumber(pid) ? readStat(pid) : null;
    if (stat === null || isDead(stat)) return [];
    const known = before.get(stat.pid);
    if (known !== undefined) told.set(stat.pid, known);
    return [entryOf(stat)];
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
    return [{ ...ids, ...rest, startTime: startTime!.replace(/\s+/g, ' '), image: '' }];
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
    ...{ writesTo: () => false, argv: () => [] },
  };
  return parsePs(stdout).map((stat) => ({ ...stat, ...unknown }));
}

function entryOf(stat: ProcessStat): ProcessEntry {
  const { pid } = stat;
  const said = once(() => toldTo(stat));
  const open = once(() => openFiles(pid));
  return {
    ...stat,
    mark: () => said().mark,
    attempt: () => said().attempt,
    isWiped: () => said().wiped,
    outputs: once(() => [1, 2].flatMap((fd) => readLink(`/proc/${pid}/fd/${fd}`) ?? [])),
    writesTo: (isSuch) => open().some(({ path, descriptor }) => isSuch(path) && isForWriting(pid, descriptor)),
    cwd: once(() => readLink(`/proc/${pid}/cwd`)),
    argv: once(() => (readOrNull(`/proc/${pid}/cmdline`) ?? '').split('\0').slice(0, -1)),
  };
}

function toldTo({ pid, startTime, image }: ProcessStat): Told {
  const known = told.get(pid);
  if (known?.startTime === startTime && known.image === image) return known;
  const environment = readEnvironment(pid);
  const mark = valueIn(environment, runMarks.directory);
  const attempt = valueIn(environment, runMarks.attempt);
  const wiped = environment !== null && valueIn(environment, 'HOME') === null;
  const news = { startTime, image, mark, attempt, wiped };
  // One that is executing a program just now has no environment for a moment.
  if (image !== '0' && environment !== null && environment !== '\0') told.set(pid, news);
  return news;
}

function openFiles(pid: number): { path: string; descriptor: string }[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      const path = readLink(`/proc/${pid}/fd/${descriptor}`);
      return path !== null && path.startsWith('/') && !path.startsWith('/dev/') ? [{ path, descriptor }] : [];
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

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 49 && first <= 57;
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
  const value = environment.slice(start, environment.indexOf('\0', start));
  // A copy: what is kept of it would keep the whole environment.
  return Buffer.from(value).toString();
}

/** A file that was deleted goes by the name it had. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path).replace(/ \(deleted\)$/, '');
  } catch {
    return null;
  }
}
