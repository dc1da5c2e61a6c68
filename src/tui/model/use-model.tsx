import { type BoxProps, type DOMElement, measureElement } from 'ink';
import {
  createContext,
  type RefObject,
  use,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { Memoized } from '../../base/memo.js';
import { Canvas } from '../surface/ink-window.js';
import type { OnDrag, OnHover, OnPoint, Size } from '../surface/surface.js';
import type { Line } from '../surface/span.js';
import type { ColumnWidths, PanePart } from '../state/preferences-port.js';
import type { Screen, ScreenKind, ScreenOf } from '../state/ui-state.js';
import type { TreeNode } from './tree/branch.js';
import { selectedNode, type WindowModel } from './window-model.js';

/** Number of rows of something that is scrolled, and of those that are visible. */
export type Extent = { readonly length: number; readonly page: number };

/** Where the components of the window get what to show, and report input. */
export type ModelSource = {
  readonly subscribe: (changed: () => void) => () => void;
  /** Returns the same object until something changes. */
  readonly model: () => WindowModel;
  /** Data of one screen; null while another one is shown. */
  readonly screenData: (kind: ScreenKind) => unknown;
  /** Reports the extent of what is scrolled on the shown screen, once it is laid out; keys need it. */
  readonly laidOut: (extent: Extent) => void;
  /** Handles a key by its name (`up`, `ctrl-l`, `K`). */
  readonly press: (key: string) => void;
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

/** The state of the shown screen. */
export function useScreen<Kind extends ScreenKind>(kind: Kind): ScreenOf<Kind> {
  // The last one of its own while another screen takes its place.
  const own = useRef<Screen>(null);
  return useModel(
    ({ ui: { screen } }) => (own.current = screen.kind === kind ? screen : own.current),
  ) as ScreenOf<Kind>;
}

/** What the shown screen has read for itself. */
export function useScreenData<Value>(kind: ScreenKind): Value {
  const source = useModelSource();
  return useSyncExternalStore(source.subscribe, () => source.screenData(kind)) as Value;
}

/** A part of all runs of the supervisor, whatever sweep or filter is shown. Computed again when the supervisor has published. */
export function useRuns<Value>(select: (runs: WindowModel['allRuns']) => Value): Value {
  const memo = useRef(new Memoized<Value>());
  return useModel(({ allRuns, published }) => memo.current.value([published, select], () => select(allRuns)));
}

/** The selected run or group; undefined: the list is empty. */
export function useSelection(): TreeNode | undefined {
  return useModel(selectedNode);
}

/** The curves that have been read of the selection, and how they are drawn. */
export function useCurves(): WindowModel['detail'] {
  return useModel(({ detail }) => detail);
}

/** Reports the extent of what is scrolled to the keys; null: keys do not scroll it. */
export function useReported(extent: Extent | null): void {
  const source = useModelSource();
  useLayoutEffect(() => {
    if (extent !== null) source.laidOut(extent);
  });
}

/**
 * The number of rows of something that is scrolled, measured when it has been laid out, for itself and for the keys.
 *
 * @param page Number of visible rows.
 * @param isScrolled Whether keys scroll it.
 */
export function useExtent(
  page: number,
  isScrolled = true,
): { readonly box: RefObject<DOMElement | null>; readonly length: number } {
  const box = useRef<DOMElement>(null);
  const [length, setLength] = useState(0);
  useLayoutEffect(() => setLength(measureElement(box.current!).height));
  useReported(isScrolled ? { length, page } : null);
  return { box, length };
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

type LiveLineProps = Omit<Props, 'draw'> & { readonly read: (model: WindowModel, width: number) => Line };

/** One row that changes often, redrawn without a React commit. `read` must be the same function, as above. */
export function LiveLine({ read, ...layout }: LiveLineProps) {
  const draw = useCallback<DrawModel>((model, { width }) => [read(model, width)], [read]);
  return <ModelCanvas height={1} flexShrink={0} {...layout} draw={draw} />;
}
