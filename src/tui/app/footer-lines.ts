import type { QueryProblem } from '../../query/query.js';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { always } from '../keys/key-row.js';
import { keysOn } from './key-map.js';
import type { ListDialog } from '../state/list-dialog.js';
import type { FilterDialog, SearchDialog } from '../state/ui-state.js';
import { lineWithCursor } from '../widgets/line-with-cursor.js';
import { isInitialSort, sortWords } from '../state/sort.js';
import { ends, fitLine, type Line, lineWidth, onBackground, span } from '../widgets/span.js';
import { selectedNode, type WindowModel } from '../model/window-model.js';

/** Two lines: what was said last or is being asked; the keys. */
export function footer(model: WindowModel, width: number): Line[] {
  return [messageLine(model, width), keysLine(model, width)];
}

/** The question, the refusal, the prompt, or else what the list is showing. */
export function messageLine(model: WindowModel, width: number): Line {
  const { dialog, note } = model.ui;
  if (dialog.kind === 'confirm') return onBackground(fitLine([span(` ${dialog.question}`, 'strong')], width), 'alarm');
  if (dialog.kind === 'filter') return filterPrompt(model, dialog, width);
  if (dialog.kind === 'search') return searchPrompt(model, dialog, width);
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

/** As many keys as fit; what leads on or out always. */
export function keysLine(model: WindowModel, width: number): Line {
  const { dialog } = model.ui;
  const problem = dialog.kind === 'filter' ? problemBelow(dialog, width) : null;
  if (problem !== null) return problem;
  const mistake = dialog.kind === 'search' ? searchProblem(dialog, width) : null;
  if (mistake !== null) return mistake;
  return fitLine(fitting(keysNow(model), width), width);
}

function keysNow(model: WindowModel): readonly Hint[] {
  const { ui } = model;
  if (ui.dialog.kind === 'confirm')
    return [
      [ui.dialog.key, 'yes'],
      ['any other key', 'no'],
    ];
  if (ui.dialog.kind !== 'none') return dialogKeys[ui.dialog.kind];
  return screenHints(model);
}

type Hint = readonly [key: string, does: string, worth?: number];

const paletteKeys: readonly Hint[] = [
  ['↑↓', 'choose'],
  ['Tab', 'complete'],
  ['Enter', 'run'],
  ['Esc', 'close'],
];
const listDialogKeys: Record<ListDialog['kind'], readonly Hint[]> = {
  grouping: [
    ['↑↓', 'move'],
    ['Enter', 'group by'],
    ['Space', 'second level'],
    ['Esc', 'close'],
  ],
  columns: [
    ['↑↓', 'move'],
    ['Space', 'show or hide'],
    ['←→', 'move the column'],
    ['s', 'sort, reverse'],
    ['Enter', 'close'],
  ],
  views: [
    ['↑↓', 'move'],
    ['Enter', 'show'],
    ['s', 'save current'],
    ['x', 'delete'],
    ['Esc', 'close'],
  ],
};
const draftKeys: readonly Hint[] = [
  ['Enter', 'continue'],
  ['e', 'edit again'],
  ['Esc', 'cancel'],
];
const textKeys: readonly Hint[] = [
  ['↑↓', 'scroll'],
  ['Esc', 'close'],
];
const dialogKeys: Record<
  'filter' | 'search' | 'metrics' | 'x-axis' | 'axes' | 'help' | 'table' | 'draft' | 'palette' | ListDialog['kind'],
  readonly Hint[]
> = {
  draft: draftKeys,
  ...listDialogKeys,
  palette: paletteKeys,
  axes: [
    ['↑↓', 'move'],
    ['Enter', 'across'],
    ['Space', 'down'],
    ['Esc', 'done'],
  ],
  filter: [
    ['Enter', 'keep'],
    ['Esc', 'cancel'],
    ['Tab', 'complete'],
    ['↑↓', 'earlier filters'],
    ['Ctrl-U', 'clear'],
  ],
  search: [
    ['Enter', 'search'],
    ['Esc', 'cancel'],
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

function hints(list: readonly Hint[]): Line {
  return list.flatMap(([key, does]) => [span(` ${key}`, 'key'), span(` ${does} `, 'dim')]);
}

/** The words of the shown screen, in the order of its table. */
function screenHints(model: WindowModel): Hint[] {
  const { screen, keys } = model.ui;
  return keysOn(screen.kind, keys).flatMap(({ short, hint, shown, worth }): Hint[] => {
    const word = typeof short === 'function' ? short(model) : short;
    return word === null || word === undefined ? [] : [[hint ?? shown, word, worth ?? 1]];
  });
}

/** The hint worth least gives way first, and of those worth the same the last one. */
function fitting(list: readonly Hint[], width: number): Line {
  const kept = new Set(list);
  let columns = list.reduce((sum, hint) => sum + hintWidth(hint), 0);
  for (const hint of list.toReversed().sort((a, b) => worthOf(a) - worthOf(b))) {
    if (columns <= width || worthOf(hint) === always) break;
    kept.delete(hint);
    columns -= hintWidth(hint);
  }
  return hints(list.filter((hint) => kept.has(hint)));
}

function worthOf([, , worth = 1]: Hint): number {
  return worth;
}

/** Columns that `hints` makes of one. */
function hintWidth([key, does]: Hint): number {
  return textWidth(key) + textWidth(does) + 3;
}

const sign = ' / ';

/** What is looked for in the log, and at the right what kind of words it is, or what is wrong with a key. */
function searchPrompt({ ui }: WindowModel, { line }: SearchDialog, width: number): Line {
  const words = ui.note === null ? 'in the log · regular expression ' : `${ui.note.text} `;
  const right = [span(words, ui.note === null ? 'dim' : 'warn')];
  const room = lineWidth(right) > width / 2 ? [] : right;
  return [span(sign, 'title'), ...lineWithCursor(line, width - lineWidth(room) - sign.length), ...room];
}

/** Why Enter did not take it, in place of the keys; null when it is all right. */
function searchProblem({ problem }: SearchDialog, width: number): Line | null {
  return problem === null ? null : fitLine([span(` ${cleanText(problem)}`, 'warn')], width);
}

/** The filter that is typed, and at the right how many runs it leaves, or why it cannot be used. */
function filterPrompt(model: WindowModel, dialog: FilterDialog, width: number): Line {
  const right = rightEnd(model, dialog);
  const room = lineWidth(right) > width / 2 ? [] : right;
  const left = width - lineWidth(room) - sign.length;
  return [span(sign, 'title'), ...lineWithCursor(dialog.line, left), ...room];
}

/** Points at what is wrong with the filter, below it, and says what to do; null when nothing is. */
function problemBelow({ line, problem }: FilterDialog, width: number): Line | null {
  if (problem === null) return null;
  const text = explanation(problem);
  const column = sign.length + textWidth(line.text.slice(0, problem.at));
  // The mark stands under the place as long as the words fit behind it, or else before it.
  if (column + 2 + textWidth(text) <= width) {
    return fitLine([span(`${' '.repeat(column)}^ `, 'bad'), span(text, 'warn')], width);
  }
  const before = `${text} ^`;
  if (textWidth(before) <= column) {
    return fitLine([span(' '.repeat(column - textWidth(before) + 1)), span(text, 'warn'), span(' ^', 'bad')], width);
  }
  return fitLine([span(` ${text}`, 'warn')], width);
}

function rightEnd({ ui, groups, tally }: WindowModel, { problem }: FilterDialog): Line {
  if (problem !== null) return [];
  if (ui.note !== null) return [span(` ${ui.note.text} `, 'warn')];
  const shown = groups.reduce((sum, { runs }) => sum + runs.length, 0);
  return [span(` ${shown} of ${tally.total} runs `, shown === 0 ? 'warn' : 'dim')];
}

function explanation({ problem, fix }: QueryProblem): string {
  return cleanText(`${problem} ${fix}`);
}
