import { cleanText } from '../../text/display-text.js';
import type { SearchDialog } from '../ui-state.js';
import { lineWithCursor } from './line-with-cursor.js';
import { fitLine, type Line, lineWidth, span } from './span.js';
import type { WindowModel } from './window-model.js';

const sign = ' / ';

/** What is looked for in the log, and at the right what kind of words it is, or what is wrong with a key. */
export function searchPrompt({ ui }: WindowModel, { line }: SearchDialog, width: number): Line {
  const words = ui.note === null ? 'in the log · regular expression ' : `${ui.note.text} `;
  const right = [span(words, ui.note === null ? 'dim' : 'warn')];
  const room = lineWidth(right) > width / 2 ? [] : right;
  return [span(sign, 'title'), ...lineWithCursor(line, width - lineWidth(room) - sign.length), ...room];
}

/** Why Enter did not take it, in place of the keys; null when it is all right. */
export function searchProblem({ problem }: SearchDialog, width: number): Line | null {
  return problem === null ? null : fitLine([span(` ${cleanText(problem)}`, 'warn')], width);
}
