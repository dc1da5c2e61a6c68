import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { UserError } from '../base/user-error.js';
import { runMarks, supervisorFiles } from '../contract/files.js';
import { ELSEWHERE, leaseTerms, type SupervisorLock } from '../contract/supervisor-lock.js';
import { checkRunsDirectory } from '../files/private-folder.js';
import { textOrNull } from '../files/regular-file.js';
import { lockOf, openSupervisor } from './connection.js';
import { Fleet } from './fleet.js';
import { makeFolder } from '../files/make-folder.js';

/** How to start a supervisor. Paths are absolute. */
export type Programs = {
  /** The Node executable. */
  node: string;
  /** `dist/supervisor.js`. */
  supervisor: string;
  /** Folder of our own programs, put at the end of the runs' PATH. */
  bin: string;
  /** Of the person. Runs do not get it from here but from the submit. */
  environment: Readonly<Record<string, string | undefined>>;
  /** Tells the person, who waits, a line. */
  tell?: (line: string) => void;
};

/**
 * `takesOver`: may take the place of a supervisor on another host, or in another container, whose lease has expired.
 * `patienceMs`: how long one that neither answers nor dies is waited for.
 */
export type RequestedSupervisor = { takesOver?: boolean; patienceMs?: number };

/** A supervisor that is not up by then has a problem, ms. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 15;
/** A supervisor writes at least its lock and a part of its journal, bytes. */
const ROOM = 1 << 14;
/** Between questions whether a runs directory is still supervised from elsewhere, ms. */
const ELSEWHERE_MS = 10_000;
/** One that gave way to another has ended well, but if nobody is there by now, the other one is gone too, ms. */
const AGAIN_MS = 300;
/**
 * Starting a run costs in proportion to the supervisor's memory, most of which would be room for short-lived objects, and
 * for garbage that is not collected yet: 105 MB instead of 162 with 10,000 runs, at the same speed.
 */
const smallHeap = ['--max-semi-space-size=1', '--optimize-for-size'];

/**
 * The supervisor of this runs directory, if one is up; null otherwise.
 *
 * @param patienceMs How long one that says nothing is waited for.
 */
export async function connect(runsDirectory: string, patienceMs?: number): Promise<Fleet | null> {
  const reopen = () => openSupervisor(runsDirectory, patienceMs);
  const socket = await reopen();
  return socket === null ? null : new Fleet(socket, reopen);
}

/**
 * The supervisor of this runs directory, started in the background if none is up; started again if it gets lost. When it was
 * lost to another host, that one is left alone, whatever was wished at first.
 *
 * @throws {UserError} When it does not come up, with what it said last; when the runs directory is not to be trusted, or is
 *   supervised from elsewhere.
 */
export async function ensureSupervisor(
  runsDirectory: string,
  programs: Programs,
  { takesOver = false, patienceMs = PATIENCE_MS }: RequestedSupervisor = {},
): Promise<Fleet> {
  let elsewhereUntil = -Infinity;
  const reopen = async () => {
    if (performance.now() < elsewhereUntil) throw supervisedElsewhere(runsDirectory, programs);
    const socket = await openOrStart(runsDirectory, programs, patienceMs);
    if (socket === 'elsewhere') elsewhereUntil = performance.now() + ELSEWHERE_MS;
    if (socket === 'elsewhere') throw supervisedElsewhere(runsDirectory, programs);
    return socket;
  };
  const first = takesOver ? await openOrTakeOver(runsDirectory, programs) : await reopen();
  return new Fleet(first, reopen);
}

async function openOrTakeOver(runsDirectory: string, programs: Programs): Promise<Socket> {
  const first = await openOrStart(runsDirectory, programs, PATIENCE_MS);
  if (first !== 'elsewhere') return first;
  const { leaseMs, beatMs } = termsOf(programs);
  const owner = lockOf(runsDirectory);
  programs.tell?.(
    `${owner === null ? 'Another process' : nameOf(owner)} supervises ${runsDirectory} and cannot be reached from here. ` +
      `It is taken over if it sends no heartbeat for ${leaseMs / 1000} s.`,
  );
  const taken = await startAndOpen(runsDirectory, programs, {
    words: ['--take-over'],
    patienceMs: PATIENCE_MS + leaseMs + 3 * beatMs,
    lookMs: 10 * LOOK_MS,
  });
  if (taken === 'elsewhere') throw supervisedElsewhere(runsDirectory, programs);
  return taken;
}

/** `elsewhere`: it is supervised by a process that cannot be seen from here. */
async function openOrStart(
  runsDirectory: string,
  programs: Programs,
  patienceMs: number,
): Promise<Socket | 'elsewhere'> {
  const end = performance.now() + patienceMs;
  const up = await openSupervisor(runsDirectory, patienceMs / 2);
  if (up !== null) return up;
  return startAndOpen(runsDirectory, programs, { words: [], patienceMs: end - performance.now(), lookMs: LOOK_MS });
}

