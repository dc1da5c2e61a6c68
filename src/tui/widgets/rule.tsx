import { Canvas } from '../surface/canvas.js';
import type { Draw, OnDrag } from '../surface/surface.js';
import { span } from '../surface/span.js';

type Props = { readonly height: number; readonly onDrag: OnDrag };

/** A vertical line between two panes, with a column of space on each side. */
export function Rule({ height, onDrag }: Props) {
  return <Canvas width={3} height={height} flexShrink={0} draw={draw} onDrag={onDrag} />;
}

const line = [span(' │ ', 'faint')];
const draw: Draw = ({ height }) => Array.from({ length: height }, () => line);
