import { type GroupBy, type Grouping, groupingWords, isFlat, isSameLevel, levelWords } from '../state/grouping.js';
import type { ListDialog } from '../state/list-dialog.js';
import { commandFor } from '../app/key-map.js';
import { type Handler, type Pressed, refuse, type KeyContext } from '../app/key-context.js';
import { closedDialog, moveIn } from '../screens/jobs/in-list-handler.js';
import type { UiState } from '../state/ui-state.js';

type GroupingDialog = Extract<ListDialog, { kind: 'grouping' }>;

/** Asks what the list is to be grouped by, the present first level under the cursor. */
export const openGrouping: Handler = (ui, at) => {
  const [first] = ui.grouping;
  const index = choicesAt(at).findIndex(({ by }) => isSameLevel(by, first));
  return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'grouping', index: Math.max(0, index) } } };
};

/** Enter makes it the first level, space the second one or takes that away. */
export function pressInGrouping(ui: UiState, dialog: GroupingDialog, key: string, at: KeyContext): Pressed {
  const choices = choicesAt(at);
  const by = choices[dialog.index]?.by;
  const command = commandFor(key, ui.keys);
  const moved = moveIn(ui, dialog, command, { count: choices.length, page: at.page });
  if (moved !== null) return moved;
  if (by === undefined || command === 'back' || command === 'group') return { ui: closedDialog(ui) };
  if (command === 'open') return { ui: regrouped(closedDialog(ui), withFirst(ui.grouping, by), at) };
  if (command === 'mark') return asSecond(ui, by, at);
  return refuse(ui, 'Enter groups by this, Space adds it as the second level, Esc closes.');
}

function choicesAt(at: KeyContext): readonly { readonly by: GroupBy }[] {
  return at.groupChoices?.() ?? [];
}

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

/** Another grouping. What was selected stays so: a group that will not be there any more hands on to its first run. */
export function regrouped(ui: UiState, grouping: Grouping, at: KeyContext): UiState {
  const text = `Grouped by ${groupingWords(grouping)}.`;
  return { ...ui, grouping, selected: selectedRun(at) ?? ui.selected, note: { text, tone: 'dim' } };
}

/** The selected run, or the first of the selected group; null when there is none. */
function selectedRun({ rows, index }: KeyContext): string | null {
  const node = rows[index];
  return node === undefined ? null : node.kind === 'run' ? node.key : (node.runs[0]?.id ?? null);
}
