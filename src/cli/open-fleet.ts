import { join } from 'node:path';
import { noSuchSweep, UserError } from '../base/user-error.js';
import {
  connect,
  ensureSupervisor,
  lookAtSupervisor,
  type Programs,
  type RequestedSupervisor,
} from '../client/ensure-supervisor.js';
import type { Ack, Fleet } from '../client/fleet.js';
import { didYouMean } from '../text/nearest.js';
import type { CommonOptions } from './options.js';
import { existingRunsDirectory, noSweep } from './show/runs-here.js';
import { own, ownPrograms } from './ports.js';
import { emptyName } from './sweep-directory.js';
import { remark } from './terminal.js';

/**
 * Does something with the fleet of a runs directory, and closes it. A supervisor that is not up is started, which adopts live runs;
 * it exits by itself when it is idle.
 *
 * @param wish Read-only verbs never take over a directory that another host supervises.
 * @throws {UserError} When the directory does not exist, as nothing was ever launched there.
 */
export async function withFleet<Result>(
  options: CommonOptions,
  use: (fleet: Fleet) => Promise<Result>,
  wish: RequestedSupervisor = {},
): Promise<Result> {
  const directory = existingRunsDirectory(options);
  return used(await ensureSupervisor(directory, supervisorPrograms(), wish), use);
}

/**
 * Does something with the fleet of a runs directory that looks only. @throws {UserError} When the directory does not exist, or no
 * supervisor is up there.
 */
export async function lookingAtFleet<Result>(
  options: CommonOptions,
  use: (fleet: Fleet) => Promise<Result>,
): Promise<Result> {
  return used(await lookAtSupervisor(existingRunsDirectory(options)), use);
}

/** Time limit for a supervisor's answer when a command only reads, ms. */
const ANSWER_MS = 2000;

/**
 * The fleet of a running supervisor with its complete state; null: none is up, or it does not answer. Starts none. The caller
 * closes it.
 */
export async function fleetIfUp(runsDirectory: string): Promise<Fleet | null> {
  const fleet = await connect(runsDirectory, ANSWER_MS);
  if (fleet === null) return null;
  await fleet.ready();
  return fleet;
}

async function used<Result>(fleet: Fleet, use: (fleet: Fleet) => Promise<Result>): Promise<Result> {
  const { abandoned } = own();
  // A command that waits for runs ends when its fleet is closed.
  const close = () => fleet.close();
  if (abandoned?.aborted === true) close();
  abandoned?.addEventListener('abort', close);
  try {
    await fleet.ready();
    return await use(fleet);
  } finally {
    abandoned?.removeEventListener('abort', close);
    fleet.close();
  }
}

/** How long a table waits for the metrics of ended runs, ms: enough for thousands of usual files, or 100 MB of large ones. */
const RECALL_MS = 2000;
/** The same where runs have just been waited for to their end: their last rows are what it was waited for. */
export const LAST_ROWS_MS = 30_000;

/** How long a verb waits for metrics, ms. */
export function patienceOf({ waitRead }: CommonOptions): number {
  return waitRead === true ? Infinity : RECALL_MS;
}

/** Resolves when the metrics of the runs are known, the fleet was closed, or the time is over, which is printed. */
export async function recalled(fleet: Fleet, patienceMs = RECALL_MS): Promise<void> {
  const isKnownAt = fleet.until(({ status }) => status.recalled).then(() => true);
  if (patienceMs === Infinity) return void (await isKnownAt);
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs);
  });
  const isKnown = await Promise.race([isKnownAt, tooLong]);
  clearTimeout(timer);
  if (isKnown) return;
  const { unread = 0 } = fleet.status;
  const whose = unread === 0 ? 'some runs' : unread === 1 ? '1 run' : `${unread} runs`;
  remark(
    `The metrics of ${whose} are still being read: what is shown of them may be missing or old. --wait-read waits for them.`,
  );
}

/**
 * The names of the requested sweeps: one, or all.
 *
 * @throws {UserError} When it is unknown, with the nearest name.
 */
export function knownSweeps(fleet: Pick<Fleet, 'sweeps' | 'status'>, asked: string | undefined): string[] {
  if (asked?.trim() === '') throw emptyName();
  const known = [...fleet.sweeps.keys()];
  if (known.length === 0) throw unknownSweep(fleet, asked);
  if (asked === undefined) return known;
  if (fleet.sweeps.has(asked)) return [asked];
  throw new UserError(
    `There is no sweep \`${asked}\`.`,
    `${didYouMean(asked, known)} Choose another runs directory with --runs.`,
    noSuchSweep,
  );
}

function unknownSweep({ status: { problem } }: Pick<Fleet, 'status'>, asked: string | undefined): UserError {
  if (problem !== null) {
    return new UserError(
      `No sweep is known here: ${problem}.`,
      'Launch each sweep again, or choose another runs directory with --runs.',
    );
  }
  if (asked === undefined) return noSweep();
  return new UserError(
    `No sweep was launched here, so there is no \`${asked}\`.`,
    'Choose another runs directory with --runs.',
    noSuchSweep,
  );
}

/**
 * The message of a successful answer.
 *
 * @throws {UserError} When the supervisor refused.
 */
export function promised(ack: Ack): string {
  if (ack.ok) return ack.message;
  const sentence = ack.message.endsWith('.') ? ack.message : `${ack.message}.`;
  throw new UserError(sentence, ack.fix ?? '`memrl-tui ls` shows where the runs are.');
}

/** Paths of the supervisor and the runs' own programs. */
export function supervisorPrograms(): Programs {
  return {
    node: process.execPath,
    supervisor: join(ownPrograms(), 'supervisor.js'),
    bin: join(ownPrograms(), 'bin'),
    environment: own().env,
    tell: remark,
  };
}
