import { cellsOf, isSimple } from '../../text/display-width.js';
import { type Background, backgrounds, type Line, type Span, span, type Tone, tones } from './span.js';
import type { Theme } from './theme.js';

/** A tone, a background and a link as one number, so that cells can be compared as numbers. */
export type Look = number;

/** Number of looks per link. */
const styles = tones.length * backgrounds.length;
/** The paths of links by number; 0 means no link. There are as many as links to runs have been shown. */
const paths = [''];
const pathNumbers = new Map([['', 0]]);

export function lookOf(tone: Tone, ground: Background = 'none', link = ''): Look {
  return pathNumber(link) * styles + groundNumbers[ground] * tones.length + toneNumbers[tone];
}

function pathNumber(path: string): number {
  let number = pathNumbers.get(path);
  if (number === undefined) pathNumbers.set(path, (number = paths.push(path) - 1));
  return number;
}

/** The tone and the background of a look. */
function partsOf(look: Look): { readonly tone: Tone; readonly ground: Background } {
  const style = styleOf(look);
  return { tone: tones[style % tones.length]!, ground: backgrounds[Math.floor(style / tones.length)]! };
}

/** The look on the terminal's own background, without a link. */
export function withoutGround(look: Look): Look {
  return lookOf(partsOf(look).tone);
}

/** A look without its link. */
export function styleOf(look: Look): Look {
  return look % styles;
}

/** The path of a look's link; empty if it has none. */
export function pathOf(look: Look): string {
  return paths[Math.floor(look / styles)]!;
}

/** Parameters of the escape code for a look; empty for the terminal's own. */
export function sgrOf(look: Look, theme: Theme): string {
  const { tone, ground } = partsOf(look);
  return theme.sgr(tone, ground);
}

/**
 * The tone with this name, since Ink's properties are strings; otherwise `otherwise`. Colours such as `red` or `#fff` are not
 * allowed in a themed window.
 */
export function toneNamed(name: string | undefined, otherwise: Tone): Tone {
  return name !== undefined && name in toneNumbers ? (name as Tone) : otherwise;
}

export function backgroundNamed(name: string | undefined, otherwise: Background): Background {
  return name !== undefined && name in groundNumbers ? (name as Background) : otherwise;
}

const toneNumbers = numbered(tones);
const groundNumbers = numbered(backgrounds);
export const plainLook = lookOf('plain');

function numbered<Word extends string>(words: readonly Word[]): Record<Word, number> {
  return Object.fromEntries(words.map((word, number) => [word, number])) as Record<Word, number>;
}

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
function codeOfComposed(glyph: string, width: 1 | 2): number {
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

/** Columns and rows; `right` and `bottom` are exclusive. */
export type Rect = { readonly left: number; readonly top: number; readonly right: number; readonly bottom: number };

/** Who painted a cell: 0 for Ink's boxes and texts, otherwise the number of a canvas. */
type Owner = number;

export function intersection(a: Rect, b: Rect): Rect {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}

/** Text with a single look. `owner`: of its cells; default: 0. */
type Piece = { readonly text: string; readonly look: Look; readonly owner?: Owner };

/** A picture of the screen or a part of it: glyph, look and owner of each cell, row by row. */
export class Cells {
  readonly width: number;
  readonly height: number;
  readonly glyphs: Uint32Array;
  readonly looks: Uint32Array;
  readonly owners: Uint8Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.glyphs = new Uint32Array(width * height).fill(space);
    this.looks = new Uint32Array(width * height).fill(plainLook);
    this.owners = new Uint8Array(width * height);
  }

  get rect(): Rect {
    return { left: 0, top: 0, right: this.width, bottom: this.height };
  }

  /** The code of the glyph in a cell. If one half of a wide glyph is covered, the other half is a space. */
  code(row: number, column: number): number {
    const at = row * this.width + column;
    const code = this.glyphs[at]!;
    if (code === continuation) return column > 0 && isWide(this.glyphs[at - 1]) ? code : space;
    if (code < firstComposed || !isWide(code)) return code;
    return column + 1 < this.width && this.glyphs[at + 1] === continuation ? code : space;
  }

  /** The picture as lines, with one span per look. */
  lines(): Line[] {
    return Array.from({ length: this.height }, (_, row) => this.#line(row));
  }

  #line(row: number): Line {
    const line: Span[] = [];
    for (let column = 0; column < this.width; column++) {
      const code = this.code(row, column);
      if (code === continuation) continue;
      const glyph = code < firstComposed ? String.fromCharCode(code) : composedGlyph(code);
      const { tone, ground } = partsOf(this.looks[row * this.width + column]!);
      const last = line.at(-1);
      if (last?.tone === tone && (last.ground ?? 'none') === ground)
        line[line.length - 1] = { ...last, text: last.text + glyph };
      else line.push(ground === 'none' ? span(glyph, tone) : { text: glyph, tone, ground });
    }
    return line;
  }

  copy(): Cells {
    const copy = new Cells(this.width, this.height);
    copy.glyphs.set(this.glyphs);
    copy.looks.set(this.looks);
    return copy;
  }

  clear(): void {
    this.glyphs.fill(space);
    this.looks.fill(plainLook);
    this.owners.fill(0);
  }

  fill({ left, top, right, bottom }: Rect, look: Look, owner: Owner = 0): void {
    for (let row = top; row < bottom; row++) {
      const [from, to] = [row * this.width + left, row * this.width + right];
      if (to <= from) return;
      this.glyphs.fill(space, from, to);
      this.looks.fill(look, from, to);
      this.owners.fill(owner, from, to);
    }
  }

  /** Writes text into a row from a column on, clipped to `clip`. @returns The column after it. */
  write(row: number, column: number, piece: Piece, clip: Rect): number {
    const { text, look, owner = 0 } = piece;
    if (row < clip.top || row >= clip.bottom) return column;
    if (!isSimple(text)) return this.#writeAny(row, column, piece, clip);
    const base = row * this.width;
    const end = Math.min(column + text.length, clip.right);
    for (let at = Math.max(column, clip.left); at < end; at++) {
      this.glyphs[base + at] = text.charCodeAt(at - column);
      this.looks[base + at] = look;
      this.owners[base + at] = owner;
    }
    return column + text.length;
  }

  #writeAny(row: number, start: number, { text, look, owner = 0 }: Piece, clip: Rect): number {
    const base = row * this.width;
    let column = start;
    for (const { glyph, width } of cellsOf(text)) {
      const isWhole = column >= clip.left && column + width <= clip.right;
      const code = isSimple(glyph) ? glyph.charCodeAt(0) : codeOfComposed(glyph, width);
      for (let part = 0; part < width; part++) {
        const at = column + part;
        if (at < clip.left || at >= clip.right) continue;
        // Half of a wide character is a space.
        this.glyphs[base + at] = !isWhole ? space : part === 0 ? code : continuation;
        this.looks[base + at] = look;
        this.owners[base + at] = owner;
      }
      column += width;
    }
    return column;
  }

  /** Copies the rows of a picture to `place`, limited to the cells of `owner`. */
  blit(from: Cells, place: Rect, owner: Owner, isWanted: (row: number) => boolean): void {
    const seen = intersection(place, this.rect);
    for (let row = seen.top; row < seen.bottom; row++) {
      if (!isWanted(row - place.top)) continue;
      const source = (row - place.top) * from.width - place.left;
      for (let column = seen.left; column < seen.right; column++) {
        const target = row * this.width + column;
        if (this.owners[target] !== owner) continue;
        this.glyphs[target] = from.glyphs[source + column]!;
        this.looks[target] = from.looks[source + column]!;
      }
    }
  }
}
