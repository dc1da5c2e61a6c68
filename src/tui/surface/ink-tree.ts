/**
 * Everything the window knows of Ink beyond its documented components: the tree of its reconciler.
 *
 * Fields used, unchanged from Ink 3 to 8: `nodeName`, `parentNode`, `childNodes`, `nodeValue`, `style`, `yogaNode`,
 * `internal_transform`, and `onRender` of the root, which the reconciler calls after each commit and its layout.
 */
import type { DOMElement } from 'ink';
import { type Background, type Line, span, type Span, type Tone } from './span.js';

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

export function isElement(node: InkNode): node is DOMElement {
  return node.nodeName !== '#text';
}

export function isHidden(node: DOMElement): boolean {
  return node.yogaNode === undefined || Number(node.yogaNode.getDisplay()) === displayNone;
}

/** Position and size of the node within its parent. */
export function placeOf({ yogaNode }: DOMElement): { left: number; top: number; width: number; height: number } {
  if (yogaNode === undefined) return { left: 0, top: 0, width: 0, height: 0 };
  return {
    left: yogaNode.getComputedLeft(),
    top: yogaNode.getComputedTop(),
    width: yogaNode.getComputedWidth(),
    height: yogaNode.getComputedHeight(),
  };
}

/** Width of the border on each side: 0 or 1. */
export function borderOf({ yogaNode }: DOMElement): Record<keyof typeof edges, number> {
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
export function spansOf(text: DOMElement, ground: Background): Line {
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
