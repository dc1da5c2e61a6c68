import { columnsOf, fit, fitLine, type Line, lineWidth, span } from '../widgets/span.js';

/** A framed text over a screen. `below`: lines of it that are not shown. */
export type Box = { readonly title: string; readonly lines: readonly Line[]; readonly below: number };

/** Columns of a box that are not its text. */
export const boxFrame = 4;

/** Lays a box over the middle of a screen of `width` columns. Lines that do not fit into it are not shown. */
export function overlay(screen: readonly Line[], box: Box, width: number): Line[] {
  const wanted = Math.max(box.title.length + 2, ...box.lines.map(lineWidth));
  // A box that would leave only slivers of the screen beside it takes them too.
  const inner = Math.max(0, wanted > width - 12 ? width - boxFrame : wanted);
  const drawn = drawBox({ ...box, lines: box.lines.slice(0, Math.max(0, screen.length - 2)) }, inner);
  const top = Math.max(0, (screen.length - drawn.length) >> 1);
  const left = Math.max(0, (width - inner - boxFrame) >> 1);
  return screen.map((line, row) => {
    const part = drawn[row - top];
    if (part === undefined) return line;
    return [...columnsOf(line, 0, left), ...part, ...columnsOf(line, left + inner + boxFrame, width)];
  });
}

function drawBox({ title, lines, below }: Box, inner: number): Line[] {
  const name = fit(title, Math.min(title.length, inner - 2));
  const more = below > 0 ? ` ${below} more ↓ ` : '';
  const box: Line[] = [
    [span('╭─ ', 'dim'), span(name, 'title'), span(` ${rule(inner - name.length - 1)}╮`, 'dim')],
    ...lines.map((line): Line => [span('│ ', 'dim'), ...fitLine(line, inner), span(' │', 'dim')]),
    [span(`╰${rule(inner + 1 - more.length)}`, 'dim'), span(more, 'accent'), span('─╯', 'dim')],
  ];
  // What stands out in the box keeps its own ground.
  return box.map((line) => line.map((piece) => ({ ground: 'raised', ...piece })));
}

function rule(width: number): string {
  return '─'.repeat(Math.max(0, width));
}
