/**
 * The work of a supervisor before it listens: it reads the journal, and resumes the runs in it.
 *
 * The order matters. Losses are noted before anything is forgotten; what has to be forgotten is recorded before it is acted upon;
 * live runs are adopted before clients see them.
 */
import { join } from 'node:path';
import { supervisorFiles } from '../contract/files.js';
import { hasRuns, sweepsOnDisk } from '../files/sweep-folders.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import { emptyState, type SchedulerState } from '../scheduler/state.js';
import { Journal, type JournalPast } from './core/journal.js';
import type { EventLoop } from './core/event-loop.js';
import { enlargeHeap } from './core/large-heap.js';
import { forgetting, type PastAttempt, reconcile, type ReconcileTools, Recovery, replay } from './core/recovery.js';
import type { ClockWatch, SteadyClock } from './core/steady-clock.js';
import { passTurn } from '../processes/turn.js';
import type { GpuWatch } from './gpus/gpu-watch.js';
import type { NotificationCentre } from './notify/notifications.js';
import type { Ownership } from './ownership/ownership.js';
import { EventStream } from './publish/event-stream.js';
import type { Losses } from './runs/losses.js';
import type { PlannedRuns } from './runs/planned-runs.js';
import type { Records } from './runs/records.js';
import type { SubmissionStore } from './runs/submission-store.js';
import type { Watcher } from './runs/watcher.js';

/** `recent`: the attempts that ended last, whose records may not have been written. */
export type OpenedRuns = {
  journal: Journal;
  state: SchedulerState;
  past: JournalPast;
  recent: readonly PastAttempt[];
  events: EventStream;
};

/** The parts that are needed to resume runs. */
type ResumeTools = ReconcileTools & {
  runsDirectory: string;
  log: (line: string) => void;
  state: SchedulerState;
  journal: Journal;
  clock: SteadyClock;
  clockWatch: ClockWatch;
  submissions: SubmissionStore;
  plannedRuns: PlannedRuns;
  losses: Losses;
  gpus: Pick<GpuWatch, 'lookIn'>;
  records: Pick<Records, 'confirm'>;
  ownership: Pick<Ownership, 'wereUp'>;
  notifications: Pick<NotificationCentre, 'countRuns'>;
  watcher: Pick<Watcher, 'endingOf' | 'vitals'>;
  loop: Pick<EventLoop, 'follow'>;
};

/** Adopting so many runs takes a tenth of a second or more, in which clients cannot see or stop them. */
const MANY_LIVE = 100;
/** Number of runs that are followed before other work gets its turn. */
const AT_ONCE = 1000;

/** Opens the journal, and replays it into the state. */
export async function openRuns({
  runsDirectory,
  log,
}: Pick<ResumeTools, 'runsDirectory' | 'log'>): Promise<OpenedRuns> {
  const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.journal);
  const state = emptyState();
  const events = EventStream.open(runsDirectory, state, log);
  const recovery = new Recovery(state, path, (event, touched) => events.replayed(event, touched));
  const { journal, contents, past } = await Journal.open(path, recovery);
  for (const line of contents.dropped) log(`journal: ${line}`);
  return { journal, state, past, recent: recovery.recent, events };
}

/** Resumes the runs where the last supervisor left them. */
export async function resumeRuns(parts: ResumeTools, { past, recent, events }: OpenedRuns): Promise<void> {
  const { state, journal, submissions, plannedRuns, clock, clockWatch, notifications, watcher } = parts;
  if (state.active.size >= MANY_LIVE) enlargeHeap();
  noteLosses(parts, past);
  await submissions.prepare(plannedRuns.keys());
  const reading = clock.reading();
  const found = [...(reading === null ? [] : [reading]), ...unreadable(parts)];
  if (found.length > 0) await journal.append(found);
  replay(state, found);
  events.begin({
    wallTime: (at) => clock.wallTime(at),
    planned: (id) => plannedRuns.of(id),
    bestOf: (id) => (watcher.endingOf(id) === null ? null : watcher.vitals(id).best),
  });
  submissions.forgetOthers(plannedRuns.keys());
  findGpus(parts);
  parts.ownership.wereUp(state.active);
  await reconcile(state, parts);
  confirmRecords(parts, recent);
  notifications.countRuns();
  clockWatch.start();
  await followAll(parts);
}

/** Records why sweeps are unknown, for users who look for them. */
function noteLosses({ runsDirectory, log, state, losses }: ResumeTools, { kept, damaged, isNew }: JournalPast): void {
  if (kept === null && !isNew) return;
  const unknown = sweepsOnDisk(runsDirectory).filter((sweep) => !state.sweeps.has(sweep));
  const sweeps = unknown.filter((sweep) => hasRuns(join(runsDirectory, sweep)));
  if (kept === null && sweeps.length === 0) return;
  const what = damaged === 0 ? 'was not a file' : `was damaged (${damaged} lines)`;
  const words =
    kept === null ? `there is no journal of the runs here any more` : `the journal ${what}; it is kept as ${kept}`;
  log(words);
  losses.note(words, sweeps);
}

/** The events that remove sweeps whose commands are lost; the next submission brings them back. */
function unreadable({ state, plannedRuns, submissions, losses, log, now }: ResumeTools): SchedulerEvent[] {
  return [...state.sweeps].flatMap(([sweep, ids]) => {
    try {
      const intakes = state.intakes.filter(({ submission }) => submission.sweep === sweep);
      for (const key of plannedRuns.keys(ids, intakes)) submissions.of(key);
      return [];
    } catch (error) {
      const up = [...ids].filter((id) => state.active.has(id)).length;
      const rest = up === 0 ? '' : ` ${up} of its runs were running; they are taken over when it is submitted again.`;
      log(`sweep ${sweep} is forgotten: ${(error as Error).message}${rest}`);
      losses.note(`the commands of ${sweep} were lost: ${(error as Error).message}`, [sweep]);
      return forgetting(state, sweep, now());
    }
  });
}

/** Looks for GPUs with the environment of the last submission, whose PATH has the driver's tools. */
function findGpus({ state, gpus, submissions }: ResumeTools): void {
  const last = [...state.runs.values()].at(-1);
  if (last !== undefined) gpus.lookIn(submissions.of(last.plan).environment);
}

function confirmRecords({ plannedRuns, records, clock }: ResumeTools, recent: readonly PastAttempt[]): void {
  for (const past of recent) {
    const planned = plannedRuns.of(past.id);
    const [startedAt, endedAt] = [clock.wallTime(past.startedAt), clock.wallTime(past.endedAt)];
    if (planned !== null) records.confirm(planned, { ...past, startedAt, endedAt });
  }
}

/**
 * Announces all runs in portions, and at least once even if there are none, so that observers know that all have been announced.
 */
async function followAll({ state, loop }: ResumeTools): Promise<void> {
  const ids = [...state.runs.keys()];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    loop.follow(new Set(ids.slice(from, from + AT_ONCE)));
    await passTurn();
  }
  if (ids.length === 0) loop.follow(new Set());
}
