import { Box } from 'ink';
import type { QueryProblem } from '../../query/query.js';
import { finishedPart } from '../../query/parser.js';
import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { type KeyContext, type Pressed, refuse } from '../keys/key-context.js';
import { useModel } from '../model/use-model.js';
import type { WindowModel } from '../model/window-model.js';
import {
  complete,
  type EditedLine,
  editLine,
  lineOf,
  noOffer,
  type Offer,
  offerFor,
  queryProblem,
  type Recall,
  recalled,
  remembered,
} from '../state/line-editor.js';
import type { DialogOf, UiState } from '../state/ui-state.js';
import type { Size } from '../surface/surface.js';
import { Prompt, promptSign } from '../widgets/prompt.js';
import { scrollTo } from '../model/selection.js';
import { columnsOf, fit, type Line, lineWidth, onBackground, span } from '../surface/span.js';
import { Spans } from '../widgets/text.js';
import { closedDialog, type DialogModule, type DialogProps } from './dialog-module.js';

/** `before`: the previous filter; `problem`: why Enter was refused. */
type FilterState = {
  readonly line: EditedLine;
  readonly before: string;
  readonly offer: Offer;
  readonly recall: Recall | null;
  readonly problem: QueryProblem | null;
};
type FilterDialog = DialogOf<'filter'>;

declare module '../state/ui-state.js' {
  interface Dialogs {
    readonly filter: FilterState;
  }
}

/** Chooses which runs the list shows. The list follows while the user types, as far as the text is valid. */
export const filter: DialogModule<'filter'> = {
  open,
  press,
  hints: () => [
    ['Enter', 'keep'],
    ['Tab', 'complete'],
    ['↑↓', 'earlier filters'],
    ['Ctrl-U', 'clear'],
    ['Esc', 'cancel'],
  ],
  Dialog: FilterPrompt,
};

function open(ui: UiState): Pressed {
  const typed = { line: lineOf(ui.filter), before: ui.filter, offer: noOffer, recall: null, problem: null };
  return { ui: { ...ui, screen: { kind: 'jobs' }, dialog: { kind: 'filter', ...typed } } };
}

function press(ui: UiState, dialog: FilterDialog, key: string, at: KeyContext): Pressed {
  switch (key) {
    case 'escape':
      return { ui: { ...closedDialog(ui), filter: dialog.before } };
    case 'enter':
      return enter(ui, dialog, at);
    case 'tab':
      return completed(ui, dialog, at);
    case 'up':
      return earlier(ui, dialog, -1);
    case 'down':
      return earlier(ui, dialog, 1);
    default: {
      const line = editLine(dialog.line, key);
      if (line === null) return refuse(ui, `${key} does nothing here.`);
      if (line.text === dialog.line.text) return { ui: { ...ui, dialog: { ...dialog, line } } };
      return typed(ui, { ...dialog, line, offer: offerFor(line, at.runs), recall: null, problem: null });
    }
  }
}

function completed(ui: UiState, dialog: FilterDialog, at: KeyContext): Pressed {
  const next = complete(dialog.line, dialog.offer);
  if (next === null) return refuse(ui, 'No completion.');
  const offer = next.offer === noOffer ? offerFor(next.line, at.runs) : next.offer;
  return typed(ui, { ...dialog, ...next, offer, problem: null });
}

function earlier(ui: UiState, dialog: FilterDialog, step: -1 | 1): Pressed {
  const entry = recalled(ui.filters, dialog.line, dialog.recall, step);
  if (entry === null) return refuse(ui, step < 0 ? 'No older filter.' : 'No newer filter.');
  return typed(ui, { ...dialog, ...entry, offer: noOffer, problem: null });
}

function typed(ui: UiState, dialog: FilterDialog): Pressed {
  return { ui: { ...ui, filter: finishedPart(dialog.line.text).trim(), dialog } };
}

