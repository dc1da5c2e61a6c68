/** The work of a supervisor before it listens: it reads the journal, and recalls the runs in it. */
import { join } from 'node:path';
import { supervisorFiles } from '../contract/files.js';
import { hasRuns, sweepsOnDisk } from '../files/sweep-folder.js';
import { passTurn } from '../processes/turn.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import { emptyState, type SchedulerState } from '../scheduler/state.js';
import type { EventLoop } from './core/event-loop.js';
import { Journal, type JournalPast } from './core/journal.js';
import { enlargeHeap } from './core/large-heap.js';
import { forgetting, type PastAttempt, Recovery, replay } from './core/recovery.js';
import { EventStream } from './publish/event-stream.js';
import type { Losses } from './runs/losses.js';
import type { Records } from './runs/records.js';
import type { PlannedRuns, SubmissionStore } from './runs/submission-store.js';

/** `recent`: the attempts that ended last, whose records may not have been written. */
export type OpenedRuns = {
  journal: Journal;
  state: SchedulerState;
  past: JournalPast;
  recent: readonly PastAttempt[];
  events: EventStream;
};

/** Adopting so many runs takes a tenth of a second or more, in which clients cannot see or stop them. */
const MANY_LIVE = 100;
/** Number of runs that are followed before other work gets its turn. */
const AT_ONCE = 1000;

/** Opens the journal, and replays it into the state. */
export async function openRuns({
  runsDirectory,
  log,
}: {
  runsDirectory: string;
  log: (line: string) => void;
}): Promise<OpenedRuns> {
  const path = join(runsDirectory, supervisorFiles.directory, supervisorFiles.journal);
  const state = emptyState();
  const events = EventStream.open(runsDirectory, state, log);
  const recovery = new Recovery(state, path, (event, touched) => events.replayed(event, touched));
  const { journal, contents, past } = await Journal.open(path, recovery);
  for (const line of contents.dropped) log(`journal: ${line}`);
  return { journal, state, past, recent: recovery.recent, events };
}

type RecallPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'clock'>;
  submissions: Pick<SubmissionStore, 'prepare' | 'of' | 'forgetOthers'>;
  plannedRuns: Pick<PlannedRuns, 'keys'>;
  losses: Pick<Losses, 'note'>;
  runsDirectory: string;
  log: (line: string) => void;
};

/**
 * Recalls what the runs of the journal are. The order matters: losses are noted before anything is forgotten, and what has to be
 * forgotten is recorded before it is acted upon.
 */
export async function recallRuns(
  { journal, past }: Pick<OpenedRuns, 'journal' | 'past'>,
  ports: RecallPorts,
): Promise<void> {
  const { loop, submissions, plannedRuns } = ports;
  if (loop.state.active.size >= MANY_LIVE) enlargeHeap();
  noteLosses(past, ports);
  await submissions.prepare(plannedRuns.keys());
  const reading = loop.clock.reading();
  const found = [...(reading === null ? [] : [reading]), ...unreadable(ports)];
  if (found.length > 0) await journal.append(found);
  replay(loop.state, found);
  submissions.forgetOthers(plannedRuns.keys());
}

/** Records why sweeps are unknown, for users who look for them. */
function noteLosses({ kept, damaged, isNew }: JournalPast, { loop, losses, runsDirectory, log }: RecallPorts): void {
  if (kept === null && !isNew) return;
  const unknown = sweepsOnDisk(runsDirectory).filter((sweep) => !loop.state.sweeps.has(sweep));
  const sweeps = unknown.filter((sweep) => hasRuns(join(runsDirectory, sweep)));
  if (kept === null && sweeps.length === 0) return;
  const what = damaged === 0 ? 'was not a file' : `was damaged (${damaged} lines)`;
  const words =
    kept === null ? `there is no journal of the runs here any more` : `the journal ${what}; it is kept as ${kept}`;
  log(words);
  losses.note(words, sweeps);
}

/** The events that remove sweeps whose commands are lost; the next submission brings them back. */
function unreadable({ loop, plannedRuns, submissions, losses, log }: RecallPorts): SchedulerEvent[] {
  const { state } = loop;
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
      return forgetting(state, sweep, loop.now());
    }
  });
}

/** The environment of the last submission, whose PATH has the driver's tools; null: there was none. */
export function lastEnvironment({ runs }: SchedulerState, plannedRuns: Pick<PlannedRuns, 'submission'>) {
  const last = [...runs.values()].at(-1);
  return last === undefined ? null : plannedRuns.submission(last.plan).environment;
}

type ConfirmPorts = {
  loop: Pick<EventLoop, 'clock'>;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  records: Pick<Records, 'confirm'>;
};

/** Writes the records of the attempts that ended last, which may not have been written. */
export function confirmRecords(recent: readonly PastAttempt[], { plannedRuns, records, loop }: ConfirmPorts): void {
  for (const past of recent) {
    const planned = plannedRuns.of(past.id);
    const [startedAt, endedAt] = [loop.clock.wallTime(past.startedAt), loop.clock.wallTime(past.endedAt)];
    if (planned !== null) records.confirm(planned, { ...past, startedAt, endedAt });
  }
}

/**
 * Announces all runs in portions, and at least once even if there are none, so that observers know that all have been announced.
 */
export async function followAll(loop: Pick<EventLoop, 'state' | 'follow'>): Promise<void> {
  const ids = [...loop.state.runs.keys()];
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    loop.follow(new Set(ids.slice(from, from + AT_ONCE)));
    await passTurn();
  }
  if (ids.length === 0) loop.follow(new Set());
}
