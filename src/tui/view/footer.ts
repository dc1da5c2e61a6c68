import { keyMap } from '../key-map.js';
import { cleanText } from './clean-text.js';
import { axesKeys, compareKeys } from './compare-keys.js';
import { textWidth } from './display-width.js';
import { isInitialSort, sortWords } from './sort.js';
import { ends, fitLine, type Line, lineWidth, onGround, span } from './span.js';
import { selectedNode, type WindowModel } from './window-model.js';

/** Two lines: what was said last or is being asked; the keys. */
export function footer(model: WindowModel, width: number): Line[] {
  return [messageLine(model, width), keysLine(model, width)];
}

/** The question, the refusal, the prompt, or else what the list is showing. */
export function messageLine(model: WindowModel, width: number): Line {
  const { dialog, note } = model.ui;
  if (dialog.kind === 'confirm') return onGround(fitLine([span(` ${dialog.question}`, 'strong')], width), 'alarm');
  if (dialog.kind === 'filter') return filterPrompt(model, dialog.text, width);
  if (note !== null) return fitLine([span(` ${note.text}`, note.tone)], width);
  return ends(listState(model), directory(model, width), width);
}

function filterPrompt(model: WindowModel, text: string, width: number): Line {
  const shown = model.rows.filter(({ kind }) => kind === 'run').length;
  const problem = model.ui.note === null ? `${shown} runs shown · Enter keeps, Esc drops ` : `${model.ui.note.text} `;
  const prompt = [span(' / ', 'title'), span(text, 'strong'), span('▏', 'accent')];
  return ends(prompt, [span(problem, model.ui.note === null ? 'dim' : 'warn')], width);
}

function listState({ ui, metric }: WindowModel): Line {
  const parts = [
    ui.filter === '' ? null : `filter ${ui.filter}`,
    isInitialSort(ui.sort) ? null : sortWords(ui.sort, metric),
    metric === null ? null : `metric ${metric}`,
  ];
  return [span(` ${parts.filter((part) => part !== null).join(' · ')}`, 'faint')];
}

/** Where the selected run keeps its files, when that leaves room for the rest. */
function directory(model: WindowModel, width: number): Line {
  const node = selectedNode(model);
  const path = node?.kind === 'run' ? cleanText(node.run.directory) : '';
  return textWidth(path) > width * 0.6 ? [] : [span(`${path} `, 'faint')];
}

/** As many keys as fit, in the order of the table; `q` and `?` always. */
export function keysLine(model: WindowModel, width: number): Line {
  return fitLine(fitting(keysNow(model), width), width);
}

function keysNow(model: WindowModel): readonly Hint[] {
  const { ui, table } = model;
  if (ui.dialog.kind === 'confirm')
    return [
      [ui.dialog.key, 'yes'],
      ['any other key', 'no'],
    ];
  if (ui.dialog.kind !== 'none') return dialogKeys[ui.dialog.kind];
  if (ui.screen.kind === 'open') return openKeys;
  if (ui.screen.kind === 'compare') return compareKeys(model);
  const bound = keyMap.flatMap(({ shown, short, command }): Hint[] =>
    short === null || (command === 'table' && table === null) ? [] : [[shown, short]],
  );
  return [['↑↓', 'move'], ['←→', 'fold'], ...bound];
}

type Hint = readonly [key: string, does: string];

const textKeys: readonly Hint[] = [
  ['↑↓', 'scroll'],
  ['Esc', 'close'],
];
const dialogKeys: Record<'filter' | 'metrics' | 'x-axis' | 'axes' | 'help' | 'table', readonly Hint[]> = {
  axes: axesKeys,
  filter: [
    ['Enter', 'keep'],
    ['Esc', 'drop'],
    ['Ctrl-U', 'clear'],
  ],
  metrics: [
    ['↑↓', 'move'],
    ['Enter', 'choose'],
    ['Esc', 'close'],
  ],
  'x-axis': [
    ['↑↓', 'move'],
    ['Enter', 'choose'],
    ['Esc', 'close'],
  ],
  help: textKeys,
  table: textKeys,
};
const openKeys: readonly Hint[] = [
  ['↑↓', 'scroll'],
  ['←→', 'other run'],
  ['Esc', 'back'],
  ['k', 'kill'],
  ['r', 'resume'],
  ['m', 'metric'],
  ['q', 'detach'],
];

function hints(list: readonly Hint[]): Line {
  return list.flatMap(([key, does]) => [span(` ${key}`, 'key'), span(` ${does} `, 'dim')]);
}

/** What a person guesses or finds in the help, first; what leads on or out is never left out. */
const firstToGo = [
  'command',
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
  'metric',
  'filter',
  'resume',
  'open',
  'table',
  'kill',
];

function fitting(list: readonly Hint[], width: number): Line {
  let kept = list;
  for (const word of firstToGo) {
    if (lineWidth(hints(kept)) <= width) break;
    kept = kept.filter(([, does]) => does !== word);
  }
  return hints(kept);
}
