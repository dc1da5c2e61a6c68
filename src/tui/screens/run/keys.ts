import { sampleOrders, type Samples, stepsOf } from '../../../logs/samples.js';
import { cleanText } from '../../../text/display-text.js';
import { chartRows, moveCursor, nextYAxis, nextYAxisOf, unzoomed } from '../../keys/chart-handler.js';
import { distance, type KeyContext, type Movement, opens, type Pressed, refuse } from '../../keys/key-context.js';
import {
  always,
  enterKey,
  escapeKey,
  type KeyGroup,
  type KeyRow,
  type KeyTable,
  leftKey,
  movementRows,
  paneRows,
  rightKey,
  type Short,
  tabKey,
  within,
} from '../../keys/key-row.js';
import { selectedNode, type WindowModel } from '../../model/window-model.js';
import type { Command } from '../../state/command.js';
import { lineOf } from '../../state/line-editor.js';
import {
  anotherLog,
  type SampleChoice,
  stepIndex,
  type WallChoice,
  wallPosition,
  type WallTile,
  wallTiles,
} from '../../state/run-choice.js';
import type { UiState } from '../../state/ui-state.js';
import { select, selectionRows } from '../jobs/jobs.js';
import { nextSort } from '../jobs/list-handler.js';
import { askSearch, isReadingLog, runContext, scrollLog, searchOn, stopSearch, wrap } from './log-handler.js';
import { type OpenPane, panesOf, wallOf } from './open-run.js';

/** `offset`: number of lines that the pane in use is scrolled down; a log has its own position, in `log`. */
type RunState = { readonly pane: OpenPane; readonly offset: number };

declare module '../../state/ui-state.js' {
  interface Screens {
    readonly run: RunState;
  }
}
declare module '../../state/command.js' {
  interface Commands {
    readonly run: 'search-next' | 'search-previous' | 'wrap' | 'alike';
  }
}

/** Verbs for runs that the footer shows. */
const footerVerbs: ReadonlySet<Command> = new Set(['kill', 'kill-group', 'resume', 'resume-group', 'hold', 'pause']);

/** Keys of an open run or group. */
export const runKeys: KeyTable = {
  rows: [
    ...movementRows(scroll, (model) =>
      (paneOf(model) === 'charts' ? unlessSearching('chart') : unlessSearching('scroll'))(model),
    ),
    {
      ...{ command: 'left', ...leftKey, group: 'move', short: sidewaysWord, hint: '←→', worth: 2 },
      help: 'the run before; in the charts: the cursor to the left; in the samples: the step before',
      act: (ui, at) => sideways(ui, -1, at),
    },
    {
      ...{
        command: 'right',
        ...rightKey,
        group: 'move',
        help: 'the run after; in the charts: the cursor to the right; in the samples: the step after',
      },
      act: (ui, at) => sideways(ui, 1, at),
    },
    {
      ...{ command: 'open', ...enterKey, group: 'charts', short: zoomWord, worth: 5, act: zoomOne },
      help: 'one chart in all of the pane; again: all charts; at the cursor of the charts: the samples of that step',
    },
    {
      ...{ command: 'alike', keys: ['='], group: 'charts', short: alikeWord, worth: 4, act: unfoldAlike },
      help: 'charts of their own for the metrics that show the same as the marked one; in the samples: the step before beside this one, then the pinned run; again: back',
    },
    {
      ...{ command: 'next-pane', ...tabKey, group: 'move', short: unlessSearching('pane'), worth: 2, act: nextPane },
      help: 'the next pane',
    },
    {
      ...{ command: 'filter', keys: ['/'], group: 'log', short: searchWord, worth: 4, act: search },
      help: 'search the log or the samples; among the charts: metrics by name; in another pane: filter the list',
    },
    {
      ...{ command: 'search-next', keys: ['n'], group: 'log', help: 'next match in the log', hint: 'n N', worth: 2 },
      short: (model) => (model.ui.log.search === '' ? null : ofLog('next, previous')(model)),
      act: (ui, at) => searchOn(ui, at, 1),
    },
    {
      ...{ command: 'search-previous', keys: ['N'], group: 'log', help: 'previous match in the log' },
      act: (ui, at) => searchOn(ui, at, -1),
    },
    ...selectionRows.map((row) =>
      row.command === 'first-error'
        ? { ...row, short: ofLog('first error') }
        : row.command === 'sort'
          ? { ...row, short: inPanes('order', ['samples']), act: sort }
          : { ...row, short: actWord(row) },
    ),
    {
      ...{ command: 'wrap', keys: ['w'], group: 'log', short: ofLog('wrap'), act: wrap },
      help: 'wrap long lines of the log',
    },
    ...chartRows({
      metric: { short: (model) => (paneOf(model) === 'charts' || !isRun(model) ? 'metric' : null), worth: 4 },
      'x-axis': { short: inPanes('x axis', ['charts']) },
      'log-y': {
        ...{ short: inPanes('log y', ['charts']), act: nextYAxisOnWall },
        help: 'y axis of the marked chart: logarithmic, linear, or as the values need it; in another pane: of all charts',
      },
      smooth: { short: inPanes('smooth', ['charts']) },
      chart: { short: inPanes('chart', ['charts']), worth: 3 },
    }),
    ...paneRows('charts', 'the charts'),
    {
      ...{
        command: 'back',
        ...escapeKey,
        group: 'window',
        help: 'stop searching; zoom out; all charts; back to the list',
        worth: always,
      },
      short: ({ ui }) => (ui.log.seek === null ? 'back' : 'stop searching'),
      act: back,
    },
  ],
  about: aboutPane,
  refusal: ({ command, shown }, _ui, at) => {
    if (command === 'drain') return `Choose a GPU on the GPU screen first: ${at.keyOf('gpus')}.`;
    return `${shown} does nothing here; ${at.keyOf('help')} shows the keys.`;
  },
};

