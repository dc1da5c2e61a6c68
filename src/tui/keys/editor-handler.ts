import { kindWord } from '../model/tree/branch.js';
import type { RunSummary } from '../state/port.js';
import { type Handler, type Pressed, refuse, type KeyContext } from './key-context.js';
import type { UiState } from '../state/ui-state.js';

export const copyCommand: Handler = (ui, at) =>
  withRun(ui, at, 'copy', (run) => ({ ui, order: { type: 'copy', run } }));

export const cloneRun: Handler = (ui, at) => withRun(ui, at, 'clone', (run) => ({ ui, order: { type: 'clone', run } }));

/** Shows the terminal of the selected run, if it has one and is up. */
export const openTerminal: Handler = (ui, at) =>
  withRun(ui, at, 'enter', (run) => {
    if (run.input !== 'terminal') return refuse(ui, `${run.name} has no terminal. ${terminalFix}`);
    if (!isUp(run)) return refuse(ui, `${run.name} is ${run.state}; its terminal is there while it runs.`);
    return { ui, order: { type: 'terminal', run } };
  });

const terminalFix = 'Write `terminal: true` in the sweep file, and launch that again.';

/** Whether a run has a terminal that could be shown. */
export function hasTerminal(run: RunSummary): boolean {
  return run.input === 'terminal' && isUp(run);
}

function isUp({ state }: RunSummary): boolean {
  return state === 'running' || state === 'paused' || state === 'stopping';
}

/** Opens a shell in the directory of the selected run, or, for a group, of its sweep. */
export const openShell: Handler = (ui, at) => {
  const node = at.rows[at.index];
  if (node?.kind === 'run') {
    return { ui, order: { type: 'shell', directory: node.run.directory, what: node.run.name } };
  }
  const sweep = sweepAt(at);
  if (sweep === undefined) return refuse(ui, 'There is no run whose directory could be opened.');
  return { ui, order: { type: 'shell', directory: sweep.directory, what: sweep.name } };
};

export const extendSweep: Handler = (ui, at) => {
  const sweep = sweepAt(at);
  if (sweep === undefined) return refuse(ui, 'There is no sweep to extend.');
  return { ui, order: { type: 'extend', sweep: sweep.name } };
};

function withRun(ui: UiState, at: KeyContext, verb: string, use: (run: RunSummary) => Pressed): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, `There is no run to ${verb}.`);
  if (node.kind !== 'run') return refuse(ui, `Select a run to ${verb}; this is a ${kindWord(node)}.`);
  return use(node.run);
}

/** The sweep of the selection. */
export function sweepAt({ rows, index, sweeps }: KeyContext): KeyContext['sweeps'][number] | undefined {
  const node = rows[index];
  const run = node?.kind === 'run' ? node.run : node?.runs[0];
  return sweeps.find(({ name }) => name === run?.sweep) ?? sweeps[0];
}
