import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import type { RunSummary } from '../port.js';
import type { RunNode } from './branch-index.js';
import { fitName } from './fit-name.js';
import { type CellContext, runCell } from './list-cells.js';
import type { ListColumn, ListLayout } from './list-columns.js';
import { runReason } from './run-reason.js';
import { fit, type Line, span, type Tone } from './span.js';
import { stateLook } from './state-look.js';

/** Columns below which a reason would be a stump. */
const leastReason = 12;

/** Words that lie over several columns, from the one to before the other. */
type Words = { readonly text: string; readonly tone: Tone; readonly from: number; readonly to: number };

/** One run: mark, sign, name, and its columns; or, over those that have nothing to say, why it is as it is. */
export function runRow(node: RunNode, isMarked: boolean, layout: ListLayout, at: CellContext): Line {
  const { run } = node;
  const { columns } = layout;
  const cells = columns.map((column) => runCell(run, column, at));
  const words = wordsOver(run, cells, layout, at.now);
  const parts = columns.flatMap((column, index): Line => {
    if (words === null || index < words.from || index >= words.to) return cell(cells[index]!, column);
    if (index > words.from) return [];
    return [gap, span(fit(words.text, widthOf(columns, words)), words.tone)];
  });
  return [markSign(isMarked ? 'all' : 'none'), ...nameOf(node, layout.name), ...parts];
}

/** Two characters in their own place, so that a mark moves nothing. */
export function markSign(state: 'all' | 'some' | 'none'): Line[number] {
  if (state === 'none') return span(' ');
  return state === 'all' ? span('◆', 'accent') : span('◇', 'accent');
}

/** What a column shows, with the space before it. */
export function cell(content: Line | null, { width }: ListColumn): Line {
  return content === null ? [span(' '.repeat(width + 1))] : [gap, ...content];
}

const gap = span(' ');

function nameOf({ run, label, shared, depth }: RunNode, width: number): Line {
  const look = stateLook[run.state];
  const indent = '  '.repeat(depth);
  const room = width - indent.length - 2;
  return [span(indent), span(look.glyph, look.tone), span(` ${fitName(cleanText(label), room, shared)}`)];
}

/** Why a run is not simply running, over its progress and whatever else is empty. */
function wordsOver(run: RunSummary, cells: readonly (Line | null)[], layout: ListLayout, now: number): Words | null {
  const { columns } = layout;
  const reason = runReason(run, now);
  if (reason === null) return run.state === 'done' ? doneWords(run, columns) : null;
  const stretch = longest(columns, (index) => isSoft(columns[index]!) || cells[index] === null);
  if (widthOf(columns, stretch) >= leastReason) return { ...reason, ...stretch };
  // Where there is little room a reason comes before all else; where a person chose other columns, they come first.
  return layout.isCramped ? { ...reason, from: 0, to: columns.length } : null;
}

/** A full bar would say no more; how it ended may, where there is room for the whole of it. */
function doneWords({ reason }: RunSummary, columns: readonly ListColumn[]): Words | null {
  const from = columns.findIndex(({ id }) => id === 'progress');
  if (from < 0) return null;
  const to = columns[from + 1]?.id === 'left' ? from + 2 : from + 1;
  const whole = reason === null ? 'done' : `done · ${cleanText(reason)}`;
  const fits = textWidth(whole) <= widthOf(columns, { from, to });
  return { text: fits ? whole : 'done', tone: 'dim', from, to };
}

/** Columns a reason may lie over though a run that failed has something to show in them. */
function isSoft({ id }: ListColumn): boolean {
  return id === 'progress' || id === 'left' || id === 'trend';
}

type Stretch = { readonly from: number; readonly to: number };

/** The widest stretch of neighbouring columns that are free. */
function longest(columns: readonly ListColumn[], isFree: (index: number) => boolean): Stretch {
  let best: Stretch = { from: 0, to: 0 };
  for (let from = 0; from < columns.length; from++) {
    let to = from;
    while (to < columns.length && isFree(to)) to++;
    if (widthOf(columns, { from, to }) > widthOf(columns, best)) best = { from, to };
    from = Math.max(from, to);
  }
  return best;
}

function widthOf(columns: readonly ListColumn[], { from, to }: Stretch): number {
  return columns.slice(from, to).reduce((sum, { width }) => sum + width + 1, -1);
}
