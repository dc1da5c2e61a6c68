import { Canvas } from '../surface/canvas.js';
import type { Draw } from '../surface/surface.js';
import { span } from '../surface/span.js';

/** A vertical line between two panes, with a column of space on each side. */
export function Rule({ height }: { readonly height: number }) {
  return <Canvas width={3} height={height} flexShrink={0} draw={draw} />;
}

const line = [span(' │ ', 'faint')];
const draw: Draw = ({ height }) => Array.from({ length: height }, () => line);
