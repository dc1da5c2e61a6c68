import type { Grouping } from './grouping.js';
import type { Sort } from './sort.js';

/** Colours of the window. `mono`: bold, dim and reverse alone. */
export const themeNames = ['dark', 'light', 'colour-blind', 'mono'] as const;
export type ThemeName = (typeof themeNames)[number];

/** Which keys do what; `vim` moves with h j k l. */
export const keyPresets = ['default', 'vim'] as const;
export type KeyPreset = (typeof keyPresets)[number];

/** How a terminal is given charts as pictures; `auto`: as it says that it takes them. */
export const graphicsChoices = ['auto', 'kitty', 'sixel', 'none'] as const;
export type GraphicsChoice = (typeof graphicsChoices)[number];

/** A way to look at the runs of a sweep, under a name. */
export type SavedView = {
  readonly name: string;
  readonly filter: string;
  readonly grouping: Grouping;
  readonly sort: Sort;
  readonly metric: string | null;
  readonly columns: readonly string[] | null;
};

/** What a person has chosen for one sweep. `last`: how the window was left. */
export type SweepPreferences = {
  readonly views: readonly SavedView[];
  readonly last: Omit<SavedView, 'name'> | null;
};

/** What a person has chosen for the window itself. `theme` null: what suits the terminal's ground. */
export type WindowPreferences = {
  readonly theme: ThemeName | null;
  readonly keys: KeyPreset;
  /** Whether the window listens to the mouse; where it does not, the terminal selects text without Shift. */
  readonly mouse: boolean;
  /** Whether it listens to where the mouse goes, too: a chart shows the values under it, a row which curve is its own. */
  readonly hover: boolean;
  readonly graphics: GraphicsChoice;
};

/** Where the window keeps what a person prefers. Nothing here throws: what cannot be kept is told in the answer. */
export type PreferencesPort = WindowPreferences & {
  /** What was wrong with what had been kept, in words; null when nothing was. */
  readonly problem: string | null;
  ofSweep(sweep: string): SweepPreferences;
  /** Holds at once; written in the background. Resolves with why it could not be written; null when it was. */
  keep(change: Partial<WindowPreferences>): Promise<string | null>;
  keepSweep(sweep: string, preferences: SweepPreferences): Promise<string | null>;
};
