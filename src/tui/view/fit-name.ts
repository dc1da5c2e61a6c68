import { textWidth } from './display-width.js';
import { columnsOf, fit, plainText, span } from './span.js';

/** Columns of the beginning that are always left. */
const leastHead = 4;

/**
 * A name in exactly `width` columns. One that is too long loses its middle, so that its end can still be told from that
 * of its siblings: `A_bsweep_single_N1024_B8_s0` → `A_bswe…B8_s0`. `shared`: how much of it the siblings have in common.
 */
export function fitName(name: string, width: number, shared: number): string {
  const columns = textWidth(name);
  const own = columns - textWidth(name.slice(0, shared));
  if (columns <= width || shared <= leastHead || width < 2 * leastHead) return fit(name, width);
  const tail = Math.min(width - leastHead - 1, Math.max(own, Math.ceil((width - 1) / 2)));
  const line = [span(name)];
  const [head, end] = [columnsOf(line, 0, width - 1 - tail), columnsOf(line, columns - tail, columns)];
  return `${plainText(head)}…${plainText(end)}`;
}
