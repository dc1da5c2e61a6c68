import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { runMarks } from '../contract/files.js';
import { readProcFile } from './proc-file.js';
import { isDead, type ProcessStat } from '../base/process-stat.js';
import { readStat } from './process-identity.js';

/**
 * What a process was told when it executed its program. It is kept from one reading to the next: to read the environment
 * of every process costs as much again as to read who they are.
 */
type Told = Pick<ProcessStat, 'startTime' | 'image'> & { mark: string | null; attempt: string | null; wiped: boolean };

/** By pid. */
let told = new Map<number, Told>();

/** One living process at the moment of the reading. What else there is to know of it is read when it is asked for. */
export class ProcessEntry implements ProcessStat {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly terminal: boolean;
  readonly startTime: string;
  readonly image: string;
  #told: Told | null = null;
  #outputs: readonly string[] | null = null;
  #open: readonly OpenFile[] | null = null;
  #cwd: string | null | undefined;

  constructor(stat: ProcessStat) {
    this.pid = stat.pid;
    this.name = stat.name;
    this.state = stat.state;
    this.parent = stat.parent;
    this.group = stat.group;
    this.session = stat.session;
    this.terminal = stat.terminal;
    this.startTime = stat.startTime;
    this.image = stat.image;
  }

  /** Directory of the run whose mark it carries in its environment; null when it has none or may not be read. */
  mark(): string | null {
    return this.#said().mark;
  }

  /** Number of the attempt whose mark it carries. */
  attempt(): string | null {
    return this.#said().attempt;
  }

  /** Its environment was emptied: neither a mark nor a home in it, though it may be read. */
  isWiped(): boolean {
    return this.#said().wiped;
  }

  /** Files that its stdout and stderr go to. */
  outputs(): readonly string[] {
    const descriptors = hasProc ? [1, 2] : [];
    return (this.#outputs ??= descriptors.flatMap((number) => readLink(`/proc/${this.pid}/fd/${number}`) ?? []));
  }

  /** Files that it holds open, devices left out. Costs a system call for each descriptor. */
  open(): readonly string[] {
    return this.#openFiles().map(({ path }) => path);
  }

  /** Whether it holds such a file open for writing, by whatever descriptor. */
  writesTo(isSuch: (path: string) => boolean): boolean {
    return this.#openFiles().some(({ path, descriptor }) => isSuch(path) && isForWriting(this.pid, descriptor));
  }

  /** Such files as it holds open for writing, that are still there. */
  written(isSuch: (path: string) => boolean): string[] {
    const open = this.#openFiles().filter(({ path, isGone }) => !isGone && isSuch(path));
    return open.filter(({ descriptor }) => isForWriting(this.pid, descriptor)).map(({ path }) => path);
  }

  /** Working directory; null when it may not be read. */
  cwd(): string | null {
    if (this.#cwd === undefined) this.#cwd = readLink(`/proc/${this.pid}/cwd`);
    return this.#cwd;
  }

  /** Its command; empty when it may not be read. */
  argv(): readonly string[] {
    const bytes = readProcFile(`/proc/${this.pid}/cmdline`);
    return bytes === null ? [] : bytes.toString('utf8').split('\0').slice(0, -1);
  }

  #openFiles(): readonly OpenFile[] {
    return (this.#open ??= openFiles(this.pid));
  }

  #said(): Told {
    return (this.#told ??= toldTo(this));
  }
}

type OpenFile = { path: string; descriptor: string; isGone: boolean };

const hasProc = existsSync('/proc/self/stat');

/** All living processes. Linux: about 15 µs each. */
export function readProcesses(): ProcessEntry[] {
  if (!hasProc) return processesFromPs();
  const before = told;
  told = new Map();
  return readdirSync('/proc').flatMap((pid) => {
    const stat = isNumber(pid) ? readStat(pid) : null;
    if (stat === null || isDead(stat)) return [];
    const known = before.get(stat.pid);
    if (known !== undefined) told.set(stat.pid, known);
    return [new ProcessEntry(stat)];
  });
}

/** One of them; null when nobody living has this pid, or there is no /proc. */
export function readProcess(pid: number): ProcessEntry | null {
  const stat = hasProc ? readStat(pid) : null;
  return stat === null || isDead(stat) ? null : new ProcessEntry(stat);
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
  return parsePs(stdout).map((stat) => new ProcessEntry(stat));
}

/** Readings of all processes that those share who ask in the same turn of the event loop. */
export class ProcessTable {
  #read: readonly ProcessEntry[] | null = null;

  /** As they were read in this turn; if nobody has, as they are now. */
  inThisTurn(): readonly ProcessEntry[] {
    return this.#read ?? this.now();
  }

  now(): readonly ProcessEntry[] {
    if (this.#read === null) setImmediate(() => (this.#read = null));
    return (this.#read = readProcesses());
  }
}

function toldTo({ pid, startTime, image }: ProcessStat): Told {
  const known = told.get(pid);
  if (known?.startTime === startTime && known.image === image) return known;
  const environment = image === '' || image === '0' ? null : readProcFile(`/proc/${pid}/environ`);
  const news = {
    ...{ startTime, image, mark: valueIn(environment, runMarks.directory) },
    attempt: valueIn(environment, runMarks.attempt),
    wiped: environment !== null && valueIn(environment, 'HOME') === null,
  };
  if (environment !== null) told.set(pid, news);
  return news;
}

function openFiles(pid: number): OpenFile[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((descriptor) => {
      const link = linkOf(`/proc/${pid}/fd/${descriptor}`);
      if (link === null || !link.startsWith('/') || link.startsWith('/dev/')) return [];
      return [{ path: link.replace(deleted, ''), descriptor, isGone: deleted.test(link) }];
    });
  } catch {
    return [];
  }
}

/** The last octal digit of its flags is how it was opened: 0 for reading only. */
function isForWriting(pid: number, descriptor: string): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(
    readProcFile(`/proc/${pid}/fdinfo/${descriptor}`)?.toString('latin1') ?? '',
  )?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & 3) !== 0;
}

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0);
  return first >= 49 && first <= 57;
}

/** Of a variable in an environment: `NAME=value`, each ended by a zero. */
function valueIn(environment: Buffer | null, name: string): string | null {
  if (environment === null) return null;
  const isFirst = environment.subarray(0, name.length + 1).toString('latin1') === `${name}=`;
  const at = isFirst ? -1 : environment.indexOf(`\0${name}=`);
  if (at < 0 && !isFirst) return null;
  const start = at + name.length + 2;
  const end = environment.indexOf(0, start);
  return environment.toString('utf8', start, end < 0 ? environment.length : end);
}

const deleted = / \(deleted\)$/;

/** A file that was deleted goes by the name it had. */
function readLink(path: string): string | null {
  return linkOf(path)?.replace(deleted, '') ?? null;
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}
