import { PassThrough } from 'node:stream';
import { Box, type BoxProps, type DOMElement, type Instance, render } from 'ink';
import {
  Component,
  createContext,
  type ReactNode,
  use,
  useCallback,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { CanvasRecord, Draw, OnDrag, OnHover, OnPoint, Surface } from './surface.js';
import { rootOf } from './ink-tree.js';

const SurfaceContext = createContext<Surface | null>(null);

export function useSurface(): Surface {
  const surface = use(SurfaceContext);
  if (surface === null) throw new Error('A <Canvas> lives in a <WindowRoot>.');
  return surface;
}

/** What is done with the mouse on a box. */
type Pointing = {
  readonly onPoint?: OnPoint | undefined;
  readonly onHover?: OnHover | undefined;
  readonly onDrag?: OnDrag | undefined;
};

/** Registers a box with the surface. `draw` null: components below it draw, and the box only hears the mouse. */
function useRecord(draw: Draw | null, pointing: Pointing) {
  const surface = useSurface();
  const box = useRef<DOMElement>(null);
  const record = useRef<CanvasRecord>(null);
  // These are layout effects, because the frame that shows the new box is already scheduled.
  useLayoutEffect(() => {
    const node = box.current!;
    record.current = surface.addCanvas(node, draw);
    return () => surface.removeCanvas(node);
  }, [surface]);
  useLayoutEffect(() => void Object.assign(record.current!, pointing));
  return { surface, box, record };
}

type CanvasProps = Omit<BoxProps, 'children'> &
  Pointing & {
    /**
     * Returns the lines that fill the canvas, in tones of the theme. Called when the canvas is new or resized, when `draw` is a
     * different function, and when `watch` calls back.
     */
    readonly draw: Draw;
    /** Subscribes to changes of the contents, after which the canvas is redrawn without React. */
    readonly watch?: ((changed: () => void) => () => void) | undefined;
  };

/** A box of Ink's layout whose cells are painted directly, for contents that are large or change by themselves or with each key. */
export function Canvas({ draw, watch, onPoint, onHover, onDrag, ...layout }: CanvasProps) {
  const { surface, box, record } = useRecord(draw, { onPoint, onHover, onDrag });
  useLayoutEffect(() => {
    record.current!.draw = draw;
    surface.redraw(record.current!);
  }, [surface, draw]);
  useLayoutEffect(() => watch?.(() => surface.redraw(record.current!)), [surface, watch]);
  return <Box ref={box} {...layout} />;
}

/** A box of components that hears the mouse where no canvas in it does. */
export function Pointable({
  onPoint,
  onHover,
  onDrag,
  ...layout
}: BoxProps & Pointing & { readonly children: ReactNode }) {
  const { box } = useRecord(null, { onPoint, onHover, onDrag });
  return <Box ref={box} {...layout} />;
}

/** A mounted window. */
export type MountedWindow = Pick<Instance, 'unmount'> & {
  /** Commits at once what would otherwise be committed at the end of the turn. */
  readonly flush: () => void;
};

/** Mounts components on a surface: Ink reconciles and lays out, the surface draws. */
export function mountWindow(children: ReactNode, surface: Surface, onError: (error: unknown) => void): MountedWindow {
  const window = (
    <Boundary onError={onError}>
      <WindowRoot surface={surface}>{children}</WindowRoot>
    </Boundary>
  );
  const streams = { stdout: silentOutput(surface), stdin: silentInput() };
  const ink = render(window, { ...streams, exitOnCtrlC: false, patchConsole: false });
  ink.waitUntilExit().catch(onError);
  return { unmount: ink.unmount, flush: () => ink.rerender(window) };
}

/** The whole screen. Its first, empty commit takes over drawing from Ink; only then the contents are rendered. */
function WindowRoot({ surface, children }: { readonly surface: Surface; readonly children: ReactNode }) {
  const size = useSyncExternalStore(surface.onResize, surface.size);
  const [isAttached, setIsAttached] = useState(false);
  const attach = useCallback(
    (box: DOMElement | null): void => {
      if (box !== null) surface.attach(rootOf(box));
    },
    [surface],
  );
  useLayoutEffect(() => setIsAttached(true), []);
  return (
    <SurfaceContext value={surface}>
      <Box ref={attach} flexDirection="column" {...(isAttached ? size : {})}>
        {isAttached && children}
      </Box>
    </SurfaceContext>
  );
}

type BoundaryProps = { readonly onError: (error: unknown) => void; readonly children: ReactNode };

/**
 * Closes the window when a component throws. Ink's own boundary would draw the error, and in Ink 6 lose it if it happens at once.
 */
class Boundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(error: unknown): void {
    this.props.onError(error);
  }

  override render(): ReactNode {
    return this.state.hasFailed ? null : this.props.children;
  }
}

/** The terminal that Ink sees. Not writable, so that unmounting Ink does not write a last frame. */
function silentOutput(surface: Surface): NodeJS.WriteStream {
  const output = {
    get columns() {
      return surface.size().width;
    },
    get rows() {
      return surface.size().height;
    },
    ...{ isTTY: false, writable: false, write: () => true, on: () => output, off: () => output },
  };
  return output as unknown as NodeJS.WriteStream;
}

/**
 * The input that Ink sees, which never sends anything: Ink would take a paste, a click or a split sequence for keys that nobody
 * pressed.
 */
function silentInput(): NodeJS.ReadStream {
  return Object.assign(new PassThrough(), { isTTY: false }) as unknown as NodeJS.ReadStream;
}