function aboutPane({ screen }: UiState): KeyGroup {
  if (screen.kind !== 'run') return 'runs';
  return screen.pane === 'log' || screen.pane === 'charts' ? screen.pane : 'runs';
}

function isRun(model: WindowModel): boolean {
  return selectedNode(model)?.kind === 'run';
}

function paneOf({ ui }: WindowModel): OpenPane | null {
  return ui.screen.kind === 'run' ? ui.screen.pane : null;
}

/** A footer word that is hidden during a search, when the footer says how to stop it. */
function unlessSearching(word: string): (model: WindowModel) => string | null {
  return ({ ui }) => (ui.log.seek === null ? word : null);
}

function inPanes(word: string, panes: readonly OpenPane[]): (model: WindowModel) => string | null {
  return (model) => (panes.includes(paneOf(model) ?? 'log') ? unlessSearching(word)(model) : null);
}

/** A footer word for the log of a run. */
function ofLog(word: string): (model: WindowModel) => string | null {
  return (model) => (isRun(model) ? inPanes(word, ['log'])(model) : null);
}

/** The footer word for a verb on runs, hidden while the charts are in use. */
function actWord({ command, short }: KeyRow): Short {
  return (model) => {
    if (paneOf(model) === 'charts' || !footerVerbs.has(command) || typeof short !== 'function') return null;
    const word = short(model);
    return word === null ? null : unlessSearching(word)(model);
  };
}

function searchWord(model: WindowModel): string | null {
  return inPanes('filter', ['charts', 'samples'])(model) ?? ofLog('search')(model);
}

function zoomWord(model: WindowModel): string | null {
  return inPanes(model.ui.wall.isZoomed ? 'all charts' : 'one chart', ['charts'])(model);
}

/** The footer word for alike metrics, if the marked chart represents others or is one of them. */
function alikeWord(model: WindowModel): string | null {
  if (paneOf(model) === 'samples') return besideWord(model);
  if (paneOf(model) !== 'charts') return null;
  const { tiles, at } = wallOf(model);
  const tile = tiles[at];
  return tile?.isOpened === true ? 'fold alike' : (tile?.alike.length ?? 0) > 0 ? 'show alike' : null;
}

function besideWord({ ui, rows, index }: WindowModel): string {
  const { beside } = ui.samples;
  const hasPinned = ui.compare.baseline !== null && ui.compare.baseline !== rows[index]?.key;
  if (beside === null) return 'beside the step before';
  return beside === 'step before' && hasPinned ? 'beside the pinned run' : 'alone';
}

function sort(ui: UiState, at: KeyContext, key: string): Pressed {
  return isOnSamples(ui) ? sortSamples(ui) : nextSort(ui, at, key);
}

function unfoldAlike(ui: UiState, at: KeyContext): Pressed {
  if (isOnSamples(ui)) return pairSamples(ui, at);
  return isOnWall(ui)
    ? openAlike(ui, at)
    : refuse(ui, `The charts are another pane; ${at.keyOf('next-pane')} goes to it.`);
}

