import { errorOf } from '../../../base/run-words.js';
import { type Handler, type Pressed, refuse } from '../../keys/key-context.js';
import { lookOf, withLook } from '../../state/list-look.js';
import type { UiState } from '../../state/ui-state.js';

const failing = 'status:failed,lost';

/** Only the failures, by kind, the commonest first; again: the list as it was. */
export const toggleFailures: Handler = (ui, at) => {
  const left = leaveFailures(ui);
  if (left !== null) return left;
  if (!at.runs.some((run) => errorOf(run) !== null)) return refuse(ui, 'No run has failed.');
  return {
    ui: {
      ...ui,
      screen: { kind: 'jobs' },
      filter: ui.filter === '' ? failing : `(${ui.filter}) ${failing}`,
      grouping: [{ kind: 'error' }],
      ...{ selected: null, index: 0, top: 0 },
      beforeFailures: lookOf(ui),
    },
  };
};

/** Back from the failures to the list as it was; null: they are not shown. */
export function leaveFailures(ui: UiState): Pressed | null {
  const { beforeFailures, grouping } = ui;
  if (beforeFailures === null || grouping[0].kind !== 'error') return null;
  const note = { text: 'Showing the list as it was.', tone: 'dim' } as const;
  return { ui: { ...withLook(ui, beforeFailures), beforeFailures: null, note } };
}
