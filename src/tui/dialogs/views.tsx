import { Box } from 'ink';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import { type EditedLine, editLine, lineOf } from '../state/line-editor.js';
import { isSameLook, lookOf, plainLook, withLook } from '../state/list-look.js';
import { menuAt, type MenuState, type Note, type UiState } from '../state/ui-state.js';
import type { SavedView } from '../state/preferences-port.js';
import { groupingWords, isInitialSort, sortWords } from '../state/list-choice.js';
import { DialogBox, dialogWidth, nameWidth } from '../widgets/dialog-box.js';
import type { KeyHint } from '../widgets/line-parts.js';
import { Menu } from '../widgets/select-list.js';
import { fit, type Line, span } from '../surface/span.js';
import { Text } from '../widgets/text.js';
import { TextField } from '../widgets/prompt.js';
import { closedDialog, type DialogModule, type DialogOf, type DialogProps } from './dialog-module.js';
import { regrouped } from './grouping.js';
import { chosenOf, type Choices, matchesOf, menuHints, pressInMenu, refuseNothing } from './menu-dialog.js';

type ViewsDialog = DialogOf<'views'>;

/** `name`: the name of a view while it is typed. */
declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly views: { readonly name: EditedLine | null } & MenuState;
  }
}

/** Saves and restores named views of the list: filter, grouping, order, metric, columns. */
export const views: DialogModule<'views'> = { open, press, hints, Dialog: ViewsBox };

/** The first row of the dialog, which always exists. */
const plainView: SavedView = { name: 'as in the sweep file', ...plainLook };

const longestName = 40;

/** Opens the dialog of this sweep's views with the cursor on the shown one. */
function open(ui: UiState): Pressed {
  const shown = viewsOf(ui.views).findIndex((view) => isSameLook(view, lookOf(ui)));
  return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'views', ...menuAt(shown), name: null } } };
}

/** Rows of the dialog. */
function viewsOf(saved: readonly SavedView[]): readonly SavedView[] {
  return [plainView, ...saved];
}

function choicesOf(saved: readonly SavedView[]): Choices<SavedView> {
  return { items: viewsOf(saved), textOf: ({ name }) => name };
}

function hints(dialog: ViewsDialog): readonly KeyHint[] {
  if (dialog.name !== null) {
    return [
      ['Enter', 'save'],
      ['Ctrl-U', 'clear'],
      ['Esc', 'cancel'],
    ];
  }
  return menuHints(dialog, ['Enter', 'show'], ['Ctrl-S', 'save current'], ['Ctrl-X', 'delete']);
}

function press(ui: UiState, dialog: ViewsDialog, key: string, at: KeyContext): Pressed {
  if (dialog.name !== null) return typeName(ui, dialog, dialog.name, key);
  if (key === 'ctrl-s') return { ui: { ...ui, dialog: { ...dialog, name: lineOf('') } } };
  const choices = choicesOf(ui.views);
  if (key !== 'enter' && key !== 'ctrl-x') return pressInMenu(ui, dialog, key, { choices, at, usage });
  const view = chosenOf(choices, dialog);
  if (view === undefined) return refuseNothing(ui, dialog);
  return key === 'enter' ? recall(ui, view, at) : forget(ui, view);
}

const usage = 'Enter shows this view, Ctrl-S saves the current one, Ctrl-X deletes, Esc closes.';

function typeName(ui: UiState, dialog: ViewsDialog, name: EditedLine, key: string): Pressed {
  if (key === 'escape') return { ui: { ...ui, dialog: { ...dialog, name: null } } };
  if (key === 'enter') return save(ui, name.text.trim());
  const edited = editLine(name, key);
  if (edited === null) return refuse(ui, 'Type a name and press Enter; Esc saves nothing.');
  if (edited.text.length > longestName) return refuse(ui, `A name has at most ${longestName} letters.`);
  return { ui: { ...ui, dialog: { ...dialog, name: edited } } };
}

function save(ui: UiState, name: string): Pressed {
  if (name === '') return refuse(ui, 'Type a name first; Esc saves nothing.');
  if (name === plainView.name) return refuse(ui, 'That name is taken; choose another.');
  const isKnown = ui.views.some((view) => view.name === name);
  const view = { name, ...lookOf(ui) };
  const saved = isKnown ? ui.views.map((known) => (known.name === name ? view : known)) : [...ui.views, view];
  const index = 1 + saved.findIndex((each) => each.name === name);
  const note = said(`${isKnown ? 'Replaced' : 'Saved'} ${name}.`);
  return { ui: { ...ui, views: saved, dialog: { kind: 'views', ...menuAt(index), name: null }, note } };
}

function forget(ui: UiState, view: SavedView): Pressed {
  const at = ui.views.indexOf(view);
  if (at < 0) return refuse(ui, 'This view cannot be deleted.');
  const saved = ui.views.filter((other) => other !== view);
  const dialog = { kind: 'views', ...menuAt(Math.min(at + 1, saved.length)), name: null } as const;
  return { ui: { ...ui, views: saved, dialog, note: said(`Deleted ${view.name}.`) } };
}

function recall(ui: UiState, view: SavedView, at: KeyContext): Pressed {
  const shown = withLook(regrouped(closedDialog(ui), view.grouping, at), view);
  return { ui: { ...shown, note: said(`View: ${view.name}.`) } };
}

function said(text: string): Note {
  return { text, tone: 'dim' };
}

/** The saved views with their settings and a mark at the shown one, or a prompt for the name of a new one. */
function ViewsBox({ dialog, size }: DialogProps<'views'>) {
  const saved = useModel(({ ui }) => ui.views);
  const now = useModel(({ ui }) => ui);
  if (dialog.name !== null) return <NamePrompt name={dialog.name} size={size} />;
  const choices = choicesOf(saved);
  const width = nameWidth(
    choices.items.map(({ name }) => name),
    size.width >> 1,
  );
  const rest = Math.max(...choices.items.map((view) => textWidth(viewWords(view))));
  const look = lookOf(now);
  return (
    <Menu
      title="views"
      screen={size}
      menu={dialog}
      items={choices.items}
      matches={matchesOf(choices, dialog)}
      line={(view) => viewLine(view, isSameLook(view, look), { width, rest })}
    />
  );
}

type NamePromptProps = { readonly name: EditedLine; readonly size: DialogProps<'views'>['size'] };

function NamePrompt({ name, size }: NamePromptProps) {
  const width = dialogWidth(longestName + 8, size.width);
  return (
    <DialogBox title="save the current view" screen={size} width={width} height={1}>
      <Box>
        <Text tone="title">name </Text>
        <TextField line={name} width={width - 5} />
      </Box>
    </DialogBox>
  );
}

type Widths = { readonly width: number; readonly rest: number };

function viewLine(view: SavedView, isShown: boolean, { width, rest }: Widths): Line {
  return [
    span(isShown ? ' ✓ ' : '   ', 'good'),
    span(fit(cleanText(view.name), width), isShown ? 'strong' : 'plain'),
    span(`  ${fit(viewWords(view), rest)} `, 'dim'),
  ];
}

function viewWords({ filter, grouping, sort, metric, columns }: SavedView): string {
  const parts = [
    `by ${groupingWords(grouping)}`,
    filter === '' ? null : `filter ${filter}`,
    isInitialSort(sort) ? null : sortWords(sort, metric),
    metric,
    columns === null ? null : `${columns.length} columns`,
  ];
  return cleanText(parts.filter((part) => part !== null).join(' · '));
}
