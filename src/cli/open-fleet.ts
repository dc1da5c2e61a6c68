import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { UserError } from '../base/user-error.js';
import { ensureSupervisor, type Programs, type RequestedSupervisor } from '../client/ensure-supervisor.js';
import type { Ack, Fleet } from '../client/fleet.js';
import { didYouMean } from '../text/nearest.js';
import { type CommonOptions, runsDirectory } from './options.js';
import { emptyName } from './sweep-directory.js';
import { remark } from './terminal.js';

/**
 * Does something with all that is known of a runs directory, and lets go of it. A supervisor that is not up is started,
 * which takes up the runs that live; it leaves again by itself when nothing is left to do.
 *
 * @param wish A verb that only looks never takes over what is supervised from another host.
 * @throws {UserError} When there is no such directory: nothing was ever launched there.
 */
export async function withFleet<Result>(
  options: CommonOptions,
  use: (fleet: Fleet) => Promise<Result>,
  wish: RequestedSupervisor = {},
): Promise<Result> {
  const directory = existingRunsDirectory(options);
  const fleet = await ensureSupervisor(directory, supervisorPrograms(), wish);
  try {
    await fleet.ready();
    return await use(fleet);
  } finally {
    fleet.close();
  }
}

/** @throws {UserError} When there is no such directory. */
export function existingRunsDirectory({ runs }: CommonOptions): string {
  const directory = runsDirectory(runs);
  if (existsSync(directory)) return directory;
  throw new UserError(
    `There is no runs directory ${directory}.`,
    'Change to the directory that you launched the sweep from, or name its runs directory with --runs.',
  );
}

/** Whoever asks for a table waits so long for the metrics of ended runs, ms: thousands of usual files, or 100 MB of large ones. */
const RECALL_MS = 2000;

/** Resolves when the metrics of ended runs are known, or the fleet was closed before, or it takes too long, which is said. */
export async function recalled(fleet: Fleet, patienceMs = RECALL_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs);
  });
  const isKnown = await Promise.race([fleet.until(({ status }) => status.recalled).then(() => true), tooLong]);
  clearTimeout(timer);
  if (isKnown) return;
  const { unread = 0 } = fleet.status;
  const whose = unread === 0 ? 'ended runs' : unread === 1 ? '1 run' : `${unread} runs`;
  remark(`The metrics of ${whose} are still being read: what is shown of them may be missing or old.`);
}

/**
 * The names of sweeps to tell about: the one that was asked for, or all.
 *
 * @throws {UserError} When it is not known, with the nearest that is.
 */
export function knownSweeps(fleet: Pick<Fleet, 'sweeps' | 'status'>, asked: string | undefined): string[] {
  if (asked?.trim() === '') throw emptyName();
  const known = [...fleet.sweeps.keys()];
  if (known.length === 0) throw noSweep(fleet, asked);
  if (asked === undefined) return known;
  if (fleet.sweeps.has(asked)) return [asked];
  throw new UserError(
    `There is no sweep \`${asked}\`.`,
    `${didYouMean(asked, known)} Choose another runs directory with --runs.`,
  );
}

function noSweep({ status: { problem } }: Pick<Fleet, 'status'>, asked: string | undefined): UserError {
  if (problem !== null) {
    return new UserError(
      `No sweep is known here: ${problem}.`,
      'Launch each sweep again, or choose another runs directory with --runs.',
    );
  }
  if (asked === undefined) {
    return new UserError('No sweep was launched here.', 'Launch one: `memrl-tui sweeps/quick.yaml`.');
  }
  return new UserError(
    `No sweep was launched here, so there is no \`${asked}\`.`,
    'Choose another runs directory with --runs.',
  );
}

/**
 * What the supervisor has promised to do, in words.
 *
 * @throws {UserError} When it will not.
 */
export function promised(ack: Ack): string {
  if (ack.ok) return ack.message;
  const sentence = ack.message.endsWith('.') ? ack.message : `${ack.message}.`;
  throw new UserError(sentence, ack.fix ?? '`memrl-tui ls` shows where the runs are.');
}

/** Where the supervisor and the runs' own programs lie: beside this bundle. */
export function supervisorPrograms(): Programs {
  return {
    node: process.execPath,
    supervisor: fileURLToPath(new URL('./supervisor.js', import.meta.url)),
    bin: fileURLToPath(new URL('./bin', import.meta.url)),
    environment: process.env,
    tell: remark,
  };
}
