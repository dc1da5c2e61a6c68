import type { DOMElement } from 'ink';
import type { Theme } from './theme.js';
import { textWidth } from '../../text/display-width.js';
import { areSame, type Background, type Line, type PlotImage } from './span.js';
import { Cells, lookOf, type Rect } from './cells.js';
import { takeOverDrawing, TreePainter } from './ink-tree.js';
import type { PlacedPlot } from './graphics/picture-layer.js';
import { type MakePictures, TerminalWriter, type WriteTarget } from './terminal-writer.js';

export type Size = { readonly width: number; readonly height: number };
export type Draw = (size: Size) => readonly Line[];
/** A position within a canvas, from its top left. */
export type Place = { readonly column: number; readonly row: number };
/** A press of a mouse button. */
export type OnPoint = (at: Place) => void;
/**
 * The pointer has moved with the button down. `from` and `at`: from the top left of the canvas as it was at the press, which was at
 * `place`.
 */
export type OnDrag = (drag: { readonly from: Place; readonly at: Place; readonly place: Rect }) => void;
/** null: the pointer has left the canvas. */
export type OnHover = (at: Place | null) => void;

/** The state of a `<Canvas>` in the surface. */
export type CanvasRecord = {
  readonly owner: number;
  /** Null: it only hears the mouse. */
  draw: Draw | null;
  onPoint: OnPoint | undefined;
  onHover: OnHover | undefined;
  onDrag: OnDrag | undefined;
  /** Where it was last laid out. The background follows. */
  place: Rect;
  ground: Background;
  picture: Cells;
  /** The lines from which each row of the picture was painted. */
  lines: readonly Line[];
  isStale: boolean;
};

const nowhere: Rect = { left: 0, top: 0, right: 0, bottom: 0 };

/**
 * The screen: Ink's tree and the canvases in it as one picture of cells.
 *
 * A frame is drawn at most once per turn of the event loop. After a commit of React the whole tree is painted; if only a canvas has
 * changed, only the rows of it that differ. In either case, only cells that differ are written.
 */
export class Surface {
  readonly #writer: TerminalWriter;
  readonly #onError: (error: unknown) => void;
  #theme: Theme;
  #size: Size;
  #cells: Cells;
  #root: DOMElement | null = null;
  #isTreeStale = true;
  #isAsked = false;
  readonly #canvases = new Map<DOMElement, CanvasRecord>();
  #hovered: CanvasRecord | null = null;
  /** Where the button was pressed last. */
  #pressed: { readonly canvas: CanvasRecord; readonly from: Place; readonly place: Rect } | null = null;
  readonly #sizeListeners = new Set<() => void>();

  /** `onError`: called when drawing a frame fails. */
  constructor(target: WriteTarget, theme: Theme, size: Size, onError: (error: unknown) => void) {
    this.#writer = new TerminalWriter(target, theme);
    this.#theme = theme;
    this.#size = size;
    this.#cells = new Cells(size.width, size.height);
    this.#onError = onError;
  }

