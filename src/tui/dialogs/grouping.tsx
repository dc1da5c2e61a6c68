import { cleanText } from '../../text/display-text.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import type { GroupChoice } from '../model/tree/grouping-level.js';
import { type GroupBy, type Grouping, groupingWords, isFlat, isSameLevel, levelWords } from '../state/list-choice.js';
import { menuAt, type MenuState, type UiState } from '../state/ui-state.js';
import { fit, fitRight, type Line, span } from '../surface/span.js';
import { dialogFrame, nameWidth } from '../widgets/dialog-box.js';
import { closedDialog } from './dialog-module.js';
import { menuDialog, unfiltered } from './menu-dialog.js';

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly grouping: MenuState;
  }
}

/** Columns of a row besides its name. */
const besideName = 16;

/** Chooses the grouping of the list. Each choice is shown with its level and the resulting number of groups. */
export const grouping = menuDialog<'grouping', GroupChoice>({
  title: 'group by',
  open: (ui, at) => {
    const [first] = ui.grouping;
    const index = (at.groupChoices?.() ?? []).findIndex(({ by }) => isSameLevel(by, first));
    return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'grouping', ...menuAt(index) } } };
  },
  choices: (at) => ({ items: at.groupChoices?.() ?? [], textOf: ({ by }) => levelWords(by) }),
  own: [
    ['Enter', 'group by'],
    ['Space', 'second level'],
  ],
  usage: 'Enter groups by this, Space adds it as the second level, typing finds a row, Esc closes.',
  keys: {
    enter: ({ by }, { ui, at }) => ({ ui: regrouped(closedDialog(ui), withFirst(ui.grouping, by), at) }),
    space: ({ by }, { ui, dialog, at, choices }) => asSecond({ ...ui, dialog: unfiltered(dialog, choices) }, by, at),
  },
  lineOf: ({ items, ui, width: screen }) => {
    const names = items.map(({ by }) => levelWords(by));
    const width = nameWidth(names, screen - dialogFrame - besideName);
    return (choice) => lineOf(choice, ui.grouping, width);
  },
});

function withFirst([, second]: Grouping, by: GroupBy): Grouping {
  return second === undefined || by.kind === 'none' || isSameLevel(by, second) ? [by] : [by, second];
}

function asSecond(ui: UiState, by: GroupBy, at: KeyContext): Pressed {
  const [first, second] = ui.grouping;
  if (isSameLevel(by, first)) return refuse(ui, `${levelWords(by)} is the first level already; choose another.`);
  if (isFlat(ui.grouping)) return refuse(ui, 'Without groups there is no second level; choose a first one: Enter.');
  if (by.kind === 'none') return { ui: regrouped(ui, [first], at) };
  return { ui: regrouped(ui, isSameLevel(by, second) ? [first] : [first, by], at) };
}

/** Applies another grouping. Keeps the selection; instead of a group that disappears, its first run is selected. */
export function regrouped(ui: UiState, levels: Grouping, at: KeyContext): UiState {
  const text = `Grouped by ${groupingWords(levels)}.`;
  return { ...ui, grouping: levels, selected: selectedRun(at) ?? ui.selected, note: { text, tone: 'dim' } };
}

/** The selected run, or the first run of the selected group; null if there is none. */
function selectedRun({ rows, index }: KeyContext): string | null {
  const node = rows[index];
  return node === undefined ? null : node.kind === 'run' ? node.key : (node.runs[0]?.id ?? null);
}

function lineOf({ by, groups }: GroupChoice, levels: Grouping, width: number): Line {
  const level = isSameLevel(by, levels[0]) ? '1' : isSameLevel(by, levels[1]) ? '2' : ' ';
  return [
    span(` ${level} `, 'accent'),
    span(fit(cleanText(levelWords(by)), width), level === ' ' ? 'plain' : 'strong'),
    span(fitRight(`${groups} ${groups === 1 ? 'group' : 'groups'} `, 13), 'dim'),
  ];
}
