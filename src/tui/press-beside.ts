import { type Command } from './command.js';
import { type Obey, refuse } from './situation.js';

/** Keys that act on the selected row. Where the list is not seen, nobody could tell what they would act on. */
const onSelection = [
  'kill',
  'kill-group',
  'resume',
  'resume-group',
  'hold',
  'hold-group',
  'pause',
  'pause-group',
  'clone',
  'drain',
  'copy',
  'shell',
  'mark',
  'mark-all',
  'jump',
  'sort',
  'group',
  'columns',
  'views',
] as const satisfies readonly Command[];

const isOnList: Obey = (ui, _, key) => refuse(ui, `${key} acts on the list of runs; Esc goes back to it.`);

/** What these keys do on a screen without the list: nothing, and they say so. */
export const obeyBesideList: Partial<Record<Command, Obey>> = Object.fromEntries(
  onSelection.map((command) => [command, isOnList]),
);