  /** Shows lines while there is no tree. */
  preview(lines: readonly Line[]): void {
    this.#cells.clear();
    lines.forEach((line, row) => this.#paintLine(line, row, { picture: this.#cells, ground: 'none' }));
    this.#writer.show(this.#cells, () => this.preview(lines));
  }

  /** Draws the tree instead of Ink. */
  attach(root: DOMElement): void {
    this.#root = root;
    takeOverDrawing(root, () => {
      this.#isTreeStale = true;
      this.#ask();
    });
  }

  addCanvas(node: DOMElement, draw: Draw | null): CanvasRecord {
    const used = new Set([...this.#canvases.values()].map(({ owner }) => owner));
    let owner = 1;
    while (used.has(owner)) owner++;
    const at = { place: nowhere, ground: 'none', picture: new Cells(0, 0), lines: [] } as const;
    const canvas: CanvasRecord = {
      owner,
      draw,
      ...{ onPoint: undefined, onHover: undefined, onDrag: undefined },
      ...at,
      isStale: true,
    };
    this.#canvases.set(node, canvas);
    this.#isTreeStale = true;
    this.#ask();
    return canvas;
  }

  removeCanvas(node: DOMElement): void {
    this.#canvases.delete(node);
  }

  /** Called when the contents of a canvas have changed. */
  redraw(canvas: CanvasRecord): void {
    canvas.isStale = true;
    this.#ask();
  }

  /** Passes a click to the canvas visible at a position, if any; canvases behind a dialog do not get it. */
  point(place: Place): void {
    const canvas = this.#canvasAt(place);
    const at = canvas === undefined ? null : within(canvas.place, place);
    this.#pressed = at === null ? null : { canvas: canvas!, from: at, place: canvas!.place };
    if (at !== null) canvas!.onPoint?.(at);
  }

  /** Passes a movement with the button down to the canvas on which it was pressed, wherever the pointer is now. */
  drag(to: Place): void {
    if (this.#pressed === null) return;
    const { canvas, from, place } = this.#pressed;
    canvas.onDrag?.({ from, at: within(place, to), place });
  }

  /**
   * Notifies the canvas that the pointer is over, and the one that it has left.
   *
   * @returns The position along the width of a plot, from 0 to 1; null: not over a plot.
   */
  hover({ column, row }: Place): number | null {
    const canvas = this.#canvasAt({ column, row });
    if (this.#hovered !== canvas) this.#hovered?.onHover?.(null);
    this.#hovered = canvas ?? null;
    if (canvas === undefined) return null;
    const at = within(canvas.place, { column, row });
    canvas.onHover?.(at);
    const plot = plotsIn(canvas.lines).find(({ of, left, top }) => {
      return at.column >= left && at.column < left + of.columns && at.row >= top && at.row < top + of.rows;
    });
    return plot === undefined ? null : (at.column - plot.left + 0.5) / plot.of.columns;
  }

  #canvasAt({ column, row }: Place): CanvasRecord | undefined {
    const owner = this.#cells.owners[row * this.#cells.width + column];
    return [...this.#canvases.values()].find((each) => each.owner === owner);
  }

  /** The last frame. */
  get picture(): Cells {
    return this.#cells;
  }

  readonly size = (): Size => this.#size;

  readonly onResize = (listener: () => void): (() => void) => {
    this.#sizeListeners.add(listener);
    return () => this.#sizeListeners.delete(listener);
  };

  /** Called when the terminal has a new size or shows something else: the next frame is written completely. */
  resize(size: Size): void {
    if (size.width !== this.#size.width || size.height !== this.#size.height) {
      this.#size = size;
      this.#cells = new Cells(size.width, size.height);
      this.#isTreeStale = true;
      this.#sizeListeners.forEach((listener) => listener());
    }
    this.#writer.forget();
    this.#ask();
  }

  restyle(theme: Theme): void {
    this.#theme = theme;
    this.#writer.restyle(theme);
    this.#isTreeStale = true;
    for (const canvas of this.#canvases.values()) [canvas.isStale, canvas.lines] = [true, []];
    this.#ask();
  }

  /** Shows plots as pictures; null: as characters. */
  usePictures(make: MakePictures): void {
    this.#writer.usePictures(make);
    this.#ask();
  }

  /** Stops drawing until `wake`, while another program uses the terminal. */
  rest(): void {
    this.#writer.rest();
  }

  wake(): void {
    this.#writer.wake();
    this.#ask();
  }

  /**
   * Requests a frame. It is drawn after React's reactions, which are microtasks, so that one event causes one frame. Those of a key
   * come before the frame that it hurries, too, as they are queued first.
   */
  #ask(): void {
    if (this.#isAsked) return;
    this.#isAsked = true;
    setImmediate(this.#drawAsked);
  }

  /** Draws what has been requested before anything else that waits for a turn, for the answer to a key. */
  readonly hurry = (): void => {
    if (this.#isAsked) queueMicrotask(this.#drawAsked);
  };

  readonly #drawAsked = (): void => {
    if (!this.#isAsked) return;
    try {
      this.frame();
    } catch (error) {
      this.#onError(error);
    }
  };

  /** Draws changes now, without waiting for the end of the turn. */
  frame(): void {
    this.#isAsked = false;
    if (this.#root === null) return;
    const wasTreeStale = this.#isTreeStale;
    this.#isTreeStale = false;
    if (wasTreeStale) new TreePainter(this.#cells, this.#theme, (node) => this.#canvases.get(node)).paint(this.#root);
    for (const canvas of this.#canvases.values()) this.#paintCanvas(canvas, wasTreeStale);
    const plots = this.#writer.showsPictures ? this.#wholePlots() : [];
    this.#writer.show(this.#cells, () => this.#ask(), plots);
  }

  /** Plots of which every cell is visible. */
  #wholePlots(): PlacedPlot[] {
    const { owners, width } = this.#cells;
    return [...this.#canvases.values()].flatMap(({ lines, place, owner }) =>
      plotsIn(lines)
        .map(({ of, left, top }) => ({ of, left: left + place.left, top: top + place.top }))
        .filter(({ of, left, top }) => {
          if (left < 0 || top < 0 || left + of.columns > width || top + of.rows > this.#cells.height) return false;
          for (let row = top; row < top + of.rows; row++) {
            const cells = owners.subarray(row * width + left, row * width + left + of.columns);
            if (!cells.every((each) => each === owner)) return false;
          }
          return true;
        }),
    );
  }

  #paintCanvas(canvas: CanvasRecord, isNewGround: boolean): void {
    const { place, owner, draw } = canvas;
    if (draw === null) return;
    const size = { width: place.right - place.left, height: place.bottom - place.top };
    if (size.width <= 0 || size.height <= 0) return;
    if (size.width !== canvas.picture.width || size.height !== canvas.picture.height) {
      canvas.picture = new Cells(size.width, size.height);
      [canvas.isStale, canvas.lines] = [true, []];
    }
    const changed = canvas.isStale ? this.#repaint(canvas, draw(size)) : none;
    canvas.isStale = false;
    if (isNewGround) this.#cells.blit(canvas.picture, place, owner, () => true);
    else if (changed.size > 0) this.#cells.blit(canvas.picture, place, owner, (row) => changed.has(row));
  }

  /** Repaints a canvas. @returns The rows that differ from before. */
  #repaint(canvas: CanvasRecord, lines: readonly Line[]): ReadonlySet<number> {
    const changed = new Set<number>();
    const isSameGround = canvas.lines.length > 0;
    for (let row = 0; row < canvas.picture.height; row++) {
      const line = lines[row] ?? empty;
      if (isSameGround && areSame(line, canvas.lines[row] ?? empty)) continue;
      this.#paintLine(line, row, canvas);
      changed.add(row);
    }
    canvas.lines = lines;
    return changed;
  }

  #paintLine(line: Line, row: number, { picture, ground: below }: Pick<CanvasRecord, 'picture' | 'ground'>): void {
    const { rect } = picture;
    let column = 0;
    for (const { text, tone, ground = below, link } of line) {
      const piece = { text: this.#theme.glyphs(text, tone), look: lookOf(tone, ground, link) };
      column = picture.write(row, column, piece, rect);
    }
    picture.fill({ left: column, top: row, right: rect.right, bottom: row + 1 }, lookOf('plain', below));
  }
}

const none: ReadonlySet<number> = new Set();
const empty: Line = [];

/** The plots in some lines that have all of their rows, with the column and line where each begins. */
function plotsIn(lines: readonly Line[]): PlacedPlot[] {
  const begun = new Map<PlotImage, { left: number; top: number; rows: number }>();
  for (const [top, line] of lines.entries()) {
    let left = 0;
    for (const { text, plot } of line) {
      if (plot?.row === 0) begun.set(plot.of, { left, top, rows: 1 });
      const known = plot === undefined ? undefined : begun.get(plot.of);
      if (known?.left === left && known.top + known.rows === top) known.rows++;
      left += textWidth(text);
    }
  }
  return [...begun].flatMap(([of, { left, top, rows }]) => (rows === of.rows ? { of, left, top } : []));
}

/** A position of the screen, from the top left of a rectangle. */
function within({ left, top }: Rect, { column, row }: Place): Place {
  return { column: column - left, row: row - top };
}
