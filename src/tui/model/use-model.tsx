import type { BoxProps } from 'ink';
import { createContext, use, useCallback, useSyncExternalStore } from 'react';
import { Canvas } from '../surface/canvas.js';
import type { OnHover, OnPoint, Size } from '../surface/surface.js';
import type { Line } from '../surface/span.js';
import type { ScreenKind } from '../state/ui-state.js';
import type { WindowModel } from './window-model.js';

/** Where the components of the window learn what to show, and what they can ask for. */
export type ModelSource = {
  readonly subscribe: (changed: () => void) => () => void;
  /** The same object until something changes. */
  readonly model: () => WindowModel;
  /** What only this screen shows; null while another one is shown. */
  readonly screenData: (kind: ScreenKind) => unknown;
  /** As if a key had been pressed, by its name (`up`, `ctrl-l`, `K`). */
  readonly press: (key: string) => void;
  /** A notch of the wheel over something that scrolls. */
  readonly turn: (way: 'up' | 'down') => void;
  /** A click on a row of the list, counted from 0. */
  readonly clickRow: (row: number) => void;
  /** The pointer is over a row of the list; null: over none. */
  readonly hoverRow: (row: number | null) => void;
  /** A click on the heading of the list, which is `width` columns wide. */
  readonly clickHeading: (column: number, width: number) => void;
  /** A click on a row of the open menu, of all its rows, and the key that stands for it. */
  readonly chooseRow: (index: number, key: string) => void;
};

export const ModelContext = createContext<ModelSource | null>(null);

export function useModelSource(): ModelSource {
  const source = use(ModelContext);
  if (source === null) throw new Error('This component lives in the window, below a <ModelContext>.');
  return source;
}

/** Part of what the window shows. `read` gives the same value for as long as it has not changed: then nothing is rendered. */
export function useModel<Value>(read: (model: WindowModel) => Value): Value {
  const source = useModelSource();
  return useSyncExternalStore(source.subscribe, () => read(source.model()));
}

export type DrawModel = (model: WindowModel, size: Size) => readonly Line[];

type Props = Omit<BoxProps, 'children'> & {
  /** The same function for as long as it draws the same. */
  readonly draw: DrawModel;
  readonly onPoint?: OnPoint | undefined;
  readonly onHover?: OnHover | undefined;
};

/** A canvas that is drawn from the model of the window whenever that changes, without a commit of React. */
export function ModelCanvas({ draw, ...layout }: Props) {
  const source = useModelSource();
  const drawNow = useCallback((size: Size) => draw(source.model(), size), [source, draw]);
  return <Canvas {...layout} draw={drawNow} watch={source.subscribe} />;
}

type ScreenCanvasProps<Value> = Omit<Props, 'draw'> & {
  /** The data of the screen; null once another one is shown. */
  readonly read: () => Value | null;
  /** The same function for as long as it draws the same. */
  readonly draw: (value: Value, model: WindowModel, size: Size) => readonly Line[];
};

/** A canvas that is drawn from what only its screen shows. */
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

/** One row that changes with each key or by itself, without a commit of React. `read`: the same function, as above. */
export function LiveLine({ read, ...layout }: LiveLineProps) {
  const draw = useCallback<DrawModel>((model, { width }) => [read(model, width)], [read]);
  return <ModelCanvas height={1} flexShrink={0} {...layout} draw={draw} />;
}

/** A turn of the wheel scrolls what has the window to itself. */
export function useWheel(): OnPoint {
  const source = useModelSource();
  return useCallback(({ kind }) => (kind === 'click' ? undefined : source.turn(kind)), [source]);
}
