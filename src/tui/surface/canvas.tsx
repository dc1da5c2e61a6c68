import { Box, type BoxProps, type DOMElement } from 'ink';
import { createContext, use, useLayoutEffect, useRef } from 'react';
import type { CanvasRecord, Draw, OnHover, OnPoint, Surface } from './surface.js';

export const SurfaceContext = createContext<Surface | null>(null);

export function useSurface(): Surface {
  const surface = use(SurfaceContext);
  if (surface === null) throw new Error('A <Canvas> lives in a <WindowRoot>.');
  return surface;
}

type Props = Omit<BoxProps, 'children'> & {
  /** The lines that fill the canvas, in the tones of the theme. Called when it is new or resized, when `draw` is another function, and when `watch` tells. */
  readonly draw: Draw;
  /** Tells when what is drawn has changed: then the canvas is drawn again without React. */
  readonly watch?: ((changed: () => void) => () => void) | undefined;
  readonly onPoint?: OnPoint | undefined;
  readonly onHover?: OnHover | undefined;
};

/** A box of Ink's layout whose cells are painted directly: for what is large, or changes by itself or with each key. */
export function Canvas({ draw, watch, onPoint, onHover, ...layout }: Props) {
  const surface = useSurface();
  const box = useRef<DOMElement>(null);
  const record = useRef<CanvasRecord>(null);
  // In layout effects: the frame that shows the box is already on its way.
  useLayoutEffect(() => {
    const node = box.current!;
    record.current = surface.addCanvas(node, draw);
    return () => surface.removeCanvas(node);
  }, [surface]);
  useLayoutEffect(() => {
    record.current!.draw = draw;
    surface.redraw(record.current!);
  }, [surface, draw]);
  useLayoutEffect(() => void Object.assign(record.current!, { onPoint, onHover }));
  useLayoutEffect(() => watch?.(() => surface.redraw(record.current!)), [surface, watch]);
  return <Box ref={box} {...layout} />;
}
