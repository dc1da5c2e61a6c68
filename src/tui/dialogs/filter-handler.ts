import { UserError } from '../../base/user-error.js';
import { checkRunQuery } from '../../query/check.js';
import { finishedPart, readRunQuery } from '../../query/parser.js';
import type { QueryProblem } from '../../query/query.js';
import { type Handler, type KeyContext, type Pressed, refuse } from '../app/key-context.js';
import { editLine, lineOf } from '../state/line-editor.js';
import type { RunSummary } from '../state/port.js';
import { complete, noOffer, offerFor, recalled, remembered } from '../state/prompt.js';
import type { FilterDialog, UiState } from '../state/ui-state.js';

export const openFilter: Handler = (ui) => ({
  ui: {
    ...ui,
    screen: { kind: 'jobs' },
    dialog: {
      kind: 'filter',
      line: lineOf(ui.filter),
      before: ui.filter,
      offer: noOffer,
      recall: null,
      problem: null,
    },
  },
});

/** One key in the prompt of the filter. The list follows while one types, as far as what is there makes sense. */
export function pressInFilter(ui: UiState, dialog: FilterDialog, key: string, at: KeyContext): Pressed {
  switch (key) {
    case 'escape':
      return { ui: { ...ui, filter: dialog.before, dialog: { kind: 'none' } } };
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
  const problem = problemOf(text, at.runs);
  if (problem !== null) return { ui: { ...ui, dialog: { ...dialog, offer: noOffer, problem } } };
  const filter = text.trim();
  return { ui: { ...ui, filter, filters: remembered(ui.filters, filter), dialog: { kind: 'none' } } };
}

/** Why a query cannot be used on these runs; null when it can. */
export function problemOf(text: string, runs: readonly RunSummary[]): QueryProblem | null {
  const query = readRunQuery(text);
  if (query.kind === 'problem') return query;
  try {
    checkRunQuery(query, runs);
    return null;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const key = /`([^`]*)`/.exec(error.message)?.[1] ?? '';
    return { kind: 'problem', problem: error.message, fix: error.fix, at: Math.max(0, text.indexOf(key)) };
  }
}
