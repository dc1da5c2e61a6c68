import { join } from 'node:path';
import { after, type Eventually } from '../../base/eventually.js';
import type { RunId } from '../../base/ids.js';
import type { Outcome, RunFacts } from '../../base/outcome.js';
import { linesOfLastAttempt, runFiles } from '../../contract/files.js';
import type { Ending, LeakedProcess } from '../../executors/executor.js';
import { hasRoom } from '../../files/disk-room.js';
import { FactsReading, unknownRun } from '../../files/run-directory/completion-facts.js';
import { argumentAdvice, failureAtEnd, findFailure } from '../../logs/failure-line.js';
import { lastLines } from '../../logs/log-source.js';
import { type CallEnd, callProgram } from '../../processes/short-call.js';
import { usableCores } from '../../processes/usable-cores.js';
import type { SchedulerEvent } from '../../scheduler/event.js';
import { gpusOf } from '../../scheduler/placement/slot.js';
import { isActive } from '../../scheduler/state.js';
import type { Completion, PlannedRun } from '../../spec/planned-run.js';
import { doneTest } from '../../spec/policy/completion.js';
import type { EventLoop } from '../core/event-loop.js';
import type { GpuWatch } from '../gpus/gpu-watch.js';
import { doneEnvironment, RETRY_MS } from './launcher.js';
import type { Environment, PlannedRuns } from './submission-store.js';
import { leakedProcessWords, type Warnings } from './warnings.js';
import type { Watcher } from './watcher.js';

type EndingPorts = {
  loop: Pick<EventLoop, 'state' | 'now' | 'tell'>;
  plannedRuns: Pick<PlannedRuns, 'of'>;
  gpus: Pick<GpuWatch, 'ended'>;
  watcher: Pick<Watcher, 'catchUp'>;
  warnings: Pick<Warnings, 'set' | 'tookOver'>;
  outcomeOf: OutcomeOf;
};

/** Hears of the ends of attempts from the executor, and tells what they mean, as events. */
export class Endings {
  /** Why starts came to nothing a moment ago. */
  readonly shortage: Shortage;
  readonly #ports: EndingPorts;

  constructor(ports: EndingPorts) {
    this.#ports = ports;
    this.shortage = new Shortage(() => ports.loop.now());
  }

  /** `leaked`: processes of the run that are still there. */
  ended(id: RunId, attempt: number, ending: Ending, leaked: readonly LeakedProcess[] = []): void {
    const { loop, plannedRuns, gpus, watcher, warnings, outcomeOf } = this.#ports;
    const plan = plannedRuns.of(id);
    if (plan === null) return;
    const wasKilled = loop.state.runs.get(id)?.state.phase === 'killing';
    const gpuMemory = gpus.ended(id);
    if (ending.kind === 'not-run') this.shortage.note(ending.shortage);
    const tell = (event: SchedulerEvent) => {
      loop.tell(event.type === 'run-ended' && gpuMemory !== null ? { ...event, gpuMemory } : event);
      warnings.set(id, 'processes', leakedProcessWords(leaked, wasKilled));
    };
    const tellEnd = () => withEnd({ id, attempt, plan, ending }, { outcomeOf, now: () => loop.now(), tell });
    // Its last row may say that its siblings need not start in its place.
    if (plan.objective?.target === undefined) tellEnd();
    else watcher.catchUp(plan, attempt, tellEnd);
  }

  /** An attempt that was still up from before goes on as the one that was to be started. */
  tookOver(id: RunId, orphan: number, pid: number): void {
    this.#ports.warnings.tookOver(id, orphan, pid);
  }

  /** A run that nobody can reach may still be running: it is taken for ended only because a person says so. */
  mayGiveUp(id: RunId): boolean {
    const state = this.#ports.loop.state.runs.get(id)?.state;
    return state?.phase === 'killing' && state.stop.kind === 'asked';
  }
}

/** An attempt that has ended, how, and how long ago, ms. */
type EndedAttempt = { id: RunId; attempt: number; plan: PlannedRun; ending: Ending; agoMs?: number | undefined };

type EndPorts = { outcomeOf: OutcomeOf; now: () => number; tell: (event: SchedulerEvent) => void };

/** Tells the end of an attempt, as an event, as soon as it is known what it means; one that never began is taken back. */
export function withEnd({ id, attempt, plan, ending, agoMs }: EndedAttempt, { outcomeOf, now, tell }: EndPorts): void {
  if (ending.kind === 'not-claimed' || ending.kind === 'not-run') {
    return tell({ type: 'launch-withdrawn', at: now(), id, attempt });
  }
  void after(outcomeOf(plan, ending), (outcome) =>
    tell({ type: 'run-ended', at: now(), id, attempt, outcome, ...(agoMs === undefined ? {} : { agoMs }) }),
  );
}

