import type { Block } from './block.js';
import type { CommandLine } from './command-list.js';
import type { KeyPath, Place } from './diagnostic.js';
import type { ExecutorName } from '../planned-run.js';
import type { NotifyText } from './policy-schema.js';

/** A sweep file that was parsed and is valid. `expandSweep` applies the options. */
export type SweepFile = {
  readonly path: string;
  readonly text: string;
  readonly name: string;
  readonly description: string | null;
} & (
  | {
      readonly kind: 'groups';
      readonly blocks: readonly Block[];
      readonly notify: NotifyText | null;
      readonly executor: ExecutorName | null;
      /** Notes for the user who launches it. */
      readonly notes: readonly string[];
      readonly placeOf: (keys: KeyPath, span?: { start: number; end: number }) => Place;
    }
  | { readonly kind: 'commands'; readonly lines: readonly CommandLine[] }
);
