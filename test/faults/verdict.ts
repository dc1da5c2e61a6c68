import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Fleet, RunSummary } from '../../src/client/fleet.js';
import { readProcesses } from '../../src/executors/local/process-table.js';
import { emptyState } from '../../src/scheduler/state.js';
import { readRunRecord } from '../../src/store/run-record-file.js';
import { parseJournal } from '../../src/supervisor/journal-text.js';
import { replay } from '../../src/supervisor/recovery.js';
import { run as rowOf, type Testbed } from '../supervisor/testbed.js';
import type { Ordained, Places } from './sweep.js';

/** Everything that is not as it must be when all is over, in words. Empty: nothing was lost, doubled or left. */
export function violations(bed: Testbed, fleet: Fleet, all: readonly Ordained[], { starts }: Places): string[] {
  const states = replayed(bed);
  return [
    ...all.flatMap((run) => {
      const row = rowOf(fleet, `ordeal/${run.name}`);
      const started = linesOf(join(starts, run.name));
      const faults = [
        ...startFaults(run, row, started),
        ...endFaults(run, row),
        ...recordFaults(bed, run, row, started),
      ];
      if (states.get(row.id) !== row.exit?.class) faults.push(`is ${states.get(row.id)} by the journal`);
      return faults.map((fault) => `${run.name} (${row.state}, ${row.attempt} attempts) ${fault}`);
    }),
    ...(fleet.status.cpu.busy === 0 ? [] : [`${fleet.status.cpu.busy} slots are still taken`]),
    ...strays(bed),
  ];
}

function startFaults({ starts }: Ordained, row: RunSummary, started: readonly string[]): string[] {
  return [
    ...(new Set(started).size === started.length ? [] : [`was started twice in one attempt: ${started.join(', ')}`]),
    ...(starts === null || started.length === starts ? [] : [`was started ${started.length} times, not ${starts}`]),
    ...(row.attempt === started.length ? [] : [`was started ${started.length} times`]),
  ];
}

function endFaults({ kind, code }: Ordained, { state, exit }: RunSummary): string[] {
  if (kind === 'doomed') return state === 'killed' ? [] : [`should have been killed`];
  const right = code === 0 ? 'done' : 'failed';
  return state === right && exit?.code === code
    ? []
    : [`should be ${right} (${code}), says ${exit?.class} ${exit?.code}`];
}

function recordFaults(bed: Testbed, { name }: Ordained, row: RunSummary, started: readonly string[]): string[] {
  const attempts = readRunRecord(bed.path('ordeal', name))?.attempts ?? [];
  const numbers = attempts.map(({ number }) => number).join();
  const last = attempts.at(-1)?.outcome?.kind;
  return [
    ...(numbers === started.join() ? [] : [`has attempts ${numbers} in run.json, not ${started.join()}`]),
    ...(attempts.every(({ outcome, endedAt }) => outcome !== null && endedAt !== null)
      ? []
      : ['has an attempt without an end in run.json']),
    ...(started.length === 0 || last === row.exit?.class ? [] : [`is ${last} in run.json`]),
  ];
}

/** What the journal alone makes of each run. */
function replayed(bed: Testbed): Map<string, string> {
  const path = bed.path('.supervisor', 'journal.jsonl');
  const state = emptyState();
  replay(state, parseJournal(readFileSync(path), path).events);
  return new Map(
    [...state.runs.values()].map((run) => [
      run.id,
      run.state.phase === 'ended' ? run.state.outcome.kind : run.state.phase,
    ]),
  );
}

/** Processes of runs that are still there. */
function strays(bed: Testbed): string[] {
  return readProcesses()
    .filter((entry) => entry.mark()?.startsWith(bed.runs))
    .map(({ pid }) => `process ${pid} was left behind`);
}

function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}
