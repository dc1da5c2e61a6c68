import { type RunSummary } from './port.js';
import { branchAt, counted } from './press-order.js';
import { type Pressed, refuse, type Situation } from './situation.js';
import { type RunVerb, type UiState } from './ui-state.js';

/** Two orders that undo each other, on one key: the first to runs in the state `from`, the second to runs in the state `to`. */
type Toggle = {
  readonly key: string;
  readonly groupKey: string;
  readonly on: RunVerb;
  readonly off: RunVerb;
  readonly from: RunSummary['state'];
  readonly to: RunSummary['state'];
  /** Why a run in another state is left alone, after its name. */
  readonly refusal: (run: RunSummary) => string;
};

const hold: Toggle = {
  key: 'h',
  groupKey: 'H',
  on: 'hold',
  off: 'release',
  from: 'queued',
  to: 'held',
  refusal: ({ state }) =>
    state === 'running' ? 'is running; p pauses it' : `is ${state}; only what waits can be held`,
};

const pause: Toggle = {
  key: 'p',
  groupKey: 'P',
  on: 'pause',
  off: 'continue',
  from: 'running',
  to: 'paused',
  refusal: ({ state }) =>
    state === 'queued' ? 'has not started; h holds it' : `is ${state}; only what runs can be paused`,
};

export const toggleHold = (ui: UiState, at: Situation): Pressed => toggleRun(ui, at, hold);
export const toggleGroupHold = (ui: UiState, at: Situation): Pressed => toggleGroup(ui, at, hold);
export const togglePause = (ui: UiState, at: Situation): Pressed => toggleRun(ui, at, pause);
export const toggleGroupPause = (ui: UiState, at: Situation): Pressed => toggleGroup(ui, at, pause);

function toggleRun(ui: UiState, at: Situation, toggle: Toggle): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, `There is no run to ${toggle.on}.`);
  const { key, groupKey, on, off, from, to } = toggle;
  if (node.kind !== 'run') return refuse(ui, `${key} is for one run; ${groupKey} is for the ${node.kind}.`);
  const { run } = node;
  if (run.state === from) return { ui, order: { type: on, ids: [run.id], what: run.name } };
  if (run.state === to) return { ui, order: { type: off, ids: [run.id], what: run.name } };
  return refuse(ui, `${run.name} ${toggle.refusal(run)}.`);
}

/** While any run of it can still be held, the key holds; else it releases. */
function toggleGroup(ui: UiState, at: Situation, { on, off, from, to }: Toggle): Pressed {
  const branch = branchAt(at);
  if (branch === null) return refuse(ui, `There is no group to ${on}.`);
  for (const [type, state] of [[on, from] as const, [off, to] as const]) {
    const runs = branch.runs.filter((run) => run.state === state);
    if (runs.length > 0) {
      return { ui, order: { type, ids: runs.map(({ id }) => id), what: counted(runs.length, branch.label) } };
    }
  }
  return refuse(ui, `No run of ${branch.label} is ${from} or ${to}.`);
}
