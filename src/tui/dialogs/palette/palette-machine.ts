import { counted } from '../../../text/numbers.js';
import { hasEnded } from '../../../base/run-words.js';
import type { RequestedSlots } from '../../../client/fleet.js';
import { open, type PaletteEntry, problem, type Reading } from './palette-entry.js';
import { sweepAt } from '../../keys/editor-handler.js';
import type { KeyContext } from '../../keys/key-context.js';
import { graceWords } from '../../model/grace.js';
import type { UiState } from '../../state/ui-state.js';

/** Commands for the machine and for whole sweeps. */
export const machineEntries: readonly PaletteEntry[] = [
  entry('slots', 'N', 'number of CPU slots, that is runs at the same time', (rest, _ui, { status }) =>
    rest === ''
      ? open(`slots: there are ${status.cpu.slots}, ${status.cpu.busy} of them busy; how many do you want?`)
      : wholeNumber('slots', rest, 0, (slots) => grant(`${slots} slots instead of ${status.cpu.slots}`, { slots })),
  ),
  entry('use-gpus', 'LIST', 'use these GPUs only: 0,1 or none', (rest) => readGpus(rest)),
  entry('per-gpu', 'N', 'number of runs that share one GPU', (rest) =>
    rest === ''
      ? open('per-gpu: how many runs may share one GPU?')
      : wholeNumber('per-gpu', rest, 1, (perGpu) => grant(`${counted(perGpu, 'run')} on each GPU`, { perGpu })),
  ),
  { ...entry('drain', 'GPU', 'no new runs start on these GPUs', draining(true)), command: 'drain' },
  entry('undrain', 'GPU', 'these GPUs accept runs again', draining(false)),
  ofSweep(entry('stop', '[sweep]', 'stop all runs of a sweep, those that wait included', readStop)),
  ofSweep(entry('export', '[sweep]', 'parameters and metrics of all runs as a table, for other programs', readExport)),
];

type Read = PaletteEntry['read'];

function entry(name: string, takes: string, help: string, read: Read): PaletteEntry {
  return {
    ...{ name, takes, help, command: null, words: null, queryAt: null },
    read: (rest, ui, at) => read(rest.trim(), ui, at),
  };
}

function ofSweep(about: PaletteEntry): PaletteEntry {
  return { ...about, words: sweepNames };
}

function sweepNames(_ui: UiState, { sweeps }: KeyContext): string[] {
  return sweeps.map(({ name }) => name);
}

function wholeNumber(name: string, text: string, least: number, then: (value: number) => Reading): Reading {
  const value = Number(text);
  if (/^\d{1,6}$/.test(text) && value >= least) return then(value);
  return problem(`${name} ${text} is not a whole number of at least ${least}; write for example \`${name} 2\`.`);
}

function grant(said: string, wish: RequestedSlots): Reading {
  return { kind: 'ready', said, act: (ui) => ({ ui, order: { type: 'set-slots', wish } }) };
}

function readGpus(rest: string): Reading {
  if (rest === '') return open('use-gpus: which, in order of preference, for example 0,1; or none, for the CPU');
  if (rest === 'none') return grant('use no GPU', { gpus: 'none' });
  const gpus = indexesIn(rest);
  if (gpus === null) return problem(`use-gpus ${rest} is not a list of GPUs; write for example \`use-gpus 0,1\`.`);
  return grant(`use GPU ${gpus.join(', ')} only`, { gpus });
}

function draining(drained: boolean): Read {
  const verb = drained ? 'drain' : 'undrain';
  return (rest, _ui, { status }) => {
    if (status.gpus.length === 0) return problem('There are no GPUs here.');
    const known = status.gpus.map(({ index }) => index);
    if (rest === '') return open(`${verb}: which GPU? There are ${known.join(', ')}.`);
    const gpus = indexesIn(rest);
    const unknown = gpus?.find((gpu) => !known.includes(gpu));
    if (gpus === null || unknown !== undefined) {
      return problem(`There is no GPU ${unknown ?? rest}; there are ${known.join(', ')}.`);
    }
    const runs = status.gpus.filter(({ index }) => gpus.includes(index)).flatMap((gpu) => gpu.runs);
    const stay = drained && runs.length > 0 ? `; the ${counted(runs.length, 'run')} there go on` : '';
    return {
      kind: 'ready',
      said: `${verb} GPU ${gpus.join(', ')}${stay}`,
      act: (ui) => ({ ui, order: { type: 'drain', gpus, drained } }),
    };
  };
}

/** Parses `0`, `0,1` or `0 1`; null: anything else. */
function indexesIn(text: string): number[] | null {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  return parts.every((part) => /^\d{1,4}$/.test(part)) ? [...new Set(parts.map(Number))] : null;
}

function readStop(rest: string, _ui: UiState, at: KeyContext): Reading {
  const sweep = rest === '' ? sweepAt(at)?.name : at.sweeps.find(({ name }) => name === rest)?.name;
  if (sweep === undefined) return problem(`There is no sweep ${rest}; there are ${sweepNames(_ui, at).join(', ')}.`);
  const alive = at.runs.filter((run) => run.sweep === sweep && !hasEnded(run.state));
  if (alive.length === 0) return problem(`All runs of ${sweep} have ended.`);
  const question = `Stop ${sweep}: kill ${counted(alive.length, 'run')} of it?`;
  const detail = graceWords(alive, at.sweeps);
  return {
    kind: 'ready',
    said: `stop ${sweep}: ${counted(alive.length, 'run')} that are queued or running`,
    act: (ui) => ({
      ui: { ...ui, dialog: { kind: 'confirm', question, detail, yes: ['y'], order: { type: 'stop-sweep', sweep } } },
    }),
  };
}

function readExport(rest: string, _ui: UiState, at: KeyContext): Reading {
  const sweep = rest === '' ? sweepAt(at) : at.sweeps.find(({ name }) => name === rest);
  if (sweep === undefined) return problem(`There is no sweep ${rest}; there are ${sweepNames(_ui, at).join(', ')}.`);
  // The runs directory is the parent of the sweep's directory.
  const runs = sweep.directory.replace(/[/\\][^/\\]*$/, '');
  const text = `In a shell: memrl-tui export ${sweep.name} --runs ${runs} > ${sweep.name}.csv`;
  return { kind: 'ready', said: text, act: (ui) => ({ ui: { ...ui, note: { text, tone: 'good' } } }) };
}
