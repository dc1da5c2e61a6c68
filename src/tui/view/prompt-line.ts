import type { QueryProblem } from '../../query/query.js';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import type { FilterDialog } from '../ui-state.js';
import { lineWithCursor } from './line-with-cursor.js';
import { fitLine, type Line, lineWidth, span } from './span.js';
import type { WindowModel } from './window-model.js';

const sign = ' / ';

/** The filter that is typed, and at the right how many runs it leaves, or why it cannot be used. */
export function filterPrompt(model: WindowModel, dialog: FilterDialog, width: number): Line {
  const right = rightEnd(model, dialog);
  const room = lineWidth(right) > width / 2 ? [] : right;
  const left = width - lineWidth(room) - sign.length;
  return [span(sign, 'title'), ...lineWithCursor(dialog.line, left), ...room];
}

/** Points at what is wrong with the filter, below it, and says what to do; null when nothing is. */
export function problemBelow({ line, problem }: FilterDialog, width: number): Line | null {
  if (problem === null) return null;
  const text = explanation(problem);
  const column = sign.length + textWidth(line.text.slice(0, problem.at));
  // The mark stands under the place as long as the words fit behind it, or else before it.
  if (column + 2 + textWidth(text) <= width) {
    return fitLine([span(`${' '.repeat(column)}^ `, 'bad'), span(text, 'warn')], width);
  }
  const before = `${text} ^`;
  if (textWidth(before) <= column) {
    return fitLine([span(' '.repeat(column - textWidth(before) + 1)), span(text, 'warn'), span(' ^', 'bad')], width);
  }
  return fitLine([span(` ${text}`, 'warn')], width);
}

function rightEnd({ ui, groups, tally }: WindowModel, { problem }: FilterDialog): Line {
  if (problem !== null) return [];
  if (ui.note !== null) return [span(` ${ui.note.text} `, 'warn')];
  const shown = groups.reduce((sum, { runs }) => sum + runs.length, 0);
  return [span(` ${shown} of ${tally.total} runs `, shown === 0 ? 'warn' : 'dim')];
}

function explanation({ problem, fix }: QueryProblem): string {
  return cleanText(`${problem} ${fix}`);
}
