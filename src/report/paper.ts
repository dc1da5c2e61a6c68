import { plainAscii } from '../text/ascii.js';
import { lineText } from '../text/display-text.js';
import { type Column, tableLines } from '../text/table.js';

/** What a report is laid out for. `width` in columns. */
type Look = { readonly width: number; readonly ascii: boolean };

/** Columns of tables and of prose, and how text is spelt: before widths are measured, as a substitute may be longer. */
export type Paper = { readonly width: number; readonly prose: number; readonly spell: (text: string) => string };

const WIDEST_PROSE = 140;

export function paperOf({ width, ascii }: Look): Paper {
  const spell = ascii ? (text: string) => plainAscii(lineText(text)) : lineText;
  return { width, prose: Math.min(width, WIDEST_PROSE), spell };
}

/** The lines of a table with its text spelt. */
export function speltTable(columns: readonly Column[], { width, spell }: Paper): string[] {
  const spelt = columns.map((column) => ({ ...column, title: spell(column.title), cells: column.cells.map(spell) }));
  return tableLines(spelt, width);
}
