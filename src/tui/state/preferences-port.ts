import type { Guides } from './chart-choice.js';
import type { Command } from './command.js';
import type { Grouping, Sort } from './list-choice.js';

/** Colour themes of the window. `mono`: only bold, dim and reverse. */
export const themeNames = ['dark', 'light', 'colour-blind', 'mono'] as const;
export type ThemeName = (typeof themeNames)[number];

/** Key presets; `vim` moves with h j k l. */
export const keyPresets = ['default', 'vim'] as const;
export type KeyPreset = (typeof keyPresets)[number];

/** Keys by command, the one that is shown first; other commands have the keys of their rows. */
export type KeyBindings = Readonly<Partial<Record<Command, readonly string[]>>>;

/** Which keys do what: a preset, or one with keys of the user's own. */
export type KeyMapping = KeyPreset | KeyBindings;

/** How charts are drawn as pictures; `auto`: by what the terminal reports to support. */
export const graphicsChoices = ['auto', 'kitty', 'sixel', 'none'] as const;
export type GraphicsChoice = (typeof graphicsChoices)[number];

/** A named view of the runs of a sweep. */
export type SavedView = {
  readonly name: string;
  readonly filter: string;
  readonly grouping: Grouping;
  readonly sort: Sort;
  readonly metric: string | null;
  readonly columns: readonly string[] | null;
};

/** The user's choices for one sweep. `last`: the look of the window when it was closed. */
export type SweepPreferences = {
  readonly views: readonly SavedView[];
  readonly last: Omit<SavedView, 'name'> | null;
};

/** The user's choices for the window itself. `theme` null: one that suits the terminal's background. */
export type WindowPreferences = {
  readonly theme: ThemeName | null;
  readonly keys: KeyPreset;
  /** The user's own keys by name of a command, one or several, in place of those of the preset. */
  readonly bindings: Readonly<Record<string, string | readonly string[]>>;
  /** Whether the window uses the mouse; if not, the terminal selects text without Shift. */
  readonly mouse: boolean;
  /** Whether the window also follows the pointer: a chart shows the values under it, a row highlights its curve. */
  readonly hover: boolean;
  /** Faint lines behind the curves of charts. */
  readonly guides: Guides;
  readonly graphics: GraphicsChoice;
  /** Where boundaries between panes were put, by the size of the terminal: `120x36`. */
  readonly panes: Readonly<Record<string, PaneSizes>>;
};

/** Where the window stores the user's preferences. Nothing here throws; failures are returned. */
export type PreferencesPort = WindowPreferences & {
  /** What was wrong with the stored preferences, in words; null: nothing. */
  readonly problem: string | null;
  ofSweep(sweep: string): SweepPreferences;
  /**
   * Applies a change at once and writes it in the background. Resolves with the reason if it could not be written, otherwise null.
   */
  keep(change: Partial<WindowPreferences>): Promise<string | null>;
  keepSweep(sweep: string, preferences: SweepPreferences): Promise<string | null>;
};

/**
 * Where the user has put the boundary between the panes of a screen: columns of the list (rows, where the curve is below it), and
 * rows of the charts of an open run. Null: where the layout puts it. `columns`: widths of columns of the list by id; without one,
 * a column is as wide as the layout makes it.
 */
export type PaneSizes = {
  readonly list: number | null;
  readonly charts: number | null;
  readonly columns: ColumnWidths;
};
export type ColumnWidths = Readonly<Record<string, number>>;
/** The panes that have a boundary. */
export type PanePart = 'list' | 'charts';

export const initialPanes: PaneSizes = { list: null, charts: null, columns: {} };

/** The size of a pane with the boundary where the user wants it, as far as both panes keep their least size. */
export function paneSize(
  wanted: number | null,
  { usual, least, most }: { readonly usual: number; readonly least: number; readonly most: number },
): number {
  return wanted === null ? usual : Math.max(least, Math.min(most, wanted));
}
