import type { PanePart } from '../state/pane-sizes.js';
import type { UiState } from '../state/ui-state.js';
import { type KeyContext, type Pressed, refuse } from './key-context.js';
import type { KeyRow } from './key-row.js';

/** Keys that move the boundary between the panes of a screen. `part`: the pane before it; `name`: as the help calls it. */
export function paneRows(part: PanePart, name: string): KeyRow[] {
  return [
    {
      ...{
        command: 'pane-smaller',
        keys: ['<'],
        group: 'window',
        help: `${name} smaller, what is beside or below larger`,
      },
      act: (ui, at) => movedBoundary(ui, part, -1, at),
    },
    {
      ...{ command: 'pane-larger', keys: ['>'], group: 'window', help: `${name} larger` },
      act: (ui, at) => movedBoundary(ui, part, 1, at),
    },
  ];
}

function movedBoundary(ui: UiState, part: PanePart, way: 1 | -1, { boundary }: KeyContext): Pressed {
  if (boundary === null || boundary === undefined) {
    return refuse(ui, 'There is one pane here; a larger terminal shows two.');
  }
  return { ui: { ...ui, panes: { ...ui.panes, [part]: boundary.size + way * boundary.step } } };
}
