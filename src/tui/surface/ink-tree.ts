/**
 * Everything the window knows of Ink beyond its documented components: the tree of its reconciler, and the painter that walks it.
 *
 * Fields used, unchanged from Ink 3 to 8: `nodeName`, `parentNode`, `childNodes`, `nodeValue`, `style`, `yogaNode`,
 * `internal_transform`, and `onRender` of the root, which the reconciler calls after each commit and its layout.
 */
import type { DOMElement } from 'ink';
import { type Background, fitLine, type Line, span, type Span, type Tone } from './span.js';
import type { Theme } from './theme.js';
import { backgroundNamed, type Cells, intersection, lookOf, type Rect, toneNamed } from './cells.js';

type InkNode = DOMElement['childNodes'][number];
type Transform = NonNullable<DOMElement['internal_transform']>;

/** Value of Yoga's `Display`. */
const displayNone = 1;
/** Values of Yoga's `Edge`. */
const edges = { left: 0, top: 1, right: 2, bottom: 3 } as const;

export function rootOf(element: DOMElement): DOMElement {
  let node = element;
  while (node.parentNode !== undefined) node = node.parentNode;
  if (node.nodeName !== 'ink-root' || typeof node.onRender !== 'function' || node.yogaNode === undefined)
    throw new Error('This version of Ink keeps its tree in another way: see surface/ink-tree.ts.');
  return node;
}

/** Makes Ink lay out without drawing: `committed` is called instead. */
export function takeOverDrawing(root: DOMElement, committed: () => void): void {
  root.onRender = committed;
}

function isElement(node: InkNode): node is DOMElement {
  return node.nodeName !== '#text';
}

function isHidden(node: DOMElement): boolean {
  return node.yogaNode === undefined || Number(node.yogaNode.getDisplay()) === displayNone;
}

/** Position and size of the node within its parent. */
function placeOf({ yogaNode }: DOMElement): { left: number; top: number; width: number; height: number } {
  if (yogaNode === undefined) return { left: 0, top: 0, width: 0, height: 0 };
  return {
    left: yogaNode.getComputedLeft(),
    top: yogaNode.getComputedTop(),
    width: yogaNode.getComputedWidth(),
    height: yogaNode.getComputedHeight(),
  };
}

/** Width of the border on each side: 0 or 1. */
function borderOf({ yogaNode }: DOMElement): Record<keyof typeof edges, number> {
  const at = (side: keyof typeof edges): number => yogaNode?.getComputedBorder(edges[side]) ?? 0;
  return { left: at('left'), top: at('top'), right: at('right'), bottom: at('bottom') };
}

const looks = new WeakMap<Transform, { readonly tone: Tone; readonly ground: Background | undefined }>();
const lines = new WeakMap<Transform, Line>();

/** A transform that changes nothing and carries a look to `spansOf`, since an Ink text cannot carry anything else. */
export function lookCarrier(tone: Tone, ground: Background | undefined): (text: string) => string {
  const carrier = (text: string): string => text;
  looks.set(carrier, { tone, ground });
  return carrier;
}

/** The element of Ink's tree that a text is, and its layout. */
export const textElement = 'ink-text';
/** `fitting`: as wide as its text, or less; `row`: as wide as its box and one row high, so that the layout measures no text. */
export const textStyles = {
  fitting: { flexGrow: 0, flexShrink: 1, flexDirection: 'row', textWrap: 'truncate' },
  row: { flexShrink: 0, height: 1, textWrap: 'truncate' },
} as const;

/** The same for a whole line, so that a text needs no nested text for each of its spans. */
export function lineCarrier(line: Line): (text: string) => string {
  const carrier = (text: string): string => text;
  lines.set(carrier, line);
  return carrier;
}

/** The contents of a text with looks. `ground`: the background below it. */
function spansOf(text: DOMElement, ground: Background): Line {
  const spans: Span[] = [];
  collect(text, { tone: 'plain', ground }, spans);
  return spans;
}

function collect(
  node: DOMElement,
  inherited: { readonly tone: Tone; readonly ground: Background },
  spans: Span[],
): void {
  const own = node.internal_transform === undefined ? undefined : looks.get(node.internal_transform);
  const look = own === undefined ? inherited : { tone: own.tone, ground: own.ground ?? inherited.ground };
  const line = node.internal_transform === undefined ? undefined : lines.get(node.internal_transform);
  if (line !== undefined) return void line.forEach((each) => spans.push({ ground: look.ground, ...each }));
  for (const child of node.childNodes) {
    if (isElement(child)) collect(child, look, spans);
    else if (child.nodeValue !== '') spans.push({ ...span(child.nodeValue, look.tone), ground: look.ground });
  }
}

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
