import type { DOMElement } from 'ink';
import type { Theme } from './theme.js';
import { type Background, fitLine, type Line } from './span.js';
import { backgroundNamed, type Cells, intersection, lookOf, type Rect, toneNamed } from './cells.js';
import { borderOf, isElement, isHidden, placeOf, spansOf } from './ink-tree.js';

/** Called for each canvas the painter visits; records its position. */
type CanvasLookup = (
  node: DOMElement,
) => { readonly owner: number; place: Rect; ground: Background; lines: readonly Line[]; isStale: boolean } | undefined;

/** What a node inherits from its ancestors. */
type Around = {
  readonly x: number;
  readonly y: number;
  readonly clip: Rect;
  readonly ground: Background;
  /** Of the innermost box around that hears the mouse; 0: none. */
  readonly owner: number;
};

const rounded = { topLeft: '╭', top: '─', topRight: '╮', side: '│', bottomLeft: '╰', bottomRight: '╯' } as const;

/**
 * Paints Ink's boxes and texts into cells in the order of the tree, later nodes over earlier ones.
 *
 * For a canvas it only records the position and marks the cells as the canvas's own; a later dialog takes over the cells that it
 * covers.
 */
export class TreePainter {
  readonly #cells: Cells;
  readonly #theme: Theme;
  readonly #canvasOf: CanvasLookup;

  constructor(cells: Cells, theme: Theme, canvasOf: CanvasLookup) {
    this.#cells = cells;
    this.#theme = theme;
    this.#canvasOf = canvasOf;
  }

  paint(root: DOMElement): void {
    this.#cells.clear();
    this.#paintNode(root, { x: 0, y: 0, clip: this.#cells.rect, ground: 'none', owner: 0 });
  }

  #paintNode(node: DOMElement, around: Around): void {
    if (isHidden(node)) return;
    const { left, top, width, height } = placeOf(node);
    const [x, y] = [around.x + left, around.y + top];
    const place = { left: x, top: y, right: x + width, bottom: y + height };
    if (node.nodeName === 'ink-text') this.#paintText(node, place, around);
    else this.#paintBox(node, place, around);
  }

  #paintBox(node: DOMElement, place: Rect, around: Around): void {
    const { backgroundColor, overflow } = node.style;
    const ground = backgroundNamed(backgroundColor, around.ground);
    const seen = intersection(place, around.clip);
    if (backgroundColor !== undefined) this.#cells.fill(seen, lookOf('plain', ground), around.owner);
    if (node.style.borderStyle !== undefined) this.#paintBorder(node, place, { ...around, ground });
    const canvas = this.#canvasOf(node);
    if (canvas !== undefined) {
      if (canvas.ground !== ground) [canvas.isStale, canvas.lines] = [true, []];
      [canvas.place, canvas.ground] = [place, ground];
      this.#cells.fill(seen, lookOf('plain', ground), canvas.owner);
    }
    const owner = canvas?.owner ?? around.owner;
    const clip = overflow === 'hidden' ? intersection(inner(place, borderOf(node)), around.clip) : around.clip;
    for (const child of node.childNodes) {
      if (isElement(child)) this.#paintNode(child, { x: place.left, y: place.top, clip, ground, owner });
    }
  }

  /** Paints the border. The window only uses round corners; Ink's other styles are not supported. */
  #paintBorder(node: DOMElement, { left, top, right, bottom }: Rect, { clip, ground }: Around): void {
    const look = lookOf(toneNamed(node.style.borderColor, 'dim'), ground);
    const has = borderOf(node);
    const rule = rounded.top.repeat(Math.max(0, right - left - has.left - has.right));
    const put = (x: number, y: number, text: string): void => {
      this.#cells.write(y, x, { text: this.#theme.glyphs(text), look }, clip);
    };
    const corner = (isThere: number, glyph: string): string => (isThere > 0 ? glyph : '');
    if (has.top > 0) put(left, top, corner(has.left, rounded.topLeft) + rule + corner(has.right, rounded.topRight));
    for (let row = top + has.top; row < bottom - has.bottom; row++) {
      if (has.left > 0) put(left, row, rounded.side);
      if (has.right > 0) put(right - 1, row, rounded.side);
    }
    if (has.bottom > 0)
      put(left, bottom - 1, corner(has.left, rounded.bottomLeft) + rule + corner(has.right, rounded.bottomRight));
  }

  /** Paints one row. Text of several rows is wrapped by `<Paragraph>`, by the rules of the rest of the window. */
  #paintText(node: DOMElement, place: Rect, { clip, ground, owner }: Around): void {
    if (place.top < clip.top || place.top >= clip.bottom) return;
    let column = place.left;
    for (const { text, tone, ground: lies = ground, link } of fitLine(
      spansOf(node, ground),
      place.right - place.left,
    )) {
      const piece = { text: this.#theme.glyphs(text, tone), look: lookOf(tone, lies, link), owner };
      column = this.#cells.write(place.top, column, piece, clip);
    }
  }
}

function inner({ left, top, right, bottom }: Rect, border: ReturnType<typeof borderOf>): Rect {
  return {
    left: left + border.left,
    top: top + border.top,
    right: right - border.right,
    bottom: bottom - border.bottom,
  };
}
