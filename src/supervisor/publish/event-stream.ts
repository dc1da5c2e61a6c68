import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import type { Finding } from '../../analysis/health/finding.js';
import { groupBy } from '../../base/group-by.js';
import { nameOf, type RunId, sweepOf } from '../../base/ids.js';
import { countStates, endStateOf } from '../../base/run-words.js';
import { supervisorFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { type Source, type StreamedEvent, StreamHead, StreamLine } from '../../protocol/event-stream.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import { slotName } from '../../scheduler/placement/slot.js';
import { isSweepOver } from '../../scheduler/placement/waiting-reason.js';
import type { Ending, Run, SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import { endReason, wordOf } from './run-view.js';

/** What an event of the journal is called in the stream, so that it is told once. */
function sourceOf(event: SchedulerEvent): Source {
  const { type, at } = event;
  const who = 'id' in event ? event.id : 'ids' in event ? `${event.ids.length} ${event.ids[0] ?? ''}` : '';
  return { at, key: `${type} ${who} ${'attempt' in event ? event.attempt : ''}` };
}

/** What an event means for who follows the stream. @param state After the event. @param touched Runs that the event has changed. */
function streamedEventsOf(event: SchedulerEvent, touched: ReadonlySet<RunId>, state: SchedulerState): StreamedEvent[] {
  const runs = [...touched].flatMap((id) => state.runs.get(id) ?? []);
  switch (event.type) {
    case 'runs-submitted':
      return submitted(event);
    case 'run-started':
      return runs.filter(({ id }) => id === event.id).flatMap(started);
    case 'run-ended':
    case 'launch-failed':
      return withFinish(runs.filter(({ id }) => id === event.id).flatMap(ended), state);
    case 'stop-requested':
      return withFinish(bySweep('killed', runs.filter(isKilledWaiting)), state);
    case 'hold-requested':
      return withFinish(
        bySweep(
          'held',
          runs.filter(({ hold }) => hold !== null),
          event.reason,
        ),
        state,
      );
    case 'sweep-forgotten':
      return [{ event: 'forgotten', sweep: event.sweep }];
    case 'groups-closed':
      return event.groups.map((id) => ({ event: 'closed', ...placeOf(id), reason: event.reason }));
    default:
      return orderedIn(event.type, runs);
  }
}

const words = {
  'release-requested': 'released',
  'pause-requested': 'paused',
  'continue-requested': 'continued',
  'resume-requested': 'resumed',
  'retry-requested': 'resumed',
} as const satisfies Partial<Record<SchedulerEvent['type'], StreamedEvent['event']>>;

function orderedIn(type: SchedulerEvent['type'], runs: readonly Run[]): StreamedEvent[] {
  return type in words ? bySweep(words[type as keyof typeof words], runs) : [];
}

function submitted({ sweep, runs }: Extract<SchedulerEvent, { type: 'runs-submitted' }>): StreamedEvent[] {
  const added = runs.filter(({ wish }) => wish === 'run' || wish === 'adopt' || wish === 'extend');
  return added.length === 0 ? [] : [{ event: 'submitted', sweep, run: nameOf(added[0]!.id), runs: added.length }];
}

function started(run: Run): StreamedEvent[] {
  if (run.state.phase !== 'running') return [];
  return [{ event: 'started', ...runFacts(run), slot: slotName(run.state.slot) }];
}

function ended(run: Run): StreamedEvent[] {
  const { state } = run;
  if (state.phase === 'ended') return [{ event: endStateOf(state.outcome.kind), ...runFacts(run), ...endFacts(state) }];
  if (state.phase !== 'waiting' || state.last === null) return [];
  const event = state.last.outcome.kind === 'done' ? 'done' : run.hold === null ? 'retrying' : 'held';
  return [{ event, ...runFacts(run), ...endFacts(state.last) }];
}

function endFacts({ outcome }: Ending): Pick<StreamedEvent, 'reason' | 'code'> {
  const reason = endReason(outcome);
  return { ...(reason === null ? {} : { reason }), ...(outcome.kind === 'failed' ? { code: outcome.code } : {}) };
}

function isKilledWaiting({ state }: Run): boolean {
  return state.phase === 'ended' && state.outcome.kind === 'killed';
}

/** One event for the runs of each sweep. */
function bySweep(event: StreamedEvent['event'], runs: readonly Run[], reason?: string): StreamedEvent[] {
  const why = reason === undefined ? {} : { reason };
  return [...groupBy(runs, ({ sweep }) => sweep)].map(([sweep, own]) => {
    return { event, sweep, run: nameOf(own[0]!.id), runs: own.length, ...why };
  });
}

/** Adds the end of each sweep in which nothing can start any more. */
function withFinish(events: readonly StreamedEvent[], state: SchedulerState): StreamedEvent[] {
  const over = [...new Set(events.map(({ sweep }) => sweep))].filter((sweep) => isSweepOver(state, sweep));
  return [...events, ...over.map((sweep) => ({ event: 'finished' as const, sweep, counts: countsOf(sweep, state) }))];
}

function countsOf(sweep: string, { sweeps, runs }: SchedulerState): Record<string, number> {
  return countStates([...(sweeps.get(sweep) ?? [])].map((id) => ({ state: wordOf(runs.get(id)!) })));
}

function runFacts({ id, group, attempt }: Run): Pick<StreamedEvent, 'sweep' | 'group' | 'run' | 'attempt'> {
  return { ...placeOf(group), run: nameOf(id), attempt };
}

function placeOf(group: string): Pick<StreamedEvent, 'sweep' | 'group'> {
  return { sweep: sweepOf(group), group: nameOf(group) };
}

type EventStreamTools = {
  /** The wall clock at a time of the scheduler's line. Unix ms. */
  wallTime: (at: number) => number;
  planned: (id: RunId) => PlannedRun | null;
  /** The best value of the objective of a run that has ended and has been read to its end; null: it has none. */
  bestOf: (id: RunId) => number | null;
};

/** An event that is to be told, and which event of the journal it is. */
type Told = { event: StreamedEvent; from: Source };

/**
 * Tells what happens to runs in the order in which it happens, each event once, whenever this or an earlier supervisor was killed: events of the
 * journal that have not been told are told when it is read again. An observer of the event loop.
 */
export class EventStream {
  readonly #file: EventFile;
  readonly #state: SchedulerState;
  #tools: EventStreamTools | null = null;
  /** The last event of the journal that was told; null: none was. */
  #last: Source | null;
  /** Number of the lines that an earlier supervisor told it in, of which a crash may have cut some. */
  readonly #lines: number;
  /** Whether there was no stream, so that what is in the journal is past. */
  readonly #isNew: boolean;
  /** Events of the journal that an earlier supervisor did not come to tell. */
  #untold: Told[] = [];
  readonly #warned = new Set<string>();
  /** By `SWEEP/GROUP`. */
  readonly #best: Map<string, number>;
  #writing: NodeJS.Immediate | null = null;

  private constructor(state: SchedulerState, { file, head, lines, isNew }: ReturnType<typeof EventFile.open>) {
    this.#file = file;
    this.#state = state;
    this.#isNew = isNew;
    const told = lines.flatMap(({ from }) => from ?? []);
    this.#last = told.at(-1) ?? head.from ?? null;
    this.#lines = told.filter((from) => isSame(from, this.#last!)).length;
    this.#best = new Map(Object.entries(head.best));
    lines.forEach((line) => this.#recall(line));
  }

  /** @param state What the journal is replayed into. */
  static open(runsDirectory: string, state: SchedulerState, log: (line: string) => void): EventStream {
    const [path, earlier] = [supervisorFiles.events, supervisorFiles.earlierEvents].map((name) =>
      join(runsDirectory, supervisorFiles.directory, name),
    ) as [string, string];
    return new EventStream(state, EventFile.open({ path, earlier }, log));
  }

  #recall({ event, sweep, group, run, attempt, health, value }: StreamLine): void {
    if (event === 'warning') this.#warned.add(warningKey(`${sweep}/${run}`, attempt ?? 0, health ?? ''));
    if (event === 'best' && value !== undefined) this.#best.set(`${sweep}/${group}`, value);
  }

  /** An event of the journal is replayed. */
  replayed(event: SchedulerEvent, touched: ReadonlySet<RunId>): void {
    const from = sourceOf(event);
    if (this.#isNew) this.#last = from;
    else if (this.#last === null || event.at >= this.#last.at) {
      const events = streamedEventsOf(event, touched, this.#state);
      const isLast = this.#last !== null && isSame(from, this.#last);
      if (isLast) this.#untold = [];
      for (const told of isLast ? events.slice(this.#lines) : events) this.#untold.push({ event: told, from });
    }
  }

  /** Tells what was not told, and from now on what happens. */
  begin(tools: EventStreamTools): void {
    this.#tools = tools;
    for (const { event, from } of this.#untold.splice(0)) this.#tell(event, from);
    this.flush();
  }

  heard(event: SchedulerEvent, touched: ReadonlySet<RunId>): void {
    const from = sourceOf(event);
    for (const told of streamedEventsOf(event, touched, this.#state)) this.#tell(told, from);
  }

  /** Tells the best value of a group, when a run that is done has a better one than those before it. */
  changed(ids: Iterable<RunId>): void {
    for (const id of ids) {
      const run = this.#state.runs.get(id);
      if (run?.state.phase === 'ended' && run.state.outcome.kind === 'done') this.#tellIfBest(run);
    }
  }

  #tellIfBest({ id, group: place }: Run): void {
    const planned = this.#tools?.planned(id);
    const value = this.#tools?.bestOf(id) ?? null;
    if (!planned?.objective || value === null) return;
    const { sweep, group, name: run, objective } = planned;
    const { name: metric, goal } = objective;
    if (!isBetter(value, this.#best.get(place), goal)) return;
    this.#best.set(place, value);
    this.#tell({ event: 'best', sweep, group, run, metric, goal, value });
  }

  /** Tells a problem of a running run, once in each attempt. */
  unhealthy({ id, sweep, group, name }: PlannedRun, { word, reason }: Finding): void {
    const attempt = this.#state.runs.get(id)?.attempt ?? 0;
    const key = warningKey(id, attempt, word);
    if (this.#warned.has(key)) return;
    this.#warned.add(key);
    this.#tell({ event: 'warning', sweep, group, run: name, attempt, health: word, reason });
  }

  #tell(event: StreamedEvent, from?: Source): void {
    const at = from === undefined ? Date.now() : this.#tools!.wallTime(from.at);
    this.#file.add({ at: new Date(at).toISOString(), ...event, ...(from === undefined ? {} : { from }) });
    if (from !== undefined) this.#last = from;
    // Before a client that is told of the same reads the file.
    this.#writing ??= setImmediate(() => this.flush());
  }

  /** Writes everything so far. Called before the journal goes on: so only its last events can be untold. */
  flush(): void {
    if (this.#writing !== null) clearImmediate(this.#writing);
    this.#writing = null;
    this.#file.flush(() => ({
      ...(this.#last === null ? {} : { from: this.#last }),
      best: Object.fromEntries(this.#best),
    }));
  }

  close(): void {
    this.flush();
    this.#file.close();
  }
}

function isSame(a: Source, b: Source): boolean {
  return a.at === b.at && a.key === b.key;
}

function isBetter(value: number, best: number | undefined, goal: 'minimize' | 'maximize'): boolean {
  if (best === undefined) return true;
  return goal === 'minimize' ? value < best : value > best;
}

function warningKey(id: string, attempt: number, word: string): string {
  return `${id} ${attempt} ${word}`;
}

/** Size from which on a new file is begun, in bytes. */
const LONG = 4 << 20;
/** Limit on the lines that wait for room on the disk. */
const MOST_WAITING = 10_000;

/** Paths of the file and of the one before it. */
type Paths = { readonly path: string; readonly earlier: string };
/** What a new file begins with, beside the name of the stream. */
type Memory = Pick<StreamHead, 'from' | 'best'>;

/**
 * The file of the event stream. Lines are numbered; a line that a crash left unfinished is cut off, and a file that is gone or was
 * changed by somebody else begins a new stream, so that no number means two things.
 */
export class EventFile {
  readonly #paths: Paths;
  readonly #log: (line: string) => void;
  #head: StreamHead;
  /** Number of the next line that is added. */
  #next: number;
  /** The open file and its size after our last write; null: there is none of this stream. */
  #own: { descriptor: number; size: number } | null;
  #waiting: string[] = [];
  #isTroubled = false;

  private constructor(paths: Paths, log: (line: string) => void, { head, lines, own }: Found) {
    this.#paths = paths;
    this.#log = log;
    this.#head = head;
    this.#own = own;
    this.#next = (lines.at(-1)?.n ?? head.next - 1) + 1;
  }

  /** @returns also what the file tells, for whoever goes on with it; `isNew`: there was none. */
  static open(paths: Paths, log: (line: string) => void) {
    const found = readStream(paths.path);
    const { head, lines, own } = found ?? { head: newHead(1), lines: [], own: null };
    return { file: new EventFile(paths, log, { head, lines, own }), head, lines, isNew: found === null };
  }

  /** Adds an event, which is written with the next `flush`. */
  add(line: Omit<StreamLine, 'n'>): void {
    this.#waiting.push(`${JSON.stringify({ n: this.#next++, ...line })}\n`);
    if (this.#waiting.length > MOST_WAITING) this.#waiting.shift();
  }

  /** Writes what was added, and a new file's first line; what the disk refuses is tried again with the next call. */
  flush(memory: () => Memory): void {
    if (this.#waiting.length === 0 && this.#own !== null) return;
    try {
      this.#prepare(memory);
      this.#write(this.#waiting.join(''));
      this.#waiting = [];
      this.#isTroubled = false;
    } catch (error) {
      if (!this.#isTroubled) this.#log(`events cannot be written: ${(error as Error).message}`);
      this.#isTroubled = true;
    }
  }

  close(): void {
    if (this.#own !== null) closeSync(this.#own.descriptor);
    this.#own = null;
  }

  /** Begins a new file where there is none, or it is long, or not as it was left. */
  #prepare(memory: () => Memory): void {
    const isOurs = this.#own !== null && this.#isInPlace(this.#own);
    if (isOurs && this.#own!.size < LONG) return;
    this.close();
    const { path, earlier } = this.#paths;
    if (statSync(path, { throwIfNoEntry: false }) !== undefined) renameSync(path, earlier);
    // The lines that wait have their numbers.
    const next = this.#next - this.#waiting.length;
    this.#head = { ...(isOurs ? this.#head : newHead(next)), next, ...memory() };
    const how = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND | constants.O_NOFOLLOW;
    this.#own = { descriptor: openSync(path, how, 0o600), size: 0 };
    this.#write(`${JSON.stringify(this.#head)}\n`);
  }

  #isInPlace({ descriptor, size }: { descriptor: number; size: number }): boolean {
    const there = statSync(this.#paths.path, { throwIfNoEntry: false });
    const ours = fstatSync(descriptor);
    return there?.ino === ours.ino && there.dev === ours.dev && there.size === size;
  }

  /** @throws {Error} When the disk refuses some of it, with none of it kept. */
  #write(text: string): void {
    const { descriptor, size } = this.#own!;
    const bytes = Buffer.from(text);
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done);
      this.#own = { descriptor, size: size + bytes.length };
    } catch (error) {
      ftruncateSync(descriptor, size);
      throw error;
    }
  }
}

type Found = { head: StreamHead; lines: StreamLine[]; own: { descriptor: number; size: number } | null };

function newHead(next: number): StreamHead {
  return { stream: randomBytes(4).toString('hex'), next, best: {} };
}

/** The stream in a file, whose unfinished last line is cut off; null: there is none. */
function readStream(path: string): Found | null {
  let descriptor: number;
  try {
    const how = constants.O_RDWR | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    descriptor = openSync(path, how);
  } catch {
    return null;
  }
  const found = streamIn(descriptor);
  if (found === null) closeSync(descriptor);
  return found;
}

function streamIn(descriptor: number): Found | null {
  const stat = fstatSync(descriptor);
  if (!stat.isFile() || stat.size > 2 * LONG) return null;
  const bytes = readFileSync(descriptor);
  const size = bytes.lastIndexOf(10) + 1;
  if (size < bytes.length) ftruncateSync(descriptor, size);
  const [first, ...rest] = bytes.toString('utf8', 0, size).split('\n').slice(0, -1).map(parseJsonLine);
  const head = StreamHead.safeParse(first).data;
  if (head === undefined) return null;
  return { head, lines: rest.flatMap((line) => StreamLine.safeParse(line).data ?? []), own: { descriptor, size } };
}
