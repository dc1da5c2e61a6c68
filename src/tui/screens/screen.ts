import type { ComponentType } from 'react';
import type { KeyContext } from '../keys/key-context.js';
import type { KeyRow, KeyTable } from '../keys/key-row.js';
import type { History, Wanted } from '../model/history.js';
import type { ListModel } from '../model/list-model.js';
import type { TreeNode } from '../model/tree/branch.js';
import type { WindowModel } from '../model/window-model.js';
import type { FleetPort, RunFilesPort, MakeSummary } from '../state/port.js';
import type { ScreenKind, ScreenOf, UiState } from '../state/ui-state.js';
import type { Size } from '../surface/surface.js';

/** The inputs from which a screen computes its data. */
export type ScreenSource<Kind extends ScreenKind = ScreenKind> = {
  readonly ui: UiState;
  /** The state of this screen, which is the shown one. */
  readonly screen: ScreenOf<Kind>;
  readonly listModel: ListModel;
  /** The selected row of the list. */
  readonly node: TreeNode | undefined;
  readonly fleet: FleetPort;
  readonly history: History;
  /** Unix ms. */
  readonly now: number;
  /** Size of the area between header and footer, and whether the terminal is small (under 80 × 24). */
  readonly body: Size;
  readonly isSmall: boolean;
  readonly model: () => WindowModel;
};

/** Data of one screen, read by its component while it is shown. */
export type ScreenData<Kind extends ScreenKind, Value> = {
  /** The files to read. */
  readonly wanted: (source: ScreenSource<Kind>) => Wanted;
  /** What to draw. If that is expensive to compute, the same object while nothing has changed. */
  readonly read: (source: ScreenSource<Kind>) => Value;
  /** What its keys need to know: the rows of a page, and the data of its own key table. */
  readonly context: (
    source: ScreenSource<Kind>,
  ) => Pick<KeyContext, 'page'> & Partial<Pick<KeyContext, 'own' | 'charts' | 'xChoices' | 'boundary'>>;
  /** Called when the fleet has published something, whether the screen is shown or not. `now`: Unix ms. */
  readonly hear?: (fleet: FleetPort, now: number) => void;
  /** Called when another screen is shown, so that background reading can stop. */
  readonly rest?: () => void;
  readonly close?: () => void;
};

/** A screen, as its folder declares it. */
export type ScreenEntry<Kind extends ScreenKind, Value> = {
  /** The name of the screen in the documentation. */
  readonly name: string;
  readonly keys: KeyTable;
  /** The key that shows it from every other screen. A screen without one is opened from the selection. */
  readonly opener?: KeyRow;
  readonly data: (tools: ScreenTools) => ScreenData<Kind, Value>;
  /** Loads the component after the first picture, with Ink and React. */
  readonly component: () => Promise<ComponentType<ScreenProps>>;
};

/** What the data of a screen may need of the rest of the window. */
export type ScreenTools = {
  readonly files: RunFilesPort;
  /** Creates the table of a sweep's results. Absent: there is none. */
  readonly summary?: MakeSummary | undefined;
  /** Called when something was read, to redraw the screen. */
  readonly changed: () => void;
  /** Changes the state because of what was found. */
  readonly change: (edit: (ui: UiState) => UiState) => void;
};

/** Properties of a screen's component: the area between header and footer. */
export type ScreenProps = { readonly size: Size; readonly isSmall: boolean };

/** For screens that need only data from the supervisor. */
export const noFiles: Wanted = { metrics: [], log: null, logLines: 0 };
