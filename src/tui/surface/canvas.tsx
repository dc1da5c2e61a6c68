import { Box, type BoxProps, type DOMElement } from 'ink';
import { createContext, type ReactNode, use, useLayoutEffect, useRef } from 'react';
import type { CanvasRecord, Draw, OnDrag, OnHover, OnPoint, Surface } from './surface.js';

export const SurfaceContext = createContext<Surface | null>(null);

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
