import { distance, type KeyContext, type Movement, type Pressed, refuse } from './key-context.js';
import type { UiState } from '../state/ui-state.js';
import type { KeyRow, Short } from './key-row.js';
import type { PanePart } from '../state/preferences-port.js';

/** How a screen handles a movement. */
type Move = (ui: UiState, movement: Movement, at: KeyContext) => Pressed;

/** Keys for ↑ and ↓, pages, and the ends. `short`: the word for ↑ and ↓ in the footer. */
export function movementRows(move: Move, short: Short): KeyRow[] {
  const row = (command: Movement, keys: Pick<KeyRow, 'keys' | 'shown'>, help: string): KeyRow => ({
    ...{ command, ...keys, help, group: 'move' },
    act: (ui, at) => move(ui, command, at),
  });
  return [
    {
      ...row('up', { keys: ['up'], shown: '↑' }, 'up one row'),
      ...{ short, hint: '↑↓', worth: 2 },
    },
    row('down', { keys: ['down'], shown: '↓' }, 'down one row'),
    row('page-up', { keys: ['pageup'], shown: 'PgUp' }, 'up one page'),
    row('page-down', { keys: ['pagedown'], shown: 'PgDn' }, 'down one page'),
    row('first', { keys: ['home'], shown: 'Home' }, 'first row'),
    row('last', { keys: ['end'], shown: 'End' }, 'last row'),
  ];
}

export const leftKey = { keys: ['left'], shown: '←' } as const;
export const rightKey = { keys: ['right'], shown: '→' } as const;
export const enterKey = { keys: ['enter'], shown: 'Enter' } as const;
export const tabKey = { keys: ['tab'], shown: 'Tab' } as const;
export const escapeKey = { keys: ['escape'], shown: 'Esc' } as const;

/** The position after a movement among `length` rows or lines. */
export function placeAfter(
  from: number,
  movement: Movement,
  { length, page }: { readonly length: number; readonly page: number },
): number {
  return within(from + distance(movement, page), length - 1);
}

/** The first visible row after a movement over what the screen scrolls. The last page is kept full. */
export function topAfter(from: number, movement: Movement, at: KeyContext): number {
  const { length, page } = at.extent ?? { length: 0, page: at.page };
  return placeAfter(from, movement, { length: length - page + 1, page });
}

export function within(value: number, last: number): number {
  return Math.max(0, Math.min(last, value));
}

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