function zoomOne(ui: UiState, at: KeyContext): Pressed {
  if (!isOnWall(ui)) return refuse(ui, 'It is open; Esc goes back.');
  const { samples, pointStep } = runContext(ui, at);
  const step = ui.chart.cursor === null || samples === null || samples?.all.length === 0 ? null : pointStep?.();
  return step === null || step === undefined ? zoomChart(ui, at) : openSamplesAt(ui, step);
}

function sidewaysWord(model: WindowModel): string | null {
  if (paneOf(model) === 'charts') return unlessSearching('cursor')(model);
  if (paneOf(model) === 'samples') return 'step';
  return isRun(model) ? unlessSearching('other run')(model) : null;
}

/** Scrolls the log of a run, or the lines of another pane. */
function scroll(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const { screen } = ui;
  if (screen.kind !== 'run') return { ui };
  if (isReadingLog(ui, at)) return scrollLog(ui, movement, at);
  if (isOnWall(ui)) return moveOnWall(ui, movement, at);
  if (runContext(ui, at).focus === null) return refuse(ui, 'This run is no longer in the list; Esc goes back.');
  const { length, page } = at.extent ?? { length: 0, page: 1 };
  const most = Math.max(0, length - page);
  const offset = within(Math.min(screen.offset, most) + distance(movement, page), most);
  if (offset !== screen.offset) return { ui: { ...ui, screen: { ...screen, offset } } };
  return refuse(ui, most === 0 ? 'All of it is shown.' : offset === 0 ? 'This is the first line.' : 'This is the end.');
}

/** Moves the cursor of the charts, or opens the previous or next run of the list in the same pane. */
function sideways(ui: UiState, direction: -1 | 1, at: KeyContext): Pressed {
  const { screen } = ui;
  if (screen.kind !== 'run') return { ui };
  if (screen.pane === 'samples') return anotherStep(ui, direction, runContext(ui, at).samples);
  if (screen.pane === 'charts') return moveCursor(ui, direction < 0 ? 'left' : 'right', at);
  for (let index = at.index + direction; index >= 0 && index < at.rows.length; index += direction) {
    if (at.rows[index]!.kind !== 'run') continue;
    const { ui: moved } = select(ui, index, at);
    return { ui: { ...moved, log: anotherLog(ui.log), screen: { ...screen, offset: 0 } } };
  }
  return refuse(ui, direction < 0 ? 'There is no run before this one.' : 'There is no run after this one.');
}

function nextPane(ui: UiState, at: KeyContext): Pressed {
  if (ui.screen.kind !== 'run') return { ui };
  const panes = panesOf(at.rows[at.index]?.kind ?? 'run');
  const pane = panes[(panes.indexOf(ui.screen.pane) + 1) % panes.length]!;
  return { ui: { ...ui, screen: { kind: 'run', pane, offset: 0 } } };
}

/** Searches the log, filters the charts, or otherwise filters the list. */
function search(ui: UiState, at: KeyContext): Pressed {
  if (isReadingLog(ui, at) || isOnSamples(ui)) return askSearch(ui);
  return isOnWall(ui) ? askWallFilter(ui) : opens('filter')(ui, at, '');
}

function back(ui: UiState): Pressed {
  return stopSearch(ui) ?? unzoomed(ui) ?? leaveWall(ui) ?? { ui: { ...ui, screen: { kind: 'jobs' } } };
}

/** Whether keys act on the samples of an open run. */
export function isOnSamples({ screen }: UiState): boolean {
  return screen.kind === 'run' && screen.pane === 'samples';
}

/** The samples of the step before or after. */
export function anotherStep(ui: UiState, by: -1 | 1, samples: Samples | null | undefined): Pressed {
  const steps = samples ? stepsOf(samples) : [];
  const at = stepIndex(steps, ui.samples) + by;
  if (at < 0) return refuse(ui, steps.length === 0 ? 'There are no samples.' : 'This is the first step.');
  if (at >= steps.length) return refuse(ui, steps.length === 0 ? 'There are no samples.' : 'This is the last step.');
  return choose(ui, { step: steps[at]!, isLatest: at === steps.length - 1 });
}

/** The next order of the samples. */
export function sortSamples(ui: UiState): Pressed {
  const order = sampleOrders[(sampleOrders.indexOf(ui.samples.order) + 1) % sampleOrders.length]!;
  const { ui: chosen } = choose(ui, { order });
  return { ui: { ...chosen, note: { text: `Samples: ${order}.`, tone: 'dim' } } };
}

