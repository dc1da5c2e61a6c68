import type { Extent } from '../model/use-model.js';
import type { Command } from '../state/command.js';
import type { SweepChoice } from '../model/tally.js';
import type { GroupChoice } from '../model/tree/grouping-level.js';
import type { FleetStatus, RunSummary, SweepSummary } from '../state/port.js';
import type { DialogKind, Effect, UiState } from '../state/ui-state.js';
import type { WallMetrics } from '../state/run-choice.js';
import type { Branch, BranchIndex, TreeNode } from '../model/tree/branch.js';
import type { VaryingParameters } from '../model/varying-parameters.js';
import type { XChoice } from '../model/chart-data.js';
import type { ListLayout } from '../widgets/run-list/list-columns.js';

/** What key handlers need to know about the screen. */
export type KeyContext = {
  readonly rows: readonly TreeNode[];
  /** All runs of the shown sweeps, whatever the filter. */
  readonly runs: readonly RunSummary[];
  readonly sweeps: readonly SweepSummary[];
  readonly status: FleetStatus;
  /** Position of the selection in `rows`; 0 if there are none. */
  readonly index: number;
  readonly groups: readonly Branch[];
  /** Groups and subgroups by key. */
  readonly branches: BranchIndex;
  /** Number of visible rows of the list, or lines of a text screen. */
  readonly page: number;
  /** What the screen scrolls, as it was laid out last; null: nothing, or not laid out yet. */
  readonly extent?: Extent | null;
  readonly metrics: readonly string[];
  readonly metric: string | null;
  readonly isFolded: (branch: Branch) => boolean;
  /** The boundary between the panes of the screen: the size of the pane before it, and by how much a key moves it; null: one pane. */
  readonly boundary?: { readonly size: number; readonly step: number } | null | undefined;
  /** The layout of the list, for keys that resize its columns; null: it has none. */
  readonly listLayout?: () => ListLayout | null;
  /** Columns of the whole screen. */
  readonly width: number;
  /** Number of charts of the selection. `xChoices`: their possible x axes. */
  readonly charts?: number;
  readonly xChoices?: readonly XChoice[];
  /** Metrics of the selection as shown on the wall of charts. */
  readonly wall?: () => WallMetrics;
  /** What runs can be grouped by, and the parameters that differ between them; computed on request. */
  readonly groupChoices?: () => readonly GroupChoice[];
  /** The sweeps that can be shown. */
  readonly sweepChoices?: () => readonly SweepChoice[];
  readonly varyingParameters?: () => VaryingParameters;
  /** Unix ms. */
  readonly now: number;
  /** Data that only the keys of the shown screen use; the screen provides it and knows its type. */
  readonly own: unknown;
  /** How the key of a command is shown to the user. */
  readonly keyOf: (command: Command) => string;
};

/** `command`: to be run next, as if its key had been pressed. `opens`: the dialog to open, if possible. */
export type Pressed = {
  readonly ui: UiState;
  readonly order?: Effect;
  readonly command?: Command;
  readonly opens?: DialogKind;
};

/** Handles one key, whatever has the focus. */
export type Press = (ui: UiState, key: string, at: KeyContext) => Pressed;

export function refuse(ui: UiState, why: string): Pressed {
  return { ui: { ...ui, note: { text: why, tone: 'warn' } } };
}

const movements = ['up', 'down', 'page-up', 'page-down', 'first', 'last'] as const;
export type Movement = (typeof movements)[number];

export function isMovement(command: Command | undefined): command is Movement {
  return (movements as readonly (Command | undefined)[]).includes(command);
}

/** Distance of a movement in rows; first and last are far enough for any list. */
export function distance(movement: Movement, page: number): number {
  const distances: Record<Movement, number> = {
    up: -1,
    down: 1,
    'page-up': -page,
    'page-down': page,
    first: -Infinity,
    last: Infinity,
  };
  return distances[movement];
}

/** What a command does to the window. `key`: the pressed key. */
export type Handler = (ui: UiState, at: KeyContext, key: string) => Pressed;

/** The handler of a key that opens a dialog. */
export function opens(dialog: DialogKind): Handler {
  return (ui) => ({ ui, opens: dialog });
}
