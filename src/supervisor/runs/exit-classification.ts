import { join } from 'node:path';
import { after, type Eventually } from '../../base/eventually.js';
import type { Outcome, RunFacts } from '../../base/outcome.js';
import { linesOfLastAttempt } from '../../contract/attempt-separator.js';
import { runFiles } from '../../contract/files.js';
import { hasRoom } from '../../files/disk-room.js';
import type { Ending } from '../../executors/executor.js';
import { FactsReading, unknownRun } from '../../files/run-directory/completion-facts.js';
import { argumentAdvice, failureAtEnd, findFailure } from '../../logs/failure-line.js';
import { lastLines } from '../../logs/log-source.js';
import type { Completion, PlannedRun } from '../../spec/planned-run.js';
import { doneTest } from '../../spec/policy/completion.js';
import type { AskDone } from './done-commands.js';

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
