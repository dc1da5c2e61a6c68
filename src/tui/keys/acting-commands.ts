import { runVerbNames } from '../../protocol/run-verbs.js';

const acting: ReadonlySet<string> = new Set([
  ...runVerbNames.flatMap((verb) => [verb, `${verb}-group`]),
  ...['star', 'unstar', 'tag', 'note', 'remove-note', 'clone', 'terminal', 'extend'],
  ...['slots', 'more-slots', 'fewer-slots', 'use-gpus', 'per-gpu', 'drain', 'undrain'],
]);

/**
 * Whether a command, by its name in the key table or the palette, changes runs, sweeps or the machine. A window that only looks offers
 * none of these.
 */
export function isActing(command: string): boolean {
  return acting.has(command);
}
