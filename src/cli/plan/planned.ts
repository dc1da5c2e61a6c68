import type { PlannedRun, Completion } from '../../spec/planned-run.js';

/** A run and what is left to do of it. */
export type Planned = { readonly run: PlannedRun; readonly standing: Completion };
