import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { isDead, type ProcessStat } from '../base/process-stat.js';
import { runMarks } from '../contract/files.js';
import { withSpareDescriptors } from '../files/spare-descriptor.js';
import { readProcFile } from './proc-file.js';
import { isAlive, type ProcessIdentity, readStat } from './process-identity.js';

/**
 * Facts from the environment of a process, which are fixed when it executes its program. They are cached between readings: reading
 * the environments of all processes takes as long as reading their identities.
 */
type EnvironmentFacts = Pick<ProcessStat, 'startTime' | 'image'> & {
  mark: string | null;
  attempt: string | null;
  wiped: boolean;
};

/** Cached facts by pid. */
let cachedFacts = new Map<number, EnvironmentFacts>();

/** One living process at the time of the reading. Further facts are read on request. */
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
  #known: EnvironmentFacts | null = null;
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

  /** Directory of the run whose mark is in its environment; null: it has none, or the environment is not readable. */
  mark(): string | null {
    return this.#environmentFacts().mark;
  }

  /** Number of the attempt in its mark. */
  attempt(): string | null {
    return this.#environmentFacts().attempt;
  }

  /** Whether its environment was emptied: it is readable, and has neither a mark nor HOME. */
  isWiped(): boolean {
    return this.#environmentFacts().wiped;
  }

  /** Files that its stdout and stderr are connected to. */
  outputs(): readonly string[] {
    const descriptors = hasProc ? [1, 2] : [];
    return (this.#outputs ??= descriptors.flatMap((number) => readLink(`/proc/${this.pid}/fd/${number}`) ?? []));
  }

  /** Its open files, without devices. Costs a system call for each descriptor. */
  open(): readonly string[] {
    return this.#openFiles().map(({ path }) => path);
  }

  /** Whether a file that passes the test is open for writing, by any descriptor. */
  writesTo(isSuch: (path: string) => boolean): boolean {
    return this.#openFiles().some(({ path, descriptor }) => isSuch(path) && isForWriting(this.pid, descriptor));
  }

  /** Files that pass the test, are open for writing, and still exist. */
  written(isSuch: (path: string) => boolean): string[] {
    const open = this.#openFiles().filter(({ path, isGone }) => !isGone && isSuch(path));
    return open.filter(({ descriptor }) => isForWriting(this.pid, descriptor)).map(({ path }) => path);
  }

  /** Its working directory; null if it is not readable. */
  cwd(): string | null {
    if (this.#cwd === undefined) this.#cwd = readLink(`/proc/${this.pid}/cwd`);
    return this.#cwd;
  }

  /** Its command; empty if it is not readable. */
  argv(): readonly string[] {
    return argvOf(this.pid);
  }

  #openFiles(): readonly OpenFile[] {
    return (this.#open ??= openFiles(this.pid));
  }

  #environmentFacts(): EnvironmentFacts {
    return (this.#known ??= factsOf(this));
  }
}

type OpenFile = { path: string; descriptor: string; isGone: boolean };

const hasProc = existsSync('/proc/self/stat');

/** The command of a process; empty if it is not readable. */
function argvOf(pid: number): readonly string[] {
  const bytes = readProcFile(`/proc/${pid}/cmdline`);
  return bytes === null ? [] : bytes.toString('utf8').split('\0').slice(0, -1);
}

/** All living processes. On Linux it takes about 15 µs for each. */
export function readProcesses(): ProcessEntry[] {
  if (!hasProc) return processesFromPs();
  const before = cachedFacts;
  cachedFacts = new Map();
  return withSpareDescriptors(() => readdirSync('/proc')).flatMap((pid) => {
    const stat = isNumber(pid) ? readStat(pid) : null;
    if (stat === null || isDead(stat)) return [];
    const known = before.get(stat.pid);
    if (known !== undefined) cachedFacts.set(stat.pid, known);
    return [new ProcessEntry(stat)];
  });
}

/** One process; null: no living process has this pid, or there is no /proc. */
export function readProcess(pid: number): ProcessEntry | null {
  const stat = hasProc ? readStat(pid) : null;
  return stat === null || isDead(stat) ? null : new ProcessEntry(stat);
}

/** Parses the output of `ps -A -o` with `psColumns`, for systems without /proc. The session is assumed to be the group. */
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
/** A line of ps; the start time has five words: `Mon Jan  5 10:11:12 2026`. */
const psLine = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+)\s+((?:\S+\s+){4}\S+)\s+(.+?)\s*$/;

function processesFromPs(): ProcessEntry[] {
  const options = { encoding: 'utf8', env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 1 << 26 } as const;
  const { stdout } = spawnSync('ps', ['-A', '-o', psColumns], options);
  return parsePs(stdout).map((stat) => new ProcessEntry(stat));
}

/** Readings of all processes, shared by callers in the same turn of the event loop. */
export class ProcessTable {
  #read: readonly ProcessEntry[] | null = null;

  /** The processes as they were read in this turn, or else as they are now. */
  inThisTurn(): readonly ProcessEntry[] {
    return this.#read ?? this.now();
  }

  now(): readonly ProcessEntry[] {
    if (this.#read === null) setImmediate(() => (this.#read = null));
    return (this.#read = readProcesses());
  }
}

function factsOf({ pid, startTime, image }: ProcessStat): EnvironmentFacts {
  const known = cachedFacts.get(pid);
  if (known?.startTime === startTime && known.image === image) return known;
  const environment = image === '' || image === '0' ? null : readProcFile(`/proc/${pid}/environ`);
  const news = {
    ...{ startTime, image, mark: valueIn(environment, runMarks.directory) },
    attempt: valueIn(environment, runMarks.attempt),
    wiped: environment !== null && valueIn(environment, 'HOME') === null,
  };
  if (environment !== null) cachedFacts.set(pid, news);
  return news;
}

function openFiles(pid: number): OpenFile[] {
  try {
    return withSpareDescriptors(() => readdirSync(`/proc/${pid}/fd`)).flatMap((descriptor) => {
      const link = linkOf(`/proc/${pid}/fd/${descriptor}`);
      if (link === null || !link.startsWith('/') || link.startsWith('/dev/')) return [];
      return [{ path: link.replace(deleted, ''), descriptor, isGone: deleted.test(link) }];
    });
  } catch {
    return [];
  }
}

/** Whether a descriptor is open for writing: the last octal digit of its flags is 0 for reading only. */
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

/** The value of a variable in an environment of `NAME=value` entries, each ended by a zero byte. */
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

/** The target of a link, without the suffix of a deleted file. */
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

/** File name of the supervisor's program, by which its command line is known. */
const PROGRAM = 'supervisor.js';

/**
 * Whether exactly this process lives and is a supervisor. A lock may name any process, pid 1 as well: without a look at the command
 * line it would be held for ever, and `restart` would end a process that has nothing to do with it. A command line that cannot be
 * read is believed.
 */
export function isLivingSupervisor(identity: ProcessIdentity): boolean {
  if (!isAlive(identity)) return false;
  const argv = argvOf(identity.pid);
  return argv.length === 0 || argv.some((argument) => basename(argument) === PROGRAM);
}
