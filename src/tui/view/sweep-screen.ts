import { sectionRule } from './section.js';
import { type Line, span } from './span.js';
import { type WindowModel } from './window-model.js';

/** The sweep as a whole. At most `height` lines of `width` columns. */
export function sweepScreen(model: WindowModel, width: number, height: number): Line[] {
  return [sectionRule('sweep', [span(model.title, 'faint')], width)].slice(0, height);
}