function enter(ui: UiState, dialog: FilterDialog, at: KeyContext): Pressed {
  const { text } = dialog.line;
  const problem = queryProblem(text, at.runs);
  if (problem !== null) return { ui: { ...ui, dialog: { ...dialog, offer: noOffer, problem } } };
  const kept = text.trim();
  return { ui: { ...closedDialog(ui), filter: kept, filters: remembered(ui.filters, kept) } };
}

/** The prompt with the number of matching runs, and above it the possible completions at the cursor. */
function FilterPrompt({ dialog, size, isSmall }: DialogProps<'filter'>) {
  const { line, offer, problem } = dialog;
  const shown = useModel(shownRuns);
  const total = useModel(({ tally }) => tally.total);
  const note = useModel(({ ui }) => ui.note);
  const count = span(` ${shown} of ${total} runs `, shown === 0 ? 'warn' : 'dim');
  const right = problem !== null ? [] : [note === null ? count : span(` ${note.text} `, 'warn')];
  const wrong = problem === null ? null : problemLine(problem, line.text, size.width);
  const column = promptSign.length + textWidth(line.text.slice(0, offer.from));
  return (
    <>
      <Prompt {...{ size, isSmall, line, right }} problem={wrong} />
      <Completions offer={offer} size={size} at={{ column, below: isSmall ? 1 : 2 }} />
    </>
  );
}

function shownRuns({ groups }: WindowModel): number {
  return groups.reduce((sum, { runs }) => sum + runs.length, 0);
}

/** Marks the position of an error below the filter, and says how to fix it. */
function problemLine({ problem, fix, at }: QueryProblem, typed: string, width: number): Line {
  const text = cleanText(`${problem} ${fix}`);
  const column = promptSign.length + textWidth(typed.slice(0, at));
  // The mark is at the error if the message fits behind it; otherwise the message comes before the mark.
  if (column + 2 + textWidth(text) <= width) return [span(`${' '.repeat(column)}^ `, 'bad'), span(text, 'warn')];
  const before = column - textWidth(`${text} ^`) + 1;
  if (before > 0) return [span(' '.repeat(before)), span(text, 'warn'), span(' ^', 'bad')];
  return [span(` ${text}`, 'warn')];
}

type CompletionsProps = { readonly offer: Offer; readonly size: Size; readonly at: Anchor };

function Completions({ offer, size, at }: CompletionsProps) {
  const list = completionList(offer, size, at);
  if (list === null) return null;
  return (
    <Box position="absolute" marginLeft={list.left} marginTop={list.top} width={list.width} flexDirection="column">
      {list.lines.map((line, row) => (
        <Spans key={row} line={line} />
      ))}
    </Box>
  );
}

/** `column`: start of the word. `below`: rows of the prompt and of what is below it. */
type Anchor = { readonly column: number; readonly below: number };

/** Position of a list of words on the screen. */
type Placed = { readonly left: number; readonly top: number; readonly width: number; readonly lines: readonly Line[] };

const mostRows = 8;

/** The possible completions, right above the word they belong to; null if there are none. */
export function completionList(offer: Offer, size: Size, { column, below }: Anchor): Placed | null {
  const rows = Math.min(offer.candidates.length, mostRows, size.height - below - 1);
  if (rows <= 0) return null;
  const lines = completionLines(offer, rows);
  const width = Math.min(size.width, Math.max(...lines.map(lineWidth)));
  const left = Math.max(0, Math.min(column - 1, size.width - width));
  return { left, top: size.height - below - rows, width, lines: lines.map((line) => columnsOf(line, 0, width)) };
}

function completionLines({ candidates, chosen }: Offer, rows: number): Line[] {
  const top = scrollTo(chosen ?? 0, 0, rows, candidates.length);
  const shown = candidates.slice(top, top + rows).map(cleanText);
  const more = candidates.length - rows;
  const width = Math.min(60, Math.max(...shown.map(textWidth)));
  return shown.map((text, row) => {
    const isLast = row === rows - 1 && more > 0;
    const line: Line = [span(` ${fit(text, width)} `), ...(isLast ? [span(`+${more} `, 'dim')] : [])];
    return onBackground(line, top + row === chosen ? 'selected' : 'raised');
  });
}
