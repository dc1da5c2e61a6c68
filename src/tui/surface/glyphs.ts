/**
 * Codes of glyphs in a cell: the UTF-16 unit of a simple glyph; the following two for the second column of a wide glyph, and for an
 * unknown one.
 */
export const continuation = 0;
export const unknown = 0xffff_ffff;
export const space = 0x20;
/** Codes above every UTF-16 unit are for glyphs of several units or columns. */
export const firstComposed = 0x1_0000;

const composed: { readonly glyph: string; readonly width: 1 | 2 }[] = [];
const codes = new Map<string, number>();

/** A number for a glyph without a simple code, so that cells can be compared as numbers. */
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

/** Whether a glyph also fills the next cell. */
export function isWide(code: number | undefined): boolean {
  return code !== undefined && code >= firstComposed && composed[code - firstComposed]?.width === 2;
}

/** Whether a glyph can be part of a plot: dots, band filling, or space. */
export function isPlotGlyph(code: number): boolean {
  return code === space || code === 0x2591 || (code >= 0x2800 && code <= 0x28ff);
}
