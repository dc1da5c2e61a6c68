/** Codes of glyphs in a cell: the UTF-16 unit of a simple one; below, the second column of a wide one, and what is not known. */
export const continuation = 0;
export const unknown = 0xffff_ffff;
export const space = 0x20;
/** Above every UTF-16 unit: glyphs that are more than one unit, or more than one column. */
export const firstComposed = 0x1_0000;

const composed: { readonly glyph: string; readonly width: 1 | 2 }[] = [];
const codes = new Map<string, number>();

/** A number for a glyph that has none of its own, so that cells are compared as numbers. */
export function codeOfComposed(glyph: string, width: 1 | 2): number {
  let code = codes.get(glyph);
  if (code === undefined) {
    code = firstComposed + composed.length;
    composed.push({ glyph, width });
    codes.set(glyph, code);
  }
  return code;
}

export function composedGlyph(code: number): string {
  return composed[code - firstComposed]!.glyph;
}

/** Whether a glyph fills the cell after it, too. */
export function isWide(code: number | undefined): boolean {
  return code !== undefined && code >= firstComposed && composed[code - firstComposed]?.width === 2;
}

/** Whether a plot is drawn of it: dots, what fills a band, and nothing at all. */
export function isPlotGlyph(code: number): boolean {
  return code === space || code === 0x2591 || (code >= 0x2800 && code <= 0x28ff);
}
