import type { Command } from '../../state/command.js';
import { handleBesideList } from '../../app/beside-list-handler.js';
import { type Handler, refuse } from '../../app/key-context.js';

/** What keys do on the sweep screen that they do not do elsewhere. */
export const handleInSweep: Partial<Record<Command, Handler>> = {
  ...handleBesideList,
  fold: (ui) => refuse(ui, 'There is nothing to fold here; Esc goes back to the list.'),
  unfold: (ui) => refuse(ui, 'There is nothing to unfold here; Esc goes back to the list.'),
  open: (ui) => refuse(ui, 'Enter opens a row of the list; Esc goes back to it.'),
};
