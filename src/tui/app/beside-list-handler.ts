import { type Command, verbCommands } from '../state/command.js';
import { type Handler, refuse } from './key-context.js';

/** Keys that act on the selected row. Where the list is not seen, nobody could tell what they would act on. */
const onSelection: readonly Command[] = [
  ...verbCommands,
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
  'baseline',
  'first-error',
];

/** What these keys do on a screen without the list: nothing, and they say so. */
export const handleBesideList = refusing((key) => `${key} acts on the list of runs; Esc goes back to it.`);

/** All of these keys, refused with the same words. `why`: for a key that was pressed. */
export function refusing(why: (key: string) => string): Partial<Record<Command, Handler>> {
  const obey: Handler = (ui, _, key) => refuse(ui, why(key));
  return Object.fromEntries(onSelection.map((command) => [command, obey]));
}
