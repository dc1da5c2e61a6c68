import { hasEnded } from '../../../base/run-words.js';
import { type KeyContext, type Movement, type Pressed, refuse } from '../../keys/key-context.js';
import {
  enterKey,
  type KeyRow,
  type KeyTable,
  leftKey,
  movementRows,
  placeAfter,
  rightKey,
} from '../../keys/key-row.js';
import type { RunId, RunSummary } from '../../state/port.js';
import type { UiState } from '../../state/ui-state.js';
import { anotherLog } from '../../state/run-choice.js';
import { select } from '../jobs/jobs.js';

declare module '../../state/ui-state.js' {
  interface Screens {
    /** `at`: the log under the cursor. */
    readonly logs: { readonly runs: readonly RunId[]; readonly at: number };
  }
}
declare module '../../state/command.js' {
  interface Commands {
    readonly logs: 'logs';
  }
}

/** Most logs that are shown side by side. */
const mostTiles = 4;

/** The key that shows several logs. */
export const logsOpener: KeyRow = {
  ...{ command: 'logs', keys: ['L'], group: 'window', act: openLogs },
  short: ({ ui }) => (ui.screen.kind === 'jobs' && ui.marks.size > 1 ? 'logs' : null),
  worth: 4,
  help: 'the logs of up to four marked runs, or of the selection and what runs beside it',
};

/** Keys of the logs. */
export const logsKeys: KeyTable = {
  rows: [
    ...movementRows(choose, 'choose'),
    {
      ...{ command: 'left', ...leftKey, group: 'move', help: 'the log before' },
      act: (ui, at) => choose(ui, 'up', at),
    },
    {
      ...{ command: 'right', ...rightKey, group: 'move', help: 'the log after' },
      act: (ui, at) => choose(ui, 'down', at),
    },
    {
      ...{ command: 'open', ...enterKey, group: 'move', short: 'open', worth: 6, act: open },
      help: 'open the run of the log full-screen',
    },
    {
      ...{ command: 'wrap', keys: ['w'], group: 'log', short: 'wrap', help: 'wrap long lines of the logs' },
      act: (ui) => ({ ui: { ...ui, log: { ...ui.log, wraps: !ui.log.wraps } } }),
    },
  ],
  about: () => 'log',
  refusal: ({ shown }, _ui, at) => `${shown} acts on one run; ${at.keyOf('open')} opens the run of the log first.`,
};

function openLogs(ui: UiState, at: KeyContext): Pressed {
  if (ui.screen.kind === 'logs') return refuse(ui, `These are the logs; ${at.keyOf('back')} goes back.`);
  const runs = chosenRuns(ui, at).filter(({ attempt }) => attempt > 0);
  if (runs.length === 0) return refuse(ui, 'None of these runs has begun, so there is no log.');
  const shown = runs.slice(0, mostTiles).map(({ id }) => id);
  const text = ui.marks.size > mostTiles ? `The logs of ${mostTiles} of the ${runs.length} marked runs.` : null;
  const note = text === null ? null : ({ text, tone: 'dim' } as const);
  return { ui: { ...ui, note, screen: { kind: 'logs', runs: shown, at: 0 } } };
}

/** The marked runs; else the selected run, then those of its group, or those of the selected group, that run. */
function chosenRuns(ui: UiState, { runs, rows, index, branches }: KeyContext): readonly RunSummary[] {
  if (ui.marks.size > 0) return runs.filter(({ id }) => ui.marks.has(id));
  const node = rows[index];
  if (node === undefined) return [];
  const branch = node.kind === 'run' ? branches.get(node.parent) : node;
  const live = (branch?.runs ?? []).filter(({ state, attempt }) => attempt > 0 && !hasEnded(state));
  if (node.kind === 'run') return [node.run, ...live.filter(({ id }) => id !== node.run.id)];
  return live.length > 0 ? live : node.runs;
}

function choose(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const { screen } = ui;
  if (screen.kind !== 'logs') return { ui };
  const place = placeAfter(screen.at, movement, { length: screen.runs.length, page: at.page });
  return { ui: { ...ui, screen: { ...screen, at: place } } };
}

function open(ui: UiState, at: KeyContext): Pressed {
  const id: RunId | undefined = ui.screen.kind === 'logs' ? ui.screen.runs[ui.screen.at] : undefined;
  const row = at.rows.findIndex((each) => each.key === id);
  if (row < 0) return refuse(ui, 'Its row is hidden by the filter, or in a folded group; open it from the list.');
  const { ui: selected } = select(ui, row, at);
  return { ui: { ...selected, log: anotherLog(ui.log), screen: { kind: 'run', pane: 'log', offset: 0 } } };
}
