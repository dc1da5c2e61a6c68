import { initialPanes, type PaneSizes } from '../state/pane-sizes.js';
import type { PreferencesPort } from '../state/preferences-port.js';
import type { Size } from '../surface/surface.js';

/** Terminal sizes whose panes are remembered. */
const mostSizes = 50;

/** The sizes of panes and columns that the user has chosen, for each size of the terminal: a small one has others than a large one. */
export class PaneMemory {
  readonly #preferences: Pick<PreferencesPort, 'panes' | 'keep'>;

  constructor(preferences: Pick<PreferencesPort, 'panes' | 'keep'>) {
    this.#preferences = preferences;
  }

  of(size: Size): PaneSizes {
    return this.#preferences.panes[nameOf(size)] ?? initialPanes;
  }

  /** Writes them in the background if they are not as remembered. */
  keep(size: Size, panes: PaneSizes): void {
    const known = this.of(size);
    const parts = Object.keys(initialPanes) as (keyof PaneSizes)[];
    if (parts.every((part) => known[part] === panes[part])) return;
    const others = Object.entries(this.#preferences.panes).filter(([name]) => name !== nameOf(size));
    const kept = [...others, [nameOf(size), panes] as const].slice(-mostSizes);
    void this.#preferences.keep({ panes: Object.fromEntries(kept) });
  }
}

/** `120x36`. */
function nameOf({ width, height }: Size): string {
  return `${width}x${height}`;
}
