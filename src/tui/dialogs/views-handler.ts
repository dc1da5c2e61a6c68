import { commandFor } from '../app/key-map.js';
import { editLine, lineOf } from '../state/line-editor.js';
import type { ListDialog } from '../state/list-dialog.js';
import { isSameLook, lookOf, plainLook, withLook } from '../state/list-look.js';
import type { SavedView } from '../state/preferences-port.js';
import { regrouped } from './grouping-handler.js';
import { closedDialog, moveIn } from '../screens/jobs/in-list-handler.js';
import { type Handler, type Pressed, refuse, type KeyContext } from '../app/key-context.js';
import type { Note, UiState } from '../state/ui-state.js';

type ViewsDialog = Extract<ListDialog, { kind: 'views' }>;

/** What the first row of the dialog is called: it is always there. */
export const plainView: SavedView = { name: 'as in the sweep file', ...plainLook };

const longestName = 40;

/** Lists the views of this sweep, the one that is shown under the cursor. */
export const openViews: Handler = (ui) => {
  const shown = viewsOf(ui).findIndex((view) => isSameLook(view, lookOf(ui)));
  return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'views', index: Math.max(0, shown), name: null } } };
};

/** The rows of the dialog. */
export function viewsOf({ views }: Pick<UiState, 'views'>): readonly SavedView[] {
  return [plainView, ...views];
}

export function pressInViews(ui: UiState, dialog: ViewsDialog, key: string, at: KeyContext): Pressed {
  if (dialog.name !== null) return typeName(ui, dialog, dialog.name, key);
  const views = viewsOf(ui);
  const command = commandFor(key, ui.keys);
  // Named keys first: in this list they mean what its footer says, whatever they mean elsewhere.
  if (key === 's') return { ui: { ...ui, dialog: { ...dialog, name: lineOf('') } } };
  if (key === 'x') return forget(ui, dialog);
  const moved = moveIn(ui, dialog, command, { count: views.length, page: at.page });
  if (moved !== null) return moved;
  if (command === 'open') return recall(ui, views[dialog.index]!, at);
  if (command === 'back' || command === 'views') return { ui: closedDialog(ui) };
  return refuse(ui, 'Enter shows this view, s saves the current one, x deletes, Esc closes.');
}

function typeName(ui: UiState, dialog: ViewsDialog, name: NonNullable<ViewsDialog['name']>, key: string): Pressed {
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
  const views = isKnown ? ui.views.map((known) => (known.name === name ? view : known)) : [...ui.views, view];
  return {
    ui: { ...ui, views, dialog: atView(views, name), note: said(`${isKnown ? 'Replaced' : 'Saved'} ${name}.`) },
  };
}

function atView(views: readonly SavedView[], name: string): ViewsDialog {
  return { kind: 'views', index: 1 + views.findIndex((view) => view.name === name), name: null };
}

function forget(ui: UiState, dialog: ViewsDialog): Pressed {
  const view = ui.views[dialog.index - 1];
  if (view === undefined) return refuse(ui, 'This view cannot be deleted.');
  const views = ui.views.filter((other) => other !== view);
  const index = Math.min(dialog.index, views.length);
  return { ui: { ...ui, views, dialog: { ...dialog, index }, note: said(`Deleted ${view.name}.`) } };
}

function recall(ui: UiState, view: SavedView, at: KeyContext): Pressed {
  const shown = withLook(regrouped(closedDialog(ui), view.grouping, at), view);
  return { ui: { ...shown, note: said(`View: ${view.name}.`) } };
}

function said(text: string): Note {
  return { text, tone: 'dim' };
}
