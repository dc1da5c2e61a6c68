import { withOwnZoom } from '../keys/chart-handler.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import type { WindowModel } from '../model/window-model.js';
import { bindingFor, elsewhere, keyMapOf, keysOn } from '../screens/key-map.js';
import { screens } from '../screens/registry.js';
import type { Command } from '../state/command.js';
import type { DialogKind, UiState, WindowEffect } from '../state/ui-state.js';
import type { KeyHint } from '../widgets/line-parts.js';
import { axes } from './axes.js';
import { chart } from './chart.js';
import { columns } from './columns.js';
import { confirm } from './confirm.js';
import { draft } from './draft.js';
import { filter } from './filter.js';
import { grouping } from './grouping.js';
import { help } from './help.js';
import { metrics } from './metrics.js';
import { palette } from './palette/palette.js';
import { search } from './search.js';
import { sweeps } from './sweeps.js';
import { typeLine } from './type-line.js';
import { views } from './views.js';
import { wallFilter } from './wall-filter.js';
import { xAxis } from './x-axis.js';
import type { DialogModule, DialogState } from './dialog-module.js';

/** All dialogs. A new one needs its file and its name here. */
const dialogs: { readonly [Kind in DialogKind]: DialogModule<Kind> } = {
  ...{ help, metrics, chart, axes, filter, search, palette, grouping, columns, sweeps, views, draft, confirm },
  ...{ 'x-axis': xAxis, 'wall-filter': wallFilter, type: typeLine },
};
export const dialogKinds = Object.keys(dialogs) as DialogKind[];

/** The module of a dialog. The table has the right type for each kind, but the compiler cannot see that the two match. */
export function moduleOf({ kind }: DialogState): DialogModule<DialogKind> {
  return dialogs[kind] as DialogModule<DialogKind>;
}

/** Footer hints for the keys of the open dialog; null: none is open. */
export function dialogHints(model: WindowModel): readonly KeyHint[] | null {
  const { dialog } = model.ui;
  return dialog.kind === 'none' ? null : moduleOf(dialog).hints(dialog, model);
}

/**
 * Handles one key and returns the next state and the effects. An open dialog gets the key first, then the screen, then the window.
 * A key that does nothing leaves a note with the reason.
 */
export function press(ui: UiState, key: string, at: KeyContext): Pressed {
  const pressed = taken(ui, key, at);
  return { ...pressed, ui: withOwnZoom(ui, pressed.ui, at) };
}

function taken(ui: UiState, key: string, at: KeyContext): Pressed {
  const quiet = { ...ui, note: null };
  const order = atAnyTime[key];
  if (order !== undefined) return { ui: quiet, order };
  if (ui.dialog.kind !== 'none') {
    const pressed = moduleOf(ui.dialog).press(quiet, ui.dialog, key, at);
    return pressed.command === undefined ? pressed : run(pressed.ui, pressed.command, at);
  }
  const binding = bindingFor(ui.screen.kind, key, ui.keys);
  return binding === undefined ? refuse(quiet, whyNot(quiet, key, at)) : opened(binding.act(quiet, at, key), at);
}

/** Keys that work everywhere, even in a dialog. */
const atAnyTime: Readonly<Record<string, WindowEffect>> = {
  'ctrl-c': { type: 'leave' },
  'ctrl-l': { type: 'repaint' },
  'ctrl-z': { type: 'suspend' },
};

function opened(pressed: Pressed, at: KeyContext): Pressed {
  const { opens } = pressed;
  return opens === undefined ? pressed : dialogs[opens].open!(pressed.ui, at, '');
}

function whyNot(ui: UiState, key: string, at: KeyContext): string {
  const other = elsewhere(key, ui.keys);
  if (other !== undefined)
    return screens[ui.screen.kind].keys.refusal({ ...other, shown: shownAs(other.keys, key, other.shown) }, ui, at);
  return `${key} does nothing here; ${at.keyOf('help')} shows the keys.`;
}

/** How the pressed key of a row with several keys is shown. */
function shownAs(keys: readonly string[], key: string, shown: string): string {
  return keys.length > 1 && key.length === 1 ? key : shown;
}

/** Runs a command chosen by name as if its key had been pressed. */
function run(ui: UiState, command: Command, at: KeyContext): Pressed {
  const binding = keysOn(ui.screen.kind, ui.keys).find((each) => each.command === command);
  if (binding !== undefined) return opened(binding.act(ui, at, binding.keys[0]!), at);
  const key = keyMapOf(ui.keys).find((each) => each.command === command)!.keys[0]!;
  return refuse(ui, whyNot(ui, key, at));
}
