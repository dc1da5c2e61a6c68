import { cleanText } from '../../text/display-text.js';
import { type Handler, type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import type { GroupChoice } from '../model/tree/group-choices.js';
import { useModel } from '../model/use-model.js';
import { type GroupBy, type Grouping, groupingWords, isFlat, isSameLevel, levelWords } from '../state/grouping.js';
import { menuAt } from '../state/menu-state.js';
import type { UiState } from '../state/ui-state.js';
import { dialogFrame } from '../widgets/dialog-size.js';
import { Menu } from '../widgets/menu.js';
import { nameWidth } from '../widgets/name-width.js';
import { fit, fitRight, type Line, span } from '../surface/span.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { chosenOf, type Choices, matchesOf, menuHints, pressInMenu, refuseNothing, unfiltered } from './menu-keys.js';

/** Chooses the grouping of the list: Enter sets the first level, Space sets or removes the second. */
export const grouping: DialogModule<'grouping'> = {
  press,
  hints: (dialog) => menuHints(dialog, ['Enter', 'group by'], ['Space', 'second level']),
  Dialog: GroupingDialog,
};

/** Opens the dialog with the cursor on the current first level. */
export const openGrouping: Handler = (ui, at) => {
  const [first] = ui.grouping;
  const index = (at.groupChoices?.() ?? []).findIndex(({ by }) => isSameLevel(by, first));
  return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'grouping', ...menuAt(index) } } };
};

function choicesOf(items: readonly GroupChoice[]): Choices<GroupChoice> {
  return { items, textOf: ({ by }) => levelWords(by) };
}

function press(ui: UiState, dialog: DialogOf<'grouping'>, key: string, at: KeyContext): Pressed {
  const choices = choicesOf(at.groupChoices?.() ?? []);
  if (key !== 'enter' && key !== 'space') return pressInMenu(ui, dialog, key, { choices, at, usage });
  const by = chosenOf(choices, dialog)?.by;
  if (by === undefined) return refuseNothing(ui, dialog);
  if (key === 'enter') return { ui: regrouped(closedDialog(ui), withFirst(ui.grouping, by), at) };
  return asSecond({ ...ui, dialog: unfiltered(dialog, choices) }, by, at);
}

const usage = 'Enter groups by this, Space adds it as the second level, typing finds a row, Esc closes.';

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

/** What runs can be grouped by, with the current level and the resulting number of groups. */
function GroupingDialog({ dialog, size }: DialogProps<'grouping'>) {
  const items = useModel(({ groupChoices }) => groupChoices());
  const levels = useModel(({ ui }) => ui.grouping);
  const choices = choicesOf(items);
  const width = nameWidth(
    items.map(({ by }) => levelWords(by)),
    size.width - dialogFrame - besideName,
  );
  return (
    <Menu
      title="group by"
      screen={size}
      menu={dialog}
      items={items}
      matches={matchesOf(choices, dialog)}
      line={(choice) => lineOf(choice, levels, width)}
    />
  );
}

/** Columns of a row besides its name. */
const besideName = 16;

function lineOf({ by, groups }: GroupChoice, levels: Grouping, width: number): Line {
  const level = isSameLevel(by, levels[0]) ? '1' : isSameLevel(by, levels[1]) ? '2' : ' ';
  return [
    span(` ${level} `, 'accent'),
    span(fit(cleanText(levelWords(by)), width), level === ' ' ? 'plain' : 'strong'),
    span(fitRight(`${groups} ${groups === 1 ? 'group' : 'groups'} `, 13), 'dim'),
  ];
}
