import { columnsOf, fitLine, type Line, lineWidth, span } from './span.js';

/** Lays a framed box over the middle of a screen of `width` columns. Lines that do not fit into it are not shown. */
export function overlay(screen: readonly Line[], title: string, lines: readonly Line[], width: number): Line[] {
  const inner = Math.max(0, Math.min(width - 4, Math.max(title.length + 2, ...lines.map(lineWidth))));
  const box = boxOf(title, lines.slice(0, Math.max(0, screen.length - 2)), inner);
  const top = Math.max(0, (screen.length - box.length) >> 1);
  const left = Math.max(0, (width - inner - 4) >> 1);
  return screen.map((line, row) => {
    const part = box[row - top];
    if (part === undefined) return line;
    return [...columnsOf(line, 0, left), ...part, ...columnsOf(line, left + inner + 4, width)];
  });
}

function boxOf(title: string, lines: readonly Line[], inner: number): Line[] {
  const edge = '─'.repeat(Math.max(0, inner - title.length - 1));
  const box: Line[] = [
    [span('╭─ ', 'dim'), span(title, 'title'), span(` ${edge}╮`, 'dim')],
    ...lines.map((line): Line => [span('│ ', 'dim'), ...fitLine(line, inner), span(' │', 'dim')]),
    [span(`╰${'─'.repeat(inner + 2)}╯`, 'dim')],
  ];
  // What stands out in the box keeps its own ground.
  return box.map((line) => line.map((piece) => ({ ground: 'raised', ...piece })));
}
