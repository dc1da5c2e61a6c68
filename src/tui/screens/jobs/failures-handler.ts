import { type Handler, type Pressed, refuse } from '../../keys/key-context.js';
import { troubleOf } from '../../model/trouble.js';
import { lookOf, withLook } from '../../state/list-look.js';
import type { UiState } from '../../state/ui-state.js';

/** Matches all runs with a problem. */
const wrong = 'status:failed,lost or not health:ok';

/** Shows only runs with a problem, by kind, most frequent first; the second time restores the list. */
export const toggleFailures: Handler = (ui, at) => {
  const left = leaveFailures(ui);
  if (left !== null) return left;
  if (!at.runs.some((run) => troubleOf(run) !== null))
    return refuse(ui, 'No run has failed, and nothing is wrong with any.');
  return {
    ui: {
      ...ui,
      screen: { kind: 'jobs' },
      filter: ui.filter === '' ? wrong : `(${ui.filter}) (${wrong})`,
      grouping: [{ kind: 'error' }],
      ...{ selected: null, index: 0, top: 0 },
      beforeFailures: lookOf(ui),
    },
  };
};

/** Restores the list from before the failures; null: they are not shown. */
export function leaveFailures(ui: UiState): Pressed | null {
  const { beforeFailures, grouping } = ui;
  if (beforeFailures === null || grouping[0].kind !== 'error') return null;
  const note = { text: 'Showing the list as it was.', tone: 'dim' } as const;
  return { ui: { ...withLook(ui, beforeFailures), beforeFailures: null, note } };
}
