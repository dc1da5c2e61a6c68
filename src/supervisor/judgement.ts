import type { RunFacts } from '../base/run-facts.js';
import type { Outcome } from '../base/outcome.js';
import type { Ending } from '../executors/local/ending.js';
import { runFiles } from '../contract/files.js';
import type { PlannedRun, Standing } from '../spec/planned-run.js';
import { failureLine } from '../store/failure-line.js';
import { lastLines } from '../store/log-tail.js';
import { readRunFacts } from '../store/run-facts.js';
import { join } from 'node:path';

/** Judges a run by what its directory says; `standing` of the spec. */
export type Judge = (run: PlannedRun, facts: RunFacts) => Standing;

/** Lines of the log in which a cause is looked for. */
const LINES = 200;

/** What the end of the process means for the run. Exit code 0 is not enough where the sweep file asks for more. */
export function outcomeOf(run: PlannedRun, ending: Ending, judge: Judge): Outcome {
  switch (ending.kind) {
    case 'exited':
      return ending.code === 0 ? judgedDone(run, judge) : { kind: 'failed', code: ending.code, ...cause(run) };
    case 'signalled':
      return { kind: 'signal', signal: ending.signal, ...cause(run) };
    case 'not-begun':
      return { kind: 'failed', code: 126, line: ending.reason };
    case 'unknown':
      return { kind: 'lost', reason: ending.reason };
  }
}

function judgedDone(run: PlannedRun, judge: Judge): Outcome {
  if ('exit' in run.done) return { kind: 'done' };
  const { state, reason } = judge(run, readRunFacts(run.directory, run.done));
  return state === 'done' ? { kind: 'done' } : { kind: 'failed', code: 0, line: reason };
}

function cause(run: PlannedRun): { line?: string } {
  const line = failureLine(lastLines(join(run.directory, runFiles.log), LINES));
  return line === null ? {} : { line };
}
