import type { Ending } from '../executor.js';
import { readShellWords } from '../attempt/attempt-files.js';
import { provenEnding } from '../attempt/ending.js';
import type { QueuedJob } from './slurm-calls.js';

/** Where a job is in its life, of the many words that Slurm has for it. */
type JobPhase = 'waits' | 'up' | 'over';

const waiting = /^(PENDING|REQUEUED|REQUEUE_HOLD|REQUEUE_FED|SPECIAL_EXIT|RESV_DEL_HOLD)$/;
const up = /^(RUNNING|CONFIGURING|COMPLETING|SUSPENDED|STOPPED|SIGNALING|STAGE_OUT|RESIZING)$/;

export function phaseOf({ state }: QueuedJob): JobPhase {
  if (waiting.test(state)) return 'waits';
  return up.test(state) ? 'up' : 'over';
}

/** What a job waits for, in Slurm's word and in words for those that are asked about most. */
export function waitWords({ address, reason, start }: QueuedJob): string {
  const words = reasons[/^\w*/.exec(reason)![0]];
  // A scheduler that is behind expects what has passed.
  const when = Date.parse(start) > Date.now() ? whenWords(start) : undefined;
  const why = words === undefined ? reason : `${reason}: ${words}`;
  return `Slurm job ${address} waits (${reason === 'None' ? 'just submitted' : why}${when === undefined ? '' : `; expected at ${when}`})`;
}

/** Of a local time as Slurm writes it; the day only where it is another one. */
function whenWords(start: string): string | undefined {
  const [, day, clock] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(start) ?? [];
  return new Date(start).toDateString() === new Date().toDateString() ? clock : `${day} ${clock}`;
}

const reasons: Readonly<Record<string, string>> = {
  Resources: 'no node is free',
  Priority: 'other jobs come first',
  BeginTime: 'Slurm starts it a little later',
  Dependency: 'another job must end first',
  JobHeldUser: 'held by its owner; `scontrol release` lets it go',
  JobHeldAdmin: 'held by an administrator',
  QOSMaxGRESPerUser: 'your GPUs are all in use by the limit of the QOS',
  QOSMaxJobsPerUserLimit: 'you have as many jobs up as the QOS allows',
  AssocGrpGRES: 'the GPUs of your account are all in use',
  AssocMaxJobsLimit: 'you have as many jobs up as your account allows',
  ReqNodeNotAvail: 'a node that it needs is down or reserved',
  PartitionDown: 'its partition is down',
  PartitionTimeLimit: 'it asks for more time than the partition gives',
  BadConstraints: 'no node has what it asks for',
};

/** How a job ended that began nothing, in words that follow its number. */
export function endWords({ state, reason, nodes }: QueuedJob): string {
  const words = ends[state] ?? `ended as ${state}`;
  const why = state !== 'FAILED' || reason === 'None' ? '' : ` (${reason})`;
  return `${words}${why}${nodes === '' ? '' : ` on ${nodes}`}`;
}

const ends: Readonly<Record<string, string>> = {
  CANCELLED: 'was cancelled',
  DEADLINE: 'came to its deadline',
  TIMEOUT: 'ran out of time',
  FAILED: 'failed',
  OUT_OF_MEMORY: 'used more memory than it may',
  NODE_FAIL: 'lost its node',
  BOOT_FAIL: 'found its node not booting',
  PREEMPTED: 'was preempted',
};

/** What the supervisor has asked of a job. */
type Asked = { terminated: boolean; killed: boolean };
export const notAsked: Asked = { terminated: false, killed: false };

/**
 * How an attempt ended by itself, which no word of Slurm changes: a controller that was restarted takes jobs whose end it has
 * forgotten for cancelled, out of time or failed with their node. Null: it has not ended, or a signal may be why it did that was
 * not asked for here.
 */
export function ownEnding(folder: string, { terminated, killed }: Asked): Ending | null {
  const proven = provenEnding(folder, null);
  if (terminated || killed) return proven;
  return proven?.kind === 'exited' && !readShellWords(folder).terminated ? proven : null;
}

/**
 * How an attempt ended of which Slurm does not say what it did to it; null: the disk does not tell either. A program that saves
 * its state on SIGTERM exits with 0 though it is not done.
 */
export function endingByDisk(folder: string, asked: Asked): Ending | null {
  const own = ownEnding(folder, asked);
  const proven = own ?? provenEnding(folder, null);
  if (own !== null || proven?.kind !== 'exited') return proven;
  const reason = `it got SIGTERM, Slurm does not say why, and it ended with exit code ${proven.code}`;
  return { kind: 'interrupted', signal: 'SIGTERM', reason };
}

/**
 * How the attempt of a job ended of which Slurm says that it is over. What Slurm did to it counts more than its exit code, unless
 * it ended by itself; how much memory it used only Slurm knows.
 */
export function endingOf(job: QueuedJob, folder: string, asked: Asked): Ending {
  const where = job.nodes === '' ? '' : ` on ${job.nodes}`;
  const own = job.state === 'OUT_OF_MEMORY' ? null : ownEnding(folder, notAsked);
  const ending = own ?? doneTo(job, asked, where) ?? provenEnding(folder, null);
  if (ending !== null) return ending;
  if (job.state === 'CANCELLED') return { kind: 'signalled', signal: asked.killed ? 'SIGKILL' : 'SIGTERM' };
  return { kind: 'unknown', reason: unproven(job, where) };
}

/** What Slurm did to a job that ended it; null: nothing but what was asked of it. */
export function doneTo({ state, seconds }: QueuedJob, { terminated, killed }: Asked, where: string): Ending | null {
  const interrupted = interruptions[state];
  if (interrupted !== undefined)
    return { kind: 'interrupted', ...interrupted, reason: `${interrupted.reason}${where}` };
  if (state === 'TIMEOUT') return { kind: 'timed-out', seconds };
  if (state === 'OUT_OF_MEMORY') {
    return { kind: 'out-of-memory', reason: `killed by Slurm${where}: it used more memory than its job may` };
  }
  if (state !== 'CANCELLED' || terminated || killed) return null;
  return { kind: 'interrupted', signal: 'SIGTERM', reason: `cancelled in Slurm by somebody else${where}` };
}

const nodeFailed = { signal: 'SIGKILL', reason: 'its node failed' };
const interruptions: Readonly<Record<string, { signal: string; reason: string }>> = {
  PREEMPTED: { signal: 'SIGTERM', reason: 'preempted by Slurm' },
  NODE_FAIL: nodeFailed,
  BOOT_FAIL: nodeFailed,
  DEADLINE: { signal: 'SIGTERM', reason: "ended by Slurm at its job's deadline" },
  REVOKED: { signal: 'SIGTERM', reason: 'revoked by Slurm' },
};

/** A batch shell that was killed leaves no code; Slurm calls that a failure of the launch, though it had begun. */
function unproven({ address, state, reason }: QueuedJob, where: string): string {
  const why = reason === 'None' ? '' : `, ${reason}`;
  const killed =
    reason === 'JobLaunchFailure' ? ': its shell was killed, as by a limit on memory; its log may tell' : '';
  return `Slurm says ${state}${why} of job ${address}${where}, and it left no exit code${killed}`;
}
