import { textWidth } from '../../text/display-width.js';
import { columnsOf, fit, plainText, span } from './span.js';

/** Columns of the beginning that are always left. */
const leastHead = 4;

/**
 * A name in exactly `width` columns. One that is too long loses its middle, for the end of a run's name is what tells it
 * from its siblings: `A_bsweep_single_N1024_B8_s0` → `A_bs…1024_B8_s0`. `shared`: how much of it they have in common.
 */
export function fitName(name: string, width: number, shared: number): string {
  const columns = textWidth(name);
  if (columns <= width || width < 2 * leastHead) return fit(name, width);
  const own = columns - textWidth(name.slice(0, shared));
  const half = Math.ceil((width - 1) / 2);
  // Names that differ early on have their beginning to tell them apart as well.
  const tail = shared <= leastHead ? half : Math.min(width - leastHead - 1, Math.max(own, half));
  const line = [span(name)];
  const [head, end] = [columnsOf(line, 0, width - 1 - tail), columnsOf(line, columns - tail, columns)];
  return `${plainText(head)}…${plainText(end)}`;
}
