import { Surface } from '../../src/tui/surface/surface.js';
import type { WriteTarget } from '../../src/tui/surface/terminal-writer.js';
import type { Theme } from '../../src/tui/surface/theme.js';
import type { Line } from '../../src/tui/surface/span.js';

/** A surface that shows lines: what tests of what is written need of it. */
export class LinePainter {
  readonly #surface: Surface;

  constructor(target: WriteTarget, theme: Theme) {
    const size = { width: 0, height: 0 };
    this.#surface = new Surface(target, theme, size, (error) => {
      throw error;
    });
  }

  paint(lines: readonly Line[], width: number, height: number): void {
    const size = this.#surface.size();
    if (width !== size.width || height !== size.height) this.#surface.resize({ width, height });
    this.#surface.preview(lines);
  }

  /** What the terminal shows is no longer known. */
  forget(): void {
    this.#surface.resize(this.#surface.size());
  }

  rest(): void {
    this.#surface.rest();
  }

  wake(): void {
    this.#surface.wake();
  }
}
