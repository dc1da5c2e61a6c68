import type { RunSummary } from '../../state/port.js';

/** One of the logs shown side by side. `isChosen`: the cursor is on it. */
export type LogTile = { readonly run: RunSummary; readonly lines: readonly string[]; readonly isChosen: boolean };
