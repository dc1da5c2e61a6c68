import { useWheel } from '../model/use-model.js';
import { Canvas } from '../surface/canvas.js';
import { columnsOf, type Line } from '../surface/span.js';

type Props = {
  readonly lines: readonly Line[];
  readonly width: number;
  readonly height: number;
  /** First visible line. `left`: first visible column. */
  readonly top: number;
  readonly left?: number;
};

/** The visible part of a long text; the mouse wheel scrolls it. */
export function ScrollText({ lines, width, height, top, left = 0 }: Props) {
  const wheel = useWheel();
  const draw = () => lines.slice(top, top + height).map((line) => columnsOf(line, left, left + width));
  return <Canvas {...{ width, height, draw }} flexShrink={0} onPoint={wheel} />;
}
