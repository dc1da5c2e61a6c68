import { sectionRule } from './section.js';
import { type Line, span } from './span.js';
import { type WindowModel } from './window-model.js';

/** The GPUs: what they do, and for whom. At most `height` lines of `width` columns. */
export function gpuScreen(model: WindowModel, width: number, height: number): Line[] {
  return [sectionRule('GPUs', [span(model.title, 'faint')], width)].slice(0, height);
}
