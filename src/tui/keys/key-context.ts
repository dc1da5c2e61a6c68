import type { Command } from '../state/command.js';
import type { SweepChoice } from '../model/sweep-choices.js';
import type { GroupChoice } from '../model/tree/group-choices.js';
import type { FleetStatus, RunSummary, SweepSummary } from '../state/port.js';
import type { Dialog, Effect, UiState } from '../state/ui-state.js';
import type { WallMetrics } from '../state/wall-choice.js';
import type { Branch, BranchIndex, TreeNode } from '../model/tree/branch-index.js';
import type { VaryingParameters } from '../model/varying-parameters.js';
import type { XChoice } from '../widgets/chart/x-axis.js';

/** What a key press may need to know about what is on the screen. */
export type KeyContext = {
  readonly rows: readonly TreeNode[];
  /** All runs of the sweeps shown, whatever the filter says. */
  readonly runs: readonly RunSummary[];
  readonly sweeps: readonly SweepSummary[];
  readonly status: FleetStatus;
  /** Position of the selection in `rows`; 0 when there are none. */
  readonly index: number;
  readonly groups: readonly Branch[];
  /** Groups and subgroups by key. */
  readonly branches: BranchIndex;
  /** Rows of the list, and lines of a text screen, that are seen at once. */
  readonly page: number;
  readonly metrics: readonly string[];
  readonly metric: string | null;
  readonly isFolded: (branch: Branch) => boolean;
  /** Columns of the whole screen. */
  readonly width: number;
  /** Charts of the selection, and what their x axis can be. */
  readonly charts?: number;
  readonly xChoices?: readonly XChoice[];
  /** The metrics of the selection, as the wall of charts has them. */
  readonly wall?: () => WallMetrics;
  /** What the runs can be grouped by, and what tells them apart; computed when it is asked for. */
  readonly groupChoices?: () => readonly GroupChoice[];
  /** The sweeps there are, to be shown instead. */
  readonly sweepChoices?: () => readonly SweepChoice[];
  readonly variety?: () => VaryingParameters;
  /** Unix ms. */
  readonly now: number;
  /** What only the keys of the shown screen look at; its data gives it, and its table knows what it is. */
  readonly own: unknown;
  /** How the key of a command is shown to a person. */
  readonly keyOf: (command: Command) => string;
};

/** `command`: what is to be done next, as if its key had been pressed. `opens`: the dialog that comes up, if it can. */
export type Pressed = {
  readonly ui: UiState;
  readonly order?: Effect;
  readonly command?: Command;
  readonly opens?: OpenedByKey;
};

/** Dialogs that a key opens. */
export type OpenedByKey = Exclude<Dialog['kind'], 'none' | 'search' | 'wall-filter' | 'confirm' | 'draft' | 'axes'>;

/** What one key does, wherever it is pressed. */
export type Press = (ui: UiState, key: string, at: KeyContext) => Pressed;

export function refuse(ui: UiState, why: string): Pressed {
  return { ui: { ...ui, note: { text: why, tone: 'warn' } } };
}

const movements = ['up', 'down', 'page-up', 'page-down', 'first', 'last'] as const;
export type Movement = (typeof movements)[number];

export function isMovement(command: Command | undefined): command is Movement {
  return (movements as readonly (Command | undefined)[]).includes(command);
}

/** How far a movement goes, in rows; the ends are far enough for any list. */
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

/** What a command does to the window. `key`: the one that was pressed. */
export type Handler = (ui: UiState, at: KeyContext, key: string) => Pressed;

/** The handler of a key that opens a dialog. */
export function opens(dialog: OpenedByKey): Handler {
  return (ui) => ({ ui, opens: dialog });
}
