import type { BoxProps } from 'ink';
import { createContext, use, useCallback, useSyncExternalStore } from 'react';
import { Canvas } from '../surface/canvas.js';
import type { OnDrag, OnHover, OnPoint, Size } from '../surface/surface.js';
import type { Line } from '../surface/span.js';
import type { ColumnWidths, PanePart } from '../state/pane-sizes.js';
import type { ScreenKind } from '../state/ui-state.js';
import type { WindowModel } from './window-model.js';

/** Where the components of the window get what to show, and report input. */
export type ModelSource = {
  readonly subscribe: (changed: () => void) => () => void;
  /** Returns the same object until something changes. */
  readonly model: () => WindowModel;
  /** Data of one screen; null while another one is shown. */
  readonly screenData: (kind: ScreenKind) => unknown;
  /** Handles a key by its name (`up`, `ctrl-l`, `K`). */
  readonly press: (key: string) => void;
  /** Handles one notch of the mouse wheel over something that scrolls. */
  readonly turn: (way: 'up' | 'down') => void;
  /** Handles a click on a row of the list, counted from 0. */
  readonly clickRow: (row: number) => void;
  /** Handles the pointer over a row of the list; null: over none. */
  readonly hoverRow: (row: number | null) => void;
  /** Handles a click on the heading of the list, which is `width` columns wide. */
  readonly clickHeading: (column: number, width: number) => void;
  /** Puts the boundary between two panes where it was dragged. */
  readonly resizePane: (part: PanePart, size: number) => void;
  /** Gives columns of the list the widths to which one was dragged. */
  readonly resizeColumns: (widths: ColumnWidths) => void;
  /** Handles a click on a row of the open menu. `index` counts all its rows; `key`: the key that chooses it. */
  readonly chooseRow: (index: number, key: string) => void;
};

export const ModelContext = createContext<ModelSource | null>(null);

export function useModelSource(): ModelSource {
  const source = use(ModelContext);
  if (source === null) throw new Error('This component lives in the window, below a <ModelContext>.');
  return source;
}

/** Selects a part of the model. `read` must return the same value while it has not changed, so that nothing is rendered. */
export function useModel<Value>(read: (model: WindowModel) => Value): Value {
  const source = useModelSource();
  return useSyncExternalStore(source.subscribe, () => read(source.model()));
}

export type DrawModel = (model: WindowModel, size: Size) => readonly Line[];

type Props = Omit<BoxProps, 'children'> & {
  /** Must be the same function while it draws the same. */
  readonly draw: DrawModel;
  readonly onPoint?: OnPoint | undefined;
  readonly onHover?: OnHover | undefined;
  readonly onDrag?: OnDrag | undefined;
};

/** A canvas drawn from the model whenever that changes, without a React commit. */
export function ModelCanvas({ draw, ...layout }: Props) {
  const source = useModelSource();
  const drawNow = useCallback((size: Size) => draw(source.model(), size), [source, draw]);
  return <Canvas {...layout} draw={drawNow} watch={source.subscribe} />;
}

type ScreenCanvasProps<Value> = Omit<Props, 'draw'> & {
  /** The data of the screen; null: another one is shown. */
  readonly read: () => Value | null;
  /** Must be the same function while it draws the same. */
  readonly draw: (value: Value, model: WindowModel, size: Size) => readonly Line[];
};

/** A canvas drawn from the data of its screen. */
export function ScreenCanvas<Value>({ read, draw, ...layout }: ScreenCanvasProps<Value>) {
  const drawNow = useCallback<DrawModel>(
    (model, size) => {
      const value = read();
      return value === null ? [] : draw(value, model, size);
    },
    [read, draw],
  );
  return <ModelCanvas {...layout} draw={drawNow} />;
}

type LiveLineProps = Omit<Props, 'draw'> & { readonly read: (model: WindowModel, width: number) => Line };

/** One row that changes often, redrawn without a React commit. `read` must be the same function, as above. */
export function LiveLine({ read, ...layout }: LiveLineProps) {
  const draw = useCallback<DrawModel>((model, { width }) => [read(model, width)], [read]);
  return <ModelCanvas height={1} flexShrink={0} {...layout} draw={draw} />;
}

/** A handler of the mouse wheel for what fills the window. */
export function useWheel(): OnPoint {
  const source = useModelSource();
  return useCallback(({ kind }) => (kind === 'click' ? undefined : source.turn(kind)), [source]);
}
