/**
 * The table of run verbs: all that users can do to a run.
 *
 * The supervisor checks requests by it and takes from it the event of a verb; the command line, the palette, the keys of the
 * window, shell completion and the README are generated from it. A new verb is a row here, its event, and the scheduler's handling
 * of that event.
 */
import type { RunId } from '../base/ids.js';
import { hasEnded } from '../base/run-words.js';
import type { SchedulerEvent } from '../scheduler/event.js';
import type { RunSummary } from './run-summary.js';

/** Verbs without an argument besides the runs. */
export const plainVerbs = ['kill', 'resume', 'hold', 'release', 'pause', 'continue'] as const;
export type PlainVerb = (typeof plainVerbs)[number];

/** Every run verb, in the order of `--help` and the palette; the words are the same on the command line and in the window. */
export const runVerbNames = [...plainVerbs, 'priority', 'type'] as const;
export type RunVerb = (typeof runVerbNames)[number];

/** A verb with its arguments besides the runs. */
export type RunOrder =
  | { readonly verb: PlainVerb }
  | { readonly verb: 'priority'; readonly priority: number }
  | { readonly verb: 'type'; readonly text: string };

/** An order that changes the state of runs, and so is an event. */
export type EventOrder = Exclude<RunOrder, { verb: 'type' }>;

/** The part of a run that the rules depend on. The supervisor has it in its state, a client in its row. */
export type VerbTarget = Pick<RunSummary, 'state' | 'retryAt' | 'startsAt' | 'priority' | 'heldBy' | 'input'>;

/**
 * Why a verb does not apply to a run; `why` follows the name of the run. `first`: the verb to use before this one; `instead`: the
 * one to use in its place. The caller shows that verb as a word or by its key. `fix`: another remedy.
 */
export type Refusal = {
  readonly why: string;
  readonly first?: PlainVerb;
  readonly instead?: PlainVerb;
  readonly fix?: string;
};

/**
 * The key of a verb: lower case for one run or the marked ones, upper case for the group. `run`, `group`: what
 * it does there.
 */
export type VerbKeys = {
  readonly key: string;
  readonly run: string;
  readonly group: string;
};

/** The argument of a verb that takes one, else 0: a number, or a line of text. */
type Argument = number | string;

/** The properties of a verb. `value`: its argument. */
type RunVerbRow = {
  /** Its names in earlier versions, which can still be typed; no help shows them. */
  readonly earlier: readonly string[];
  /** What it does, in the words of `--help`, the palette and the README. */
  readonly help: string;
  /** What it does to a run, in the third person: `h releases it`. */
  readonly does: string;
  /** Shown while the supervisor has not answered yet. `runs`: in words. */
  readonly doing: (runs: string, value: Argument) => string;
  /** What has been done, to follow the number of runs. */
  readonly done: (value: Argument) => string;
  /** Which runs it, or its undo, applies to: `No run of A is queued or running.` */
  readonly suits: string;
  /** Why it does not apply; null: it does. The supervisor checks again, as a run may have changed meanwhile. */
  readonly refusal: (run: VerbTarget, value: Argument) => Refusal | null;
  /** Null: the verb changes no state of a run that has to outlive the supervisor; an executor carries it out at once. */
  readonly event: ((ids: RunId[], at: number, value: Argument) => SchedulerEvent) | null;
  /** The verb that undoes it; the two share a key. */
  readonly undo: PlainVerb | null;
  /** Whether it ends runs or keeps them from running, so that the user must confirm it for several runs. */
  readonly disturbs: boolean;
  /** Whether it cannot be undone, so that the window asks also for a single run. */
  readonly asks: boolean;
  /** `number`: it takes an integer before the runs: `priority 5 group:A`; `text`: a line after them: `type A_s0 c`; null: nothing. */
  readonly takes: 'number' | 'text' | null;
  /** Its own command-line options. */
  readonly options: readonly { readonly flags: string; readonly about: string }[];
  readonly keys: VerbKeys | null;
};

const usual = { earlier: [], undo: null, disturbs: false, asks: false, takes: null, options: [], keys: null } as const;