type Start = { words: readonly string[]; patienceMs: number; lookMs: number };

async function startAndOpen(
  runsDirectory: string,
  programs: Programs,
  { words, patienceMs, lookMs }: Start,
): Promise<Socket | 'elsewhere'> {
  const log = join(runsDirectory, supervisorFiles.directory, supervisorFiles.log);
  let child = start(runsDirectory, programs, words);
  const end = performance.now() + patienceMs;
  let againAt = performance.now() + AGAIN_MS;
  while (performance.now() < end && (child.exitCode ?? 0) === 0) {
    const socket = await openSupervisor(runsDirectory, end - performance.now());
    if (socket !== null) return socket;
    if (hasEnded(child) && performance.now() > againAt) {
      child = start(runsDirectory, programs, words);
      againAt = performance.now() + AGAIN_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, lookMs));
  }
  if (child.exitCode === ELSEWHERE) return 'elsewhere';
  throw problemOf(runsDirectory, log, child);
}

function problemOf(runsDirectory: string, log: string, { pid, exitCode }: ChildProcess): UserError {
  const owner = lockOf(runsDirectory);
  const isSilent = owner !== null && owner.pid !== pid && (exitCode ?? 0) === 0;
  return isSilent ? silent(runsDirectory, owner) : failed(runsDirectory, log);
}

/** Whoever is started gives way to one that is there and says nothing. */
function silent(runsDirectory: string, owner: SupervisorLock): UserError {
  const { pid } = owner;
  return new UserError(
    `${nameOf(owner)} supervises ${runsDirectory}, but does not answer.`,
    `If it is suspended, continue it: \`kill -CONT ${pid}\`. If it is stuck, \`memrl-tui restart\` replaces it; its runs keep running.`,
  );
}

function failed(runsDirectory: string, log: string): UserError {
  return new UserError(
    `The supervisor of ${runsDirectory} did not start.\n${obstacleIn(dirname(log)) ?? lastWords(log)}`,
    `Read ${log}, fix the cause and try again.`,
  );
}

function supervisedElsewhere(runsDirectory: string, programs: Programs): UserError {
  const owner = lockOf(runsDirectory);
  const name = owner === null ? 'another process' : nameOf(owner);
  const place = owner?.host === undefined ? 'there' : `on ${owner.host}`;
  return new UserError(
    `${runsDirectory} is supervised by ${name}, which cannot be reached from here.`,
    `Run memrl-tui ${place}. \`memrl-tui attach\` takes over here once that process has sent no heartbeat for ` +
      `${termsOf(programs).leaseMs / 1000} s.`,
  );
}

function termsOf({ environment }: Programs) {
  return leaseTerms(environment['MEMRL_LEASE_MS']);
}

/** `process 7 on beta`. Of the same host it can only be out of sight in a container. */
function nameOf({ pid, host }: SupervisorLock): string {
  if (host === undefined) return `process ${pid}`;
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** In a session of its own, so that it outlives the terminal, and writing to its log alone. */
function start(runsDirectory: string, programs: Programs, more: readonly string[]): ChildProcess {
  const { node, supervisor, bin, environment } = programs;
  checkRunsDirectory(runsDirectory);
  const output = openLog(join(runsDirectory, supervisorFiles.directory, supervisorFiles.log));
  // Started from within a run it must not look like a part of it, or would be killed with it.
  const marks = Object.values(runMarks) as string[];
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !marks.includes(name)));
  const stdio: ('ignore' | number)[] = ['ignore', output, output];
  const words = [...smallHeap, supervisor, '--runs', runsDirectory, '--bin', bin, ...more];
  const child = spawn(node, words, { detached: true, stdio, env });
  child.on('error', () => undefined);
  child.unref();
  closeSync(output);
  return child;
}

function openLog(log: string): number {
  try {
    makeFolder(dirname(log), 0o700);
    const { O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
    return openSync(log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  } catch (error) {
    throw new UserError(
      `Nothing can be written for the supervisor: ${(error as Error).message}.`,
      'Make it writable or free some space, or choose another runs directory with `--runs DIR`.',
      { cause: error },
    );
  }
}

/** What keeps a supervisor from writing there, and so from saying it in its log; null: nothing. */
function obstacleIn(folder: string): string | null {
  const draft = join(folder, `room.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, Buffer.alloc(ROOM));
    return null;
  } catch (error) {
    return `Nothing can be written there: ${(error as Error).message}.`;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A longer log is a complaint that repeats, and its end is not worth the reading, bytes. */
const LARGEST_LOG = 1 << 24;

function lastWords(log: string): string {
  return (textOrNull(log, LARGEST_LOG) ?? '').trimEnd().split('\n').slice(-5).join('\n');
}
