import type { KeyContext } from '../keys/key-context.js';
import type { History, Wanted } from '../model/history.js';
import type { ListModel } from '../model/list-model.js';
import type { TreeNode } from '../model/tree/branch-index.js';
import type { WindowModel } from '../model/window-model.js';
import type { FleetPort, RunFilesPort } from '../state/port.js';
import type { MakeSummary } from '../state/summary-port.js';
import type { Screen, ScreenKind, UiState } from '../state/ui-state.js';
import type { Size } from '../surface/surface.js';

/** What the data of a screen is put together from, at one moment. */
export type ScreenSource<Kind extends ScreenKind = ScreenKind> = {
  readonly ui: UiState;
  /** The state of this screen, which is the one that is shown. */
  readonly screen: Extract<Screen, { kind: Kind }>;
  readonly scene: ListModel;
  /** The selected row of the list. */
  readonly node: TreeNode | undefined;
  readonly fleet: FleetPort;
  readonly history: History;
  /** Unix ms. */
  readonly now: number;
  /** The room between header and footer, and whether it is a small one (under 80 × 24). */
  readonly body: Size;
  readonly isSmall: boolean;
  readonly model: () => WindowModel;
};

/** What only one screen shows: read while it is shown, by its component alone. */
export type ScreenData<Kind extends ScreenKind, Value> = {
  /** The files to read. */
  readonly wanted: (source: ScreenSource<Kind>) => Wanted;
  /** What there is to draw. The same for as long as nothing of it has changed, if that is dear. */
  readonly read: (source: ScreenSource<Kind>) => Value;
  /** What its keys need to know: the rows of a page, and what its own table looks at. */
  readonly context: (
    source: ScreenSource<Kind>,
  ) => Pick<KeyContext, 'page'> & Partial<Pick<KeyContext, 'own' | 'charts' | 'xChoices'>>;
  /** The fleet has published something, whether the screen is shown or not. `now`: Unix ms. */
  readonly hear?: (fleet: FleetPort, now: number) => void;
  /** Another screen is shown: what is read in the background can stop. */
  readonly rest?: () => void;
  readonly close?: () => void;
};

/** What the data of a screen may need of the window besides. */
export type ScreenTools = {
  readonly files: RunFilesPort;
  /** The table of what the runs of a sweep came to. Absent: there is none. */
  readonly summary?: MakeSummary | undefined;
  /** Something was read: the screen is to be drawn again. */
  readonly changed: () => void;
  /** Changes the state because of what was found. */
  readonly change: (edit: (ui: UiState) => UiState) => void;
};

/** What the component of a screen is told. `read`: its data; null once another screen is shown. */
export type ScreenProps<Value = unknown> = {
  readonly size: Size;
  readonly isSmall: boolean;
  readonly read: () => Value | null;
};

/** For a screen that is drawn from what the supervisor tells. */
export const noFiles: Wanted = { metrics: [], log: null, logLines: 0 };