/** The step before beside this one, prompt by prompt; then the pinned run; then this one alone. */
export function pairSamples(ui: UiState, at: KeyContext): Pressed {
  const { beside } = ui.samples;
  const pinned = runContext(ui, at).pinned ?? null;
  if (beside === null) {
    const { ui: chosen } = choose(ui, { beside: 'step before' });
    const key = at.keyOf('alike');
    const next =
      pinned === null
        ? `Pin another run (${at.keyOf('baseline')}) to see its samples`
        : `${key} again: ${pinned.label}`;
    return { ui: { ...chosen, note: { text: `The step before is beside. ${next} instead.`, tone: 'dim' } } };
  }
  return choose(ui, { beside: beside === 'step before' && pinned !== null ? 'pinned run' : null });
}

/** Opens the samples of a step of the run, or those of the last step before it that has any. */
function openSamplesAt(ui: UiState, step: number): Pressed {
  const samples = { ...ui.samples, step, isLatest: false };
  return { ui: { ...ui, samples, screen: { kind: 'run', pane: 'samples', offset: 0 } } };
}

function choose(ui: UiState, choice: Partial<SampleChoice>): Pressed {
  const screen = ui.screen.kind === 'run' ? { ...ui.screen, offset: 0 } : ui.screen;
  return { ui: { ...ui, screen, samples: { ...ui.samples, ...choice } } };
}

/** Whether keys act on the charts of an open run or group. */
function isOnWall({ screen }: UiState): boolean {
  return screen.kind === 'run' && screen.pane === 'charts';
}

/** Marks another chart; the page follows. */
function moveOnWall(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const tiles = tilesOf(ui, at);
  if (tiles.length === 0) return refuse(ui, 'There is no chart to go to.');
  const from = wallPosition(tiles, ui.wall, at.metric);
  const wanted = from + distance(movement, Math.max(1, runContext(ui, at).focus?.height ?? 1));
  const next = Math.max(0, Math.min(tiles.length - 1, wanted));
  if (next === from) return refuse(ui, next === 0 ? 'This is the first chart.' : 'This is the last chart.');
  return chooseOnWall(ui, { at: tiles[next]!.metric });
}

/** Shows only the marked chart, or all charts again. */
function zoomChart(ui: UiState, at: KeyContext): Pressed {
  const isEmpty = tilesOf(ui, at).length === 0;
  return isEmpty ? refuse(ui, 'There is no chart to zoom.') : chooseOnWall(ui, { isZoomed: !ui.wall.isZoomed });
}

/** Changes the y axis of the marked chart; while another pane is in use, of all charts. */
function nextYAxisOnWall(ui: UiState, at: KeyContext, key: string): Pressed {
  if (!isOnWall(ui)) return nextYAxis(ui, at, key);
  const tiles = tilesOf(ui, at);
  const tile = tiles[wallPosition(tiles, ui.wall, at.metric)];
  return tile === undefined ? refuse(ui, 'There is no chart with an axis.') : nextYAxisOf(ui, tile.metric);
}

/** Gives metrics that are alike the marked one their own charts, or hides these again. */
function openAlike(ui: UiState, at: KeyContext): Pressed {
  const tiles = tilesOf(ui, at);
  const tile = tiles[wallPosition(tiles, ui.wall, at.metric)];
  const { opened } = ui.wall;
  if (tile === undefined) return refuse(ui, 'There is no chart to open.');
  if (tile.isOpened) return chooseOnWall(ui, { opened: opened.filter((family) => family !== tile.family) });
  if (tile.alike.length === 0) return refuse(ui, `No other metric shows the same as ${cleanText(tile.metric)}.`);
  return chooseOnWall(ui, { opened: [...opened, tile.family], at: tile.metric });
}

function tilesOf({ wall }: UiState, at: KeyContext): WallTile[] {
  return wallTiles(at.wall?.() ?? { metrics: [], firstOf: new Map() }, wall);
}

/** Undoes the choices made on the wall, one at a time; null: there were none. */
function leaveWall(ui: UiState): Pressed | null {
  if (!isOnWall(ui)) return null;
  if (ui.wall.isZoomed) return chooseOnWall(ui, { isZoomed: false });
  return ui.wall.filter === '' ? null : chooseOnWall(ui, { filter: '' });
}

function askWallFilter(ui: UiState): Pressed {
  const { filter } = ui.wall;
  return { ui: { ...ui, dialog: { kind: 'wall-filter', line: lineOf(filter), before: filter } } };
}

/** Changes part of the choices of the wall. */
export function chooseOnWall(ui: UiState, change: Partial<WallChoice>): Pressed {
  return { ui: { ...ui, wall: { ...ui.wall, ...change } } };
}
