import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { attemptDirectory, readClaim } from '../../../src/executors/attempt/attempt-files.js';
import { readProcesses } from '../../../src/processes/process-table.js';
import { hasProgram } from '../../has-program.js';
import { conforms, type Program } from '../conformance.js';
import { executorFor, orderFor, runFolder, waysOfHolding } from './folder.js';

const commands: Readonly<Record<Program, string[]>> = {
  exits: ['sh', '-c', 'exit 3'],
  waits: ['sh', '-c', ': > up; while [ ! -e gate ]; do sleep 0.02; done; exit 4'],
  deaf: ['sh', '-c', 'trap "" TERM; : > up; while :; do sleep 0.1; done'],
  missing: ['no-such-command'],
};

const ownProcesses = (directory: string) => readProcesses().filter((entry) => entry.mark() === directory);

/** Frozen with its cgroup, or stopped one by one. */
function isStill(directory: string, attempt: number): boolean {
  const claim = readClaim(attemptDirectory(directory, attempt));
  const cgroup = claim.kind === 'begun' ? claim.cgroup : null;
  if (cgroup !== null) return readFileSync(join(cgroup, 'cgroup.events'), 'utf8').includes('frozen 1');
  const states = ownProcesses(directory).map(({ state }) => state);
  // A shell that is just starting a program waits in D until its stopped child has executed it.
  return states.includes('T') && states.every((state) => state === 'T' || state === 'D');
}

const hasTmux = hasProgram('tmux', 'the conformance of runs with a terminal');
/** Runs with an empty input, and those with a terminal. */
const inputs = [
  { beside: '', input: {} },
  ...(hasTmux ? [{ beside: ' in a terminal,', input: { input: 'terminal' as const } }] : []),
];

for (const { how, home } of waysOfHolding) {
  for (const { beside, input } of inputs) {
    conforms(`this machine, ${how},${beside}`, () => {
      const place = home(runFolder());
      return {
        open: (listener) => executorFor(listener, place),
        directory: runFolder,
        spec: (program, directory, attempt) => ({ ...orderFor(directory, commands[program], attempt), ...input }),
        isUp: (directory) => existsSync(join(directory, 'up')) && ownProcesses(directory).length > 0,
        isStill,
        finish: (directory) => writeFileSync(join(directory, 'gate'), ''),
        ...('input' in input ? { isTyped: true as const } : {}),
      };
    });
  }
}
