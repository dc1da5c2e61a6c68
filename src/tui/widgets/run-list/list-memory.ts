import { namesOf, resolved } from '../../../query/bare-words.js';
import { runTest } from '../../../query/match.js';
import { readRunQuery } from '../../../query/parser.js';
import { fittingLook, isSameLook, type ListLook, lookOf, plainLook, withLook } from '../../state/list-look.js';
import type { RunSummary } from '../../state/port.js';
import { initialPanes, type PaneSizes, type PreferencesPort, type SavedView } from '../../state/preferences-port.js';
import type { UiState } from '../../state/ui-state.js';
import type { Size } from '../../surface/surface.js';

/** The name under which a window with all sweeps stores its look; no sweep can have it. */
const allSweeps = '*';

/** Stores the look of the list and the saved views of one sweep. */
export class ListMemory {
  readonly #preferences: PreferencesPort;
  readonly #sweep: string;
  readonly #tell: (problem: string) => void;
  #views: readonly SavedView[];
  #last: ListLook | null;

  /** `sweep`: null for all sweeps. `tell`: reports why something could not be stored. */
  constructor(preferences: PreferencesPort, sweep: string | null, tell: (problem: string) => void) {
    this.#preferences = preferences;
    this.#sweep = sweep ?? allSweeps;
    this.#tell = tell;
    const { views, last } = preferences.ofSweep(this.#sweep);
    this.#views = views;
    this.#last = last;
  }

  /** The state in which the window was left, as far as it still fits. A filter that would hide every run is dropped. */
  restored(ui: UiState, runs: readonly RunSummary[], now: number): UiState {
    const withViews = { ...ui, views: this.#views };
    if (this.#last === null) return withViews;
    const look = fittingLook(this.#last, runs);
    return withLook(withViews, { ...look, filter: showsAny(look.filter, runs, now) ? look.filter : '' });
  }

  /** Stores the views if they have changed. */
  keepViews({ views }: UiState): void {
    if (views === this.#views) return;
    this.#views = views;
    this.#keep();
  }

  /** Stores the look of the list if it has changed. */
  keepLook(ui: UiState): void {
    // The view of failures is temporary, so the look before it is stored.
    const look = ui.beforeFailures ?? lookOf(ui);
    if (isSameLook(look, this.#last ?? plainLook)) return;
    this.#last = look;
    this.#keep();
  }

  #keep(): void {
    const kept = this.#preferences.keepSweep(this.#sweep, { views: this.#views, last: this.#last });
    void kept.then((problem) => {
      if (problem !== null) this.#tell(problem);
    });
  }
}

function showsAny(filter: string, runs: readonly RunSummary[], now: number): boolean {
  const query = readRunQuery(filter);
  return query.kind !== 'problem' && runs.some(runTest(resolved(query, namesOf(runs)), now));
}

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
