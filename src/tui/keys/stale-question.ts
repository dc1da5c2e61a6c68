import { hasEnded } from '../../base/run-words.js';
import type { RunId, RunSummary } from '../state/port.js';
import type { UiState } from '../state/ui-state.js';

/** Closes a question whether to kill runs that have all ended meanwhile, since neither answer would do anything, and says so. */
export function withoutStaleQuestion(ui: UiState, runs: ReadonlyMap<RunId, RunSummary>): UiState {
  const order = ui.dialog.kind === 'confirm' ? ui.dialog.order : null;
  const isLive = (run: RunSummary | undefined): boolean => run !== undefined && !hasEnded(run.state);
  if (order?.type === 'kill')
    return order.ids.some((id) => isLive(runs.get(id))) ? ui : withoutQuestion(ui, order.what);
  if (order?.type !== 'stop-sweep') return ui;
  const { sweep } = order;
  return [...runs.values()].some((run) => run.sweep === sweep && isLive(run)) ? ui : withoutQuestion(ui, sweep);
}

function withoutQuestion(ui: UiState, what: string): UiState {
  const text = `Nothing is left to kill: ${what} ended meanwhile.`;
  return { ...ui, dialog: { kind: 'none' }, note: { text, tone: 'dim' } };
}
