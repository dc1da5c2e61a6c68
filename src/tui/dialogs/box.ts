import type { Line } from '../widgets/span.js';

/** What a dialog shows. `below`: lines of it that there is no room for. */
export type Box = { readonly title: string; readonly lines: readonly Line[]; readonly below: number };
