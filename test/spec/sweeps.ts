import type { RunFacts } from '../../src/base/outcome.js';
import { UserError } from '../../src/base/user-error.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import type { ExpandOptions } from '../../src/spec/expand/plan-run.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';
import type { Plan } from '../../src/spec/planned-run.js';

/** The plan of a text, as if the person were in `/home/ada` and runs went to `/runs`. */
export function planOf(text: string, options: Partial<ExpandOptions> & { path?: string } = {}): Plan {
  const { path = 'x.yaml', ...asked } = options;
  return expandSweep(parseSweepFile(text, path), {
    runsDirectory: '/runs',
    cwd: '/home/ada',
    environment: {},
    ...asked,
  });
}

/** What a person would read: message and fix. Anything but a UserError is thrown on. */
export function refusal(work: () => unknown): { message: string; fix: string } {
  try {
    work();
  } catch (error) {
    if (error instanceof UserError) return { message: error.message, fix: error.fix };
    throw error;
  }
  throw new Error('nothing was refused');
}

/** What the directory of a run that never was says. */
export const noFacts: RunFacts = {
  known: false,
  identity: null,
  group: null,
  parameters: null,
  attempts: 0,
  exitCode: null,
  stoppedBy: null,
  doneRows: [],
};