/** The table. Events are lines of the journal, where a verb may have another name: `kill` is written as `stop-requested`. */
export const runVerbs = {
  kill: {
    ...usual,
    earlier: ['stop'],
    help: 'stop runs, or a whole sweep: SIGTERM first, SIGKILL after the grace period; what waits is dropped',
    does: 'kills',
    doing: (runs) => `Killing ${runs}`,
    done: () => 'being stopped',
    suits: 'is queued or running',
    refusal: ({ state }) => endedRefusal(state) ?? (state === 'stopping' ? { why: 'is stopping already' } : null),
    event: (ids, at) => ({ type: 'stop-requested', at, ids }),
    disturbs: true,
    asks: true,
    options: [{ flags: '--wait', about: 'return when they have ended' }],
    keys: {
      key: 'k',
      run: 'kill the run (asks first)',
      group: 'kill the group of the selection (asks first)',
    },
  },
  resume: {
    ...usual,
    earlier: ['retry'],
    help: 'start ended runs again from where they stopped; automatic retries start again from 0',
    does: 'resumes',
    doing: (runs) => `Resuming ${runs}`,
    done: () => 'queued again',
    suits: 'has failed, been killed or lost',
    refusal: resumeRefusal,
    event: (ids, at) => ({ type: 'resume-requested', at, ids }),
    keys: {
      key: 'r',
      run: 'resume the run from where it stopped',
      group: 'resume all runs of the group that have stopped',
    },
  },
  hold: {
    ...usual,
    help: 'keep queued runs from starting',
    does: 'holds',
    doing: (runs) => `Holding ${runs}`,
    done: () => 'held',
    suits: 'is queued or held',
    refusal: holdRefusal,
    event: (ids, at) => ({ type: 'hold-requested', at, ids }),
    undo: 'release',
    disturbs: true,
    keys: {
      key: 'h',
      run: 'hold the run: it does not start; again: release it',
      group: 'hold all queued runs of the group; again: release them',
    },
  },
  release: {
    ...usual,
    help: 'let held runs start, whoever held them, and others before their start time',
    does: 'releases',
    doing: (runs) => `Releasing ${runs}`,
    done: () => 'released',
    suits: 'is queued or held',
    refusal: ({ state, startsAt = null }) => (state === 'held' || startsAt !== null ? null : { why: 'is not held' }),
    event: (ids, at) => ({ type: 'release-requested', at, ids }),
    undo: 'hold',
  },
  pause: {
    ...usual,
    help: 'suspend running processes; they keep their slots and their memory',
    does: 'pauses',
    doing: (runs) => `Pausing ${runs}`,
    done: () => 'paused',
    suits: 'is running or paused',
    refusal: pauseRefusal,
    event: (ids, at) => ({ type: 'pause-requested', at, ids }),
    undo: 'continue',
    disturbs: true,
    keys: {
      key: 'p',
      run: 'pause the run; again: continue it',
      group: 'pause all running runs of the group; again: continue them',
    },
  },
  continue: {
    ...usual,
    help: 'continue paused runs',
    does: 'continues',
    doing: (runs) => `Continuing ${runs}`,
    done: () => 'continued',
    suits: 'is running or paused',
    refusal: ({ state }) => (state === 'paused' ? null : { why: 'is not paused' }),
    event: (ids, at) => ({ type: 'continue-requested', at, ids }),
    undo: 'pause',
  },
  priority: {
    ...usual,
    help: 'start these runs before others (the higher first; default 0)',
    does: 'prioritizes',
    doing: (runs, priority) => `Giving ${runs} priority ${priority}`,
    done: (priority) => `given priority ${priority}`,
    suits: 'has not ended and another priority yet',
    refusal: priorityRefusal,
    event: (ids, at, priority) => ({ type: 'priority-requested', at, ids, priority: Number(priority) }),
    takes: 'number',
  },
  type: {
    ...usual,
    help: 'type a line into runs that read their standard input (`stdin: type`): input(), pdb, a REPL',
    does: 'types into',
    doing: (runs) => `Typing into ${runs}`,
    done: () => 'given the line',
    suits: 'runs and reads what is typed',
    refusal: typeRefusal,
    // A line is no state: a supervisor that replays its journal must not type it again, nor keep what may be a password.
    event: null,
    disturbs: true,
    takes: 'text',
  },
} as const satisfies Record<RunVerb, RunVerbRow>;

type Keyed<Verb extends RunVerb> = (typeof runVerbs)[Verb]['keys'] extends null ? never : Verb;
/** Verbs with a key. */
export type KeyedVerb = { [Verb in PlainVerb]: Keyed<Verb> }[PlainVerb];

export const keyedVerbs: readonly KeyedVerb[] = plainVerbs.filter(
  (verb): verb is KeyedVerb => rowOf(verb).keys !== null,
);

/** The verb that has, or had, this name; undefined: none. */
export function runVerbOf(name: string): RunVerb | undefined {
  return runVerbNames.find((verb) => verb === name || rowOf(verb).earlier.includes(name));
}

/** The row of a verb. */
export function rowOf(verb: RunVerb): RunVerbRow {
  return runVerbs[verb];
}

