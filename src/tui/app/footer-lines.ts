import { keyedVerbs, runVerbs } from '../../protocol/run-verbs.js';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import type { Command } from '../state/command.js';
import { keyMapOf, keyOf } from './key-map.js';
import { dialogHints } from '../dialogs/dialog-handler.js';
import { compareFirstToGo, compareKeys, sweepKeys } from '../screens/compare/compare-keys.js';
import { fittingHints, hintLine, hintWidth, type KeyHint } from '../widgets/key-hints.js';
import { isInitialSort, sortWords } from '../state/sort.js';
import { ends, fitLine, type Line, span } from '../widgets/span.js';
import { selectedNode, type WindowModel } from '../model/window-model.js';

/** Two lines: what was said last; the keys. */
export function footer(model: WindowModel, width: number): Line[] {
  return [messageLine(model, width), keysLine(model, width)];
}

/** The refusal or the answer, or else what the list is showing. */
export function messageLine(model: WindowModel, width: number): Line {
  const { note } = model.ui;
  if (note !== null) return fitLine([span(` ${note.text}`, note.tone)], width);
  if (model.pending.length > 0) return fitLine([span(` ${model.pending.join(' · ')}`, 'dim')], width);
  return ends(listState(model), directory(model, width), width);
}

function listState({ ui, metric }: WindowModel): Line {
  const parts = [
    ui.filter === '' ? null : `filter ${ui.filter}`,
    isInitialSort(ui.sort) ? null : sortWords(ui.sort, metric),
    metric === null ? null : `metric ${metric}`,
  ];
  const marked = ui.marks.size === 0 ? [] : [span(` ◆ ${ui.marks.size} marked ·`, 'accent')];
  return [...marked, span(` ${parts.filter((part) => part !== null).join(' · ')}`, 'faint')];
}

/** Where the selected run keeps its files, when that leaves room for the rest. */
function directory(model: WindowModel, width: number): Line {
  const node = selectedNode(model);
  if (node?.kind !== 'run') return [];
  const { directory: link } = node.run;
  const path = cleanText(link);
  return textWidth(path) > width * 0.6 ? [] : [{ text: path, tone: 'faint', link }, span(' ')];
}

/** As many keys as fit, in the order of the table; `q` and `?` always. */
export function keysLine(model: WindowModel, width: number): Line {
  const inDialog = dialogHints(model);
  if (inDialog !== null) return fitLine(hintLine(fittingHints(inDialog, width)), width);
  return fitLine(fitting(keysNow(model), width), width);
}

function keysNow(model: WindowModel): readonly KeyHint[] {
  const { ui, table } = model;
  if (ui.screen.kind === 'open') return openKeys(model);
  if (ui.screen.kind === 'compare') return compareKeys(model);
  if (ui.screen.kind === 'sweep') return sweepKeys(ui);
  if (ui.screen.kind === 'gpus') return gpuKeys;
  const bound = keyMapOf(ui.keys).flatMap(({ shown, short, command }): KeyHint[] =>
    short === null || (command === 'table' && table === null) ? [] : [[shown, short]],
  );
  return [['↑↓', 'move'], ['←→', 'fold'], ...bound];
}

/** What a person guesses or finds in the help, first; what leads on or out is never left out. */
const inOrder = [
  'wrap',
  'other run',
  'next, previous',
  'pane',
  'scroll',
  'first error',
  ...compareFirstToGo,
  'group by',
  'sweep',
  'GPUs',
  'compare',
  'move',
  'group',
  'fold',
  'kill group',
  'pause',
  'hold',
  'sort',
  'table',
  'command',
  'metric',
  'filter',
  'resume',
  'open',
  'kill',
];

/** A run verb without a place in the order goes before all others. */
const firstToGo: readonly string[] = [
  ...keyedVerbs
    .flatMap((verb) => [runVerbs[verb].keys.run.short, runVerbs[verb].keys.group.short])
    .filter((word): word is NonNullable<typeof word> => word !== null && !inOrder.includes(word)),
  ...inOrder,
];

function fitting(list: readonly KeyHint[], width: number): Line {
  const gone = new Set<string>();
  let columns = list.reduce((sum, hint) => sum + hintWidth(hint), 0);
  for (const word of firstToGo) {
    if (columns <= width) break;
    gone.add(word);
    for (const hint of list) if (hint[1] === word) columns -= hintWidth(hint);
  }
  return hintLine(list.filter(([, does]) => !gone.has(does)));
}

/** Keys of the screen of GPUs, for the footer. */
const gpuKeys: readonly (readonly [key: string, does: string])[] = [
  ['↑↓', 'choose'],
  ['Enter', 'first run'],
  ['D', 'drain'],
  ['+ -', 'slots'],
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];

const leave: readonly KeyHint[] = [
  ['Esc', 'back'],
  ['?', 'help'],
  ['q', 'detach'],
];
const scroll: KeyHint = ['↑↓', 'scroll'];
const pane: KeyHint = ['Tab', 'pane'];

/** The keys of the open screen that its pane in use makes useful. */
function openKeys(model: WindowModel): readonly KeyHint[] {
  const { ui } = model;
  if (ui.screen.kind !== 'open') return leave;
  const bound = (...commands: readonly (readonly [Command, string])[]): KeyHint[] =>
    commands.map(([command, does]) => [keyOf(command, ui.keys), does]);
  const isRun = selectedNode(model)?.kind === 'run';
  if (ui.log.seek !== null) return [['Esc', 'stop searching'], ...leave.slice(1)];
  if (ui.screen.pane === 'charts') {
    const draw = bound(['zoom-in', 'zoom'], ['metric', 'metric'], ['x-axis', 'x axis'], ['smooth', 'smooth']);
    const zoom: KeyHint = ['Enter', ui.wall.isZoomed ? 'all charts' : 'one chart'];
    return [['↑↓', 'chart'], ['←→', 'cursor'], zoom, pane, ...bound(['filter', 'filter']), ...draw, ...leave];
  }
  if (!isRun) {
    const act = bound(['metric', 'metric'], ['kill-group', 'kill'], ['resume-group', 'resume']);
    return [scroll, pane, ...act, ...leave];
  }
  const act: readonly KeyHint[] = [['←→', 'other run'], ...bound(['kill', 'kill'], ['resume', 'resume'])];
  if (ui.screen.pane !== 'log') return [scroll, pane, ...act, ...leave];
  const next = [keyOf('search-next', ui.keys), keyOf('search-previous', ui.keys)].join(' ');
  const search: readonly KeyHint[] = ui.log.search === '' ? [] : [[next, 'next, previous']];
  const log = bound(['first-error', 'first error'], ['wrap', 'wrap']);
  return [scroll, pane, ...bound(['filter', 'search']), ...search, ...log, ...act, ...leave];
}
