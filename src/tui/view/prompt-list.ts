import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import type { Offer } from '../prompt.js';
import { scrollTo } from '../scroll.js';
import { columnsOf, fit, type Line, lineWidth, onBackground, span } from './span.js';

const mostRows = 8;

/** The screen with what the prompt at its bottom can go on with, above the word it belongs to. `below`: rows of the prompt and what is under it. */
export function withOffer(
  screen: readonly Line[],
  offer: Offer,
  { column, below }: { readonly column: number; readonly below: number },
): readonly Line[] {
  const rows = Math.min(offer.candidates.length, mostRows, screen.length - below - 1);
  if (rows <= 0) return screen;
  const lines = offerLines(offer, rows);
  const width = lineWidth(screen[0]!);
  const inner = Math.min(width, Math.max(...lines.map(lineWidth)));
  const left = Math.max(0, Math.min(column - 1, width - inner));
  const top = screen.length - below - rows;
  return screen.map((line, row) => {
    const part = lines[row - top];
    if (part === undefined) return line;
    return [...columnsOf(line, 0, left), ...columnsOf(part, 0, inner), ...columnsOf(line, left + inner, width)];
  });
}

function offerLines({ candidates, chosen }: Offer, rows: number): Line[] {
  const top = scrollTo(chosen ?? 0, 0, rows, candidates.length);
  const shown = candidates.slice(top, top + rows).map(cleanText);
  const more = candidates.length - rows;
  const width = Math.min(60, Math.max(...shown.map(textWidth)));
  return shown.map((text, row) => {
    const isLast = row === rows - 1 && more > 0;
    const line: Line = [span(` ${fit(text, width)} `), ...(isLast ? [span(`+${more} `, 'dim')] : [])];
    return onBackground(line, top + row === chosen ? 'selected' : 'raised');
  });
}
