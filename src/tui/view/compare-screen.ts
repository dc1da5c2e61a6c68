import { sectionRule } from './section.js';
import { type Line, span } from './span.js';
import { type WindowModel } from './window-model.js';

/** The marked runs or groups beside each other. At most `height` lines of `width` columns. */
export function compareScreen(model: WindowModel, width: number, height: number): Line[] {
  return [sectionRule('compare', [span(model.title, 'faint')], width)].slice(0, height);
}