/** `argument`: of a verb that takes one. */
export function orderOf(verb: RunVerb, argument: Argument = 0): RunOrder {
  if (verb === 'priority') return { verb, priority: Number(argument) };
  return verb === 'type' ? { verb, text: String(argument) } : { verb };
}

/** Why a verb does not apply to the run; null: it does. */
export function refusalOf(order: RunOrder, run: VerbTarget): Refusal | null {
  return rowOf(order.verb).refusal(run, argumentOf(order));
}

/** Returns a test for the runs that a verb applies to. */
export function fits(order: RunOrder): (run: VerbTarget) => boolean {
  return (run) => refusalOf(order, run) === null;
}

/** The event of a verb that has one. `at`: ms on the scheduler's clock. */
export function eventOf(order: EventOrder, runs: RunId[], at: number): SchedulerEvent {
  return rowOf(order.verb).event!(runs, at, argumentOf(order));
}

/** What is being done to runs: `Holding 3 runs of A`. */
export function doingWords(order: RunOrder, runs: string): string {
  return rowOf(order.verb).doing(runs, argumentOf(order));
}

/** What has been done, to follow the number of runs: `held`. */
export function doneWords(order: RunOrder): string {
  return rowOf(order.verb).done(argumentOf(order));
}

/** A refusal on the command line: `is held; release it`. */
export function refusalWords({ why, first, instead }: Refusal): string {
  if (first !== undefined) return `${why}; ${first} it`;
  return instead === undefined ? why : `${why}; ${instead} it instead`;
}

function argumentOf(order: RunOrder): Argument {
  if (order.verb === 'priority') return order.priority;
  return order.verb === 'type' ? order.text : 0;
}

type State = VerbTarget['state'];

function resumeRefusal(run: VerbTarget): Refusal | null {
  if (run.state === 'done') return { why: 'is done; there is nothing to resume', fix: largerBudget };
  if (hasEnded(run.state)) return null;
  // An older supervisor does not send what holds the run, and decides itself.
  if (run.state === 'held') return run.heldBy === 'breaker' || run.heldBy === undefined ? null : isHeld;
  return upRefusal(run.state) ?? queuedRefusal(run);
}

function holdRefusal({ state }: VerbTarget): Refusal | null {
  if (state === 'queued') return null;
  if (state === 'held') return { why: 'is held already' };
  if (state === 'running') return { why: 'is running', instead: 'pause' };
  return stoppingRefusal(state) ?? { why: `is ${state}; only what waits can be held` };
}

function pauseRefusal({ state }: VerbTarget): Refusal | null {
  if (state === 'running') return null;
  if (state === 'queued') return { why: 'is not running', instead: 'hold' };
  if (state === 'starting') return { why: 'is only just starting; ask again in a moment' };
  if (state === 'paused') return { why: 'is paused already' };
  return stoppingRefusal(state) ?? { why: `is ${state}; only what runs can be paused` };
}

function priorityRefusal({ state, priority }: VerbTarget, wanted: Argument): Refusal | null {
  return endedRefusal(state) ?? (priority === wanted ? { why: 'has that priority already' } : null);
}

function typeRefusal({ state, input }: VerbTarget): Refusal | null {
  if (input === undefined) return { why: 'reads nothing that is typed', fix: takesLines };
  if (state === 'running') return null;
  return endedRefusal(state) ?? upRefusal(state) ?? { why: `is ${state}; only what runs can be typed into` };
}

const takesLines = 'Write `stdin: type` in the sweep file, and launch that again: it holds from the next attempt on.';
const isHeld: Refusal = { why: 'is held', first: 'release' };
const largerBudget = 'To train it further, raise its budget in the sweep file, and launch that again.';

/** Why a run that is up cannot be started; null: it is not up. */
function upRefusal(state: State): Refusal | null {
  if (state === 'paused') return { why: 'is paused', first: 'continue' };
  if (state === 'starting' || state === 'running') return { why: `is ${state}` };
  return stoppingRefusal(state);
}

/** Why a queued run cannot be started; one that waits for a retry can. */
function queuedRefusal({ retryAt, startsAt = null }: VerbTarget): Refusal | null {
  if (startsAt !== null) return { why: 'waits for its start time; `release` starts it now' };
  return retryAt === null ? { why: 'is queued already' } : null;
}

function endedRefusal(state: State): Refusal | null {
  return hasEnded(state) ? { why: `has ended already (${state})` } : null;
}

function stoppingRefusal(state: State): Refusal | null {
  return state === 'stopping' ? { why: 'is still stopping' } : null;
}
