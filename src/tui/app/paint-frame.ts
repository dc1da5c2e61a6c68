import type { Controller } from './controller.js';
import type { Painter } from '../terminal/painter.js';

/** Draws what the window looks like now, as far as it looks different from what is drawn. */
export function paintFrame(controller: Controller, painter: Painter): void {
  const { width, height } = controller.size;
  painter.paint(controller.frame(), width, height);
}
