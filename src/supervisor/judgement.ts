import type { RunFacts } from '../base/run-facts.js';
import type { Outcome } from '../base/outcome.js';
import { hasRoom } from '../executors/local/disk-room.js';
import type { Ending } from '../executors/local/ending.js';
import { linesOfLastAttempt } from '../executors/local/log-separator.js';
import { runFiles } from '../contract/files.js';
import type { PlannedRun, Standing } from '../spec/planned-run.js';
import { failureLine } from '../store/failure-line.js';
import { lastLines } from '../store/log-tail.js';
import { outOfMemoryLine } from '../store/out-of-memory.js';
import { readRunFacts } from '../store/run-facts.js';
import { join } from 'node:path';

/** Of an attempt that there was. */
export type AttemptEnding = Exclude<Ending, { kind: 'not-claimed' | 'not-run' }>;

/** Judges a run by what its directory says; `standing` of the spec. */
export type Judge = (run: PlannedRun, facts: RunFacts) => Standing;

/** Lines of the log in which a cause is looked for. */
const LINES = 200;

/**
 * What the end of the process means for the run. Exit code 0 is not enough where the sweep file asks for more; any other
 * end is one for want of memory if the kernel or the run's own last words say so.
 */
export function outcomeOf(run: PlannedRun, ending: AttemptEnding, judge: Judge): Outcome {
  switch (ending.kind) {
    case 'exited':
      return ending.code === 0 ? judgedDone(run, judge) : crashed(run, { kind: 'failed', code: ending.code });
    case 'signalled':
      return crashed(run, { kind: 'signal', signal: ending.signal });
    case 'out-of-memory':
      return { kind: 'oom', line: outOfMemoryLine(...lastWords(run)) ?? ending.reason };
    case 'not-begun':
      return { kind: 'failed', code: 126, line: ending.reason };
    case 'unknown':
      return { kind: 'lost', reason: ending.reason };
  }
}

/** Said of a run that could not say it: its last words had no room either. */
const diskWasFull = 'the disk of its directory was full when it ended';

function judgedDone(run: PlannedRun, judge: Judge): Outcome {
  if ('exit' in run.done) return { kind: 'done' };
  // Its record may not have been written yet, and tell the parameters of the attempt before.
  const facts = { ...readRunFacts(run.directory, run.done), parameters: run.parameters };
  const { state, reason } = judge(run, facts);
  return state === 'done' ? { kind: 'done' } : { kind: 'failed', code: 0, line: reason };
}

function crashed(run: PlannedRun, outcome: Extract<Outcome, { kind: 'failed' | 'signal' }>): Outcome {
  const [lines, line] = lastWords(run);
  const outOfMemory = outOfMemoryLine(lines, line);
  if (outOfMemory !== null) return { kind: 'oom', line: outOfMemory };
  const said = line ?? (hasRoom(run.directory) ? null : diskWasFull);
  return said === null ? outcome : { ...outcome, line: said };
}

/** The end of what its last attempt wrote, and the line of it that says best why it ended. */
function lastWords(run: PlannedRun): [lines: readonly string[], line: string | null] {
  const lines = linesOfLastAttempt(lastLines(join(run.directory, runFiles.log), LINES));
  return [lines, failureLine(lines)];
}