/** The last shortage of the machine because of which a run reported as started had not been started after all. */
export class Shortage {
  readonly #now: () => number;
  #last: { reason: string; until: number } | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  note(reason: string): void {
    this.#last = { reason, until: this.#now() + RETRY_MS };
  }

  /** Reason to start nothing for `waitMs`; null when runs may be started. */
  get current(): { reason: string; waitMs: number } | null {
    if (this.#last === null) return null;
    const waitMs = this.#last.until - this.#now();
    return waitMs > 0 ? { reason: this.#last.reason, waitMs } : null;
  }
}

/** The ending of an attempt that was started. */
export type AttemptEnding = Exclude<Ending, { kind: 'not-claimed' | 'not-run' }>;

/** How complete a run is, by what its directory says; `completionOf` of the spec. */
export type CompletionOf = (run: PlannedRun, facts: RunFacts) => Completion;

/** What the end of an attempt means for its run; later where a long file has to be looked through. */
export type OutcomeOf = (run: PlannedRun, ending: AttemptEnding) => Eventually<Outcome>;

/** Who says whether a run is done: what its directory holds, and the command of its done rule. */
type DoneJudges = { completionOf: CompletionOf; askDone: AskDone };

/** Between two steps through a long file, ms: others have their turn. */
const PAUSE_MS = 1;

/** Lines of the log in which a cause is looked for. */
const LINES = 1000;
/** No cause is found behind so many characters of a line. */
const LONG = 4096;

/**
 * What the end of the process means for the run; later where a long file has to be looked through. Exit code 0 is not enough where the sweep file asks for more; any other
 * end is one for want of memory if the kernel or the run's own last words say so.
 */
export function outcomeOf(run: PlannedRun, ending: AttemptEnding, judges: DoneJudges): Eventually<Outcome> {
  switch (ending.kind) {
    case 'exited':
      return ending.code === 0
        ? after(checkedDone(run, judges), (outcome) => withLastWords(run, outcome))
        : crashed(run, { kind: 'failed', code: ending.code });
    case 'signalled':
      return crashed(run, { kind: 'signal', signal: ending.signal });
    case 'interrupted':
      return { kind: 'signal', signal: ending.signal, line: ending.reason };
    case 'timed-out':
      return { kind: 'timeout', seconds: ending.seconds };
    case 'out-of-memory':
      return { kind: 'oom', line: findFailure(lastWords(run))?.outOfMemory ?? ending.reason };
    case 'not-begun':
      return { kind: 'failed', code: 126, line: ending.reason };
    case 'unknown':
      return { kind: 'lost', reason: ending.reason };
  }
}

/** Said of a run that could not say it: its last words had no room either. */
const diskWasFull = 'the disk of its directory was full when it ended';

function checkedDone(run: PlannedRun, { completionOf, askDone }: DoneJudges): Eventually<Outcome> {
  if ('exit' in run.done) return { kind: 'done' };
  return after(factsOf(run, askDone), (facts) => {
    // Its record may not have been written yet, and tell the parameters of the attempt before.
    const { state, reason } = completionOf(run, { ...facts, parameters: run.parameters });
    if (state === 'done') return { kind: 'done' };
    return { kind: 'failed', code: 0, line: facts.obstacle === undefined ? reason : `${reason} (${facts.obstacle})` };
  });
}

/**
 * What the directory of a run says, at once where the file of its done rule is short. A long one is looked through a few ms at
 * a time, to its end: whoever asks whether a run is done wants to know it, and a gigabyte takes some 20 s.
 */
export function factsOf(run: PlannedRun, askDone: AskDone): Eventually<RunFacts> {
  const reading = new FactsReading(run.directory, run.done, doneTest(run));
  if (!reading.isOver) return readOn(reading);
  const { facts } = reading;
  // Nothing is there that could be done.
  if (!('command' in run.done) || facts.doneRows.length > 0 || facts === unknownRun) return facts;
  return askDone(run).then((answer) =>
    answer.isDone ? { ...facts, doneRows: [{}] } : { ...facts, doneWords: answer.words },
  );
}

async function readOn(reading: FactsReading): Promise<RunFacts> {
  while (!reading.isOver) {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    reading.step();
  }
  return reading.facts;
}

function crashed(run: PlannedRun, outcome: Extract<Outcome, { kind: 'failed' | 'signal' }>): Outcome {
  const words = lastWords(run);
  const failure = findFailure(words);
  if (failure?.outOfMemory != null) return { kind: 'oom', line: failure.outOfMemory };
  const said = failure?.line ?? (hasRoom(run.directory) ? null : diskWasFull);
  const advice = argumentAdvice(words, run.argv, Object.keys(run.parameters));
  return said === null ? outcome : { ...outcome, line: advice === null ? said : `${said}; ${advice}` };
}

/** The exit code is that of the last command of a pipe or a script (`| tee`, `; echo`), whatever its program says. */
function withLastWords(run: PlannedRun, outcome: Outcome): Outcome {
  const failure = outcome.kind === 'done' ? failureAtEnd(lastWords(run)) : null;
  return failure === null ? outcome : { kind: 'done', line: failure.line };
}

/** The end of what its last attempt wrote. */
function lastWords(run: PlannedRun): readonly string[] {
  return linesOfLastAttempt(lastLines(join(run.directory, runFiles.log), LINES).map((line) => line.slice(0, LONG)));
}

/** What the command of a done rule says. `words`: why the run is not done, for a person. */
export type DoneAnswer = { isDone: true } | { isDone: false; words: string };

/** Asks whether a run is done. Never rejects. */
export type AskDone = (run: PlannedRun) => Promise<DoneAnswer>;

/** Time limit of a command whose rule has none, ms. */
const PATIENCE_MS = 60_000;
/** Limit on the shown part of its last line, characters. */
const SHOWN = 200;

type DoneCommandPorts = {
  loop: Pick<EventLoop, 'state'>;
  plannedRuns: Pick<PlannedRuns, 'submitted'>;
  gpus: Pick<GpuWatch, 'devices'>;
  /** Folder of our own programs. */
  bin: string;
  /** The environment of the supervisor, for runs whose own is not known any more. */
  environment: Environment;
};

/**
 * Asks the commands of done rules, a few at a time: each in the directory of its run, with an environment, and for so long as its
 * rule says. Nothing that a command has started stays behind.
 */
export class DoneCommands {
  readonly #ports: DoneCommandPorts;
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param most Commands that run at a time. */
  constructor(ports: DoneCommandPorts, most = usableCores()) {
    this.#ports = ports;
    this.#most = most;
  }

  /** Asks in the environment of the run, with the GPUs of one whose process has just ended. */
  readonly ask: AskDone = (run) => this.#ask(run, this.#environmentOf(run));

  /** Asks in the environment of a launch, before the run has a place. */
  askIn(environment: Environment): AskDone {
    const { gpus, bin } = this.#ports;
    return (run) => this.#ask(run, doneEnvironment(run, null, { environment, bin, devices: gpus.devices([]) }));
  }

  async #ask(run: PlannedRun, environment: Environment): Promise<DoneAnswer> {
    if (this.#running < this.#most) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await answerOf(run, environment);
    } finally {
      // Handed on, not given back: who asks at this moment waits behind those that wait already.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  #environmentOf(run: PlannedRun): Environment {
    const { loop, plannedRuns, gpus, bin } = this.#ports;
    const { environment } = plannedRuns.submitted(run.id) ?? this.#ports;
    const was = loop.state.runs.get(run.id)?.state;
    const slot = was !== undefined && isActive(was) ? was.slot : null;
    return doneEnvironment(run, slot, { environment, bin, devices: gpus.devices(slot === null ? [] : gpusOf(slot)) });
  }
}

async function answerOf(run: PlannedRun, environment: Readonly<Record<string, string>>): Promise<DoneAnswer> {
  const { done, doneArgv, directory: cwd } = run;
  if (!('command' in done)) return { isDone: false, words: 'it has no done command' };
  const patienceMs = done.timeout === undefined ? PATIENCE_MS : done.timeout * 1000;
  const [program = '', ...args] = doneArgv ?? done.command;
  const call = { program, args, cwd, environment, patienceMs, tree: { leftovers: 'killed' } } as const;
  const end = await callProgram(call);
  const isDone = end.kind === 'exit' && end.code === 0;
  return isDone ? { isDone } : { isDone, words: `its done command ${wordsOf(end, patienceMs)}` };
}

function wordsOf(end: CallEnd, patienceMs: number): string {
  switch (end.kind) {
    case 'late':
      return `did not end within ${patienceMs / 1000} s`;
    case 'loud':
      return 'printed more than 16 MiB and was stopped';
    case 'unstartable':
      return `cannot be started: ${end.why}`;
    case 'exit': {
      const said = end.stdout.toString('utf8').trimEnd().split('\n').at(-1)!.trim();
      return `ended with ${end.signal ?? `exit code ${end.code}`}${said === '' ? '' : ` (${said.slice(0, SHOWN)})`}`;
    }
  }
}
