/**
 * The program of the tests of every key: the window on the memory sweep, with six more groups, two GPUs, a supervisor
 * that does what it is asked and answers with the order it got, and an editor and a shell of its own.
 *
 * The clock stands still, so that a screen looks the same whenever it is looked at. The argument names the preset of keys.
 */
import { spawnSync } from 'node:child_process';
import type { GpuStatus } from '../../../src/protocol/run-summary.js';
import { openWindow } from '../../../src/tui/app/open-window.js';
import type {
  Draft,
  EditorPort,
  MetricReader,
  RequestedSlots,
  RunFilesPort,
  RunSummary,
} from '../../../src/tui/state/port.js';
import { keyPresets } from '../../../src/tui/state/preferences-port.js';
import { passingPreferences } from '../../../src/tui/app/preferences.js';
import { knownSummary } from '../known-summary.js';
import { aRun, aSweep, memorySweep } from '../simulated-fleet.js';

const { fleet, files: written, now } = memorySweep();
Date.now = () => now;
const files: RunFilesPort = { ...written, metrics: (directory) => withCopy(written.metrics(directory)) };
const objective = { name: 'test/bits_known', goal: 'maximize' as const };
addBest();
fleet.change('abcd/C_dense_multi_N16_s2', { input: 'terminal' });
addGroups(['E', 'F', 'G', 'H', 'I', 'J']);
fleet.status = { ...fleet.status, gpus: [aGpu(0), aGpu(1)] };
fleet.obey = (verb, ids) => {
  fleet.answer = { ok: true, message: `asked: ${[verb, ...ids].join(' ')}` };
  changeStates(verb, ids);
  changeMachine(verb, ids);
  fleet.publish();
};

/** With a metric that shows the same as another one. */
function withCopy(metrics: MetricReader): MetricReader {
  return {
    refresh: () => metrics.refresh(),
    keys: () => [
      ...metrics.keys(),
      ...metrics
        .keys()
        .slice(-1)
        .map((key) => `${key}_doubled`),
    ],
    series: (key, x) => {
      const { x: at, y } = metrics.series(key.replace('_doubled', ''), x);
      return { x: at, y: key.endsWith('_doubled') ? y.map((value) => 2 * value) : y };
    },
  };
}

/** As the supervisor tells it of runs that have an objective: here the last value is the best. */
function addBest(): void {
  for (const { id, metrics } of fleet.runs.values()) {
    fleet.change(id, {
      best: { metric: objective.name, goal: objective.goal, value: metrics[objective.name] ?? null },
    });
  }
}

function addGroups(names: readonly string[]): void {
  const [sweep] = fleet.sweeps.values();
  const groups = names.map((name) => ({ name, title: null, needs: [] }));
  fleet.sweeps.set('abcd', aSweep({ groups: [...sweep!.groups, ...groups], objective }));
  for (const name of names) {
    const run = aRun(`${name}_waits`, { parameters: { seed: 0 } });
    fleet.runs.set(run.id, run);
  }
}

function aGpu(index: number): GpuStatus {
  return {
    ...{ index, name: 'Simulated', uuid: null, runs: [], drained: false, memoryTotal: 80_000, memoryUsed: 1000 },
    ...{ utilization: 7, temperature: 40, power: 90, foreign: [], leasedBy: null, mps: false },
  };
}

function changeStates(verb: string, ids: readonly (string | number)[]): void {
  const states: Record<string, RunSummary['state']> = {
    ...{ hold: 'held', release: 'queued', pause: 'paused', continue: 'running' },
  };
  const state = states[verb];
  if (state !== undefined) ids.forEach((id) => fleet.change(String(id), { state }));
}

function changeMachine(verb: string, ids: readonly (string | number)[]): void {
  if (verb === 'slots') {
    const { slots } = JSON.parse(String(ids[0])) as RequestedSlots;
    fleet.status = { ...fleet.status, cpu: { ...fleet.status.cpu, slots: slots! } };
  }
  if (verb !== 'drain' && verb !== 'undrain') return;
  const gpus = fleet.status.gpus.map((gpu) => (ids.includes(gpu.index) ? { ...gpu, drained: verb === 'drain' } : gpu));
  fleet.status = { ...fleet.status, gpus };
}

function draftOf(title: string): Draft {
  const verdict = { kind: 'ready', summary: '1 new run', lines: ['Z_new_s0'] } as const;
  return { title, path: `/tmp/${title}.yaml`, verdict };
}

/** Another program that has the terminal until a person presses Enter. */
function borrow(words: string): void {
  spawnSync('sh', ['-c', 'printf "%s\\n" "$1"; read -r line', 'sh', words], { stdio: 'inherit' });
}

// A second one can be opened instead.
fleet.sweeps.set('other', aSweep({ name: 'other' }));

const editor: EditorPort = {
  commandOf: ({ name }) => `memrl train ${name}`,
  openShell: (directory) => borrow(`a shell in ${directory}`),
  openTerminal: ({ name }) => borrow(`the terminal of ${name}`),
  extend: (sweep) => draftOf(`extend ${sweep}`),
  clone: ({ name }) => draftOf(`clone ${name}`),
  edit: (draft) => {
    borrow(`an editor on ${draft.path}`);
    return draft;
  },
  submit: () => Promise.resolve({ ok: true, message: 'submitted' }),
  ownFile: () => null,
  writeOwnFile: () => undefined,
};

const preferences = passingPreferences();
await preferences.keep({ keys: keyPresets.find((preset) => preset === process.argv[2]) ?? 'default' });
const outcome = await openWindow({
  ...{ fleet, files, editor, preferences, sweep: 'abcd' },
  ...{ stdin: process.stdin, stdout: process.stdout, environment: process.env },
  summary: () => knownSummary(() => ['setting   bits/episode', 'A_B8      0.0121']),
});
process.stdout.write(`left: ${outcome}\norders: ${fleet.asked.length}\n`);
process.exit(0);
