import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { UserError } from '../base/user-error.js';
import { supervisorFiles } from '../contract/files.js';
import { runMarks } from '../contract/run-marks.js';
import { openSocket, socketOf } from './connection.js';
import { Fleet } from './fleet.js';

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
};

/** A supervisor that is not up by then has a problem, ms. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 15;
/** A supervisor writes at least its lock and a part of its journal, bytes. */
const ROOM = 1 << 14;
/** One that gave way to another has ended well, but if nobody is there by now, the other one is gone too, ms. */
const AGAIN_MS = 300;
/**
 * Starting a run costs in proportion to the supervisor's memory, most of which would be room for short-lived objects, and
 * for garbage that is not collected yet: 105 MB instead of 162 with 10,000 runs, at the same speed.
 */
const smallHeap = ['--max-semi-space-size=1', '--optimize-for-size'];

/** The supervisor of this runs directory, if one is up; null otherwise. */
export async function connect(runsDirectory: string): Promise<Fleet | null> {
  const reopen = () => openSupervisor(runsDirectory);
  const socket = await reopen();
  return socket === null ? null : new Fleet(socket, reopen);
}

/**
 * The supervisor of this runs directory, started in the background if none is up; started again if it gets lost.
 *
 * @throws {UserError} When it does not come up; with what it said last.
 */
export async function ensureSupervisor(runsDirectory: string, programs: Programs): Promise<Fleet> {
  const reopen = () => openOrStart(runsDirectory, programs);
  return new Fleet(await reopen(), reopen);
}

async function openSupervisor(runsDirectory: string): Promise<Socket | null> {
  const path = socketOf(runsDirectory);
  return path === null ? null : openSocket(path);
}

async function openOrStart(runsDirectory: string, programs: Programs): Promise<Socket> {
  const up = await openSupervisor(runsDirectory);
  if (up !== null) return up;
  const log = join(runsDirectory, supervisorFiles.directory, supervisorFiles.log);
  let child = start(runsDirectory, programs, log);
  const beganAt = performance.now();
  let againAt = beganAt + AGAIN_MS;
  while (performance.now() < beganAt + PATIENCE_MS && (child.exitCode ?? 0) === 0) {
    const socket = await openSupervisor(runsDirectory);
    if (socket !== null) return socket;
    if (hasEnded(child) && performance.now() > againAt) {
      child = start(runsDirectory, programs, log);
      againAt = performance.now() + AGAIN_MS;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new UserError(
    `The supervisor of ${runsDirectory} did not come up.\n${obstacleIn(dirname(log)) ?? lastWords(log)}`,
    `Read ${log}; remove the cause and try again.`,
  );
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** In a session of its own, so that it outlives the terminal, and writing to its log alone. */
function start(runsDirectory: string, { node, supervisor, bin, environment }: Programs, log: string): ChildProcess {
  const output = openLog(log);
  // Started from within a run it must not look like a part of it, or would be killed with it.
  const marks = Object.values(runMarks) as string[];
  const env = Object.fromEntries(Object.entries(environment).filter(([name]) => !marks.includes(name)));
  const stdio: ('ignore' | number)[] = ['ignore', output, output];
  const words = [...smallHeap, supervisor, '--runs', runsDirectory, '--bin', bin];
  const child = spawn(node, words, { detached: true, stdio, env });
  child.on('error', () => undefined);
  child.unref();
  closeSync(output);
  return child;
}

function openLog(log: string): number {
  try {
    mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
    return openSync(log, 'a', 0o600);
  } catch (error) {
    throw new UserError(
      `Nothing can be written for the supervisor: ${(error as Error).message}.`,
      'Get the right, or the room, to write there; or choose another runs directory with `--runs DIR`.',
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

function lastWords(log: string): string {
  try {
    return readFileSync(log, 'utf8').trimEnd().split('\n').slice(-5).join('\n');
  } catch {
    return '';
  }
}
