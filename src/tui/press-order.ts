import { type RunSummary } from './port.js';
import { type Pressed, refuse, type Situation } from './situation.js';
import { type UiState } from './ui-state.js';
import { duration } from './view/duration.js';
import { isEnded } from './view/state-look.js';
import { type Branch } from './view/tree.js';

/** Asks before killing the selected run; the same key again does it. */
export function askKill(ui: UiState, at: Situation): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is no run to kill.');
  if (node.kind !== 'run') return refuse(ui, `k kills one run; K kills the ${node.kind}.`);
  const { run } = node;
  if (isEnded(run.state)) return refuse(ui, `${run.name} has ended already (${run.state}).`);
  if (run.state === 'stopping') return refuse(ui, `${run.name} is stopping already${killCountdown(run, at.now)}.`);
  const question = `Kill ${run.name}?  k again: yes · any other key: no`;
  return { ui: { ...ui, dialog: { kind: 'confirm', key: 'k', question, order: kill([run], run.name) } } };
}

/** Asks before killing what still lives in the selection's group or subgroup. */
export function askKillGroup(ui: UiState, at: Situation): Pressed {
  const branch = branchAt(at);
  if (branch === null) return refuse(ui, 'There is no group to kill.');
  const alive = branch.runs.filter(({ state }) => !isEnded(state) && state !== 'stopping');
  if (alive.length === 0) return refuse(ui, `Every run of ${branch.label} has ended or is stopping.`);
  const what = counted(alive.length, branch.label);
  const question = `Kill ${what}${ui.filter === '' ? '' : ' that the filter shows'}?  K again: yes · any other key: no`;
  return { ui: { ...ui, dialog: { kind: 'confirm', key: 'K', question, order: kill(alive, what) } } };
}

export function resume(ui: UiState, at: Situation): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is no run to resume.');
  if (node.kind !== 'run') return refuse(ui, `r resumes one run; R resumes the ${node.kind}.`);
  const { run } = node;
  if (!isResumable(run)) return refuse(ui, whyNotResumable(run));
  return { ui, order: { type: 'resume', ids: [run.id], what: run.name } };
}

export function resumeGroup(ui: UiState, at: Situation): Pressed {
  const branch = branchAt(at);
  if (branch === null) return refuse(ui, 'There is no group to resume.');
  const stopped = branch.runs.filter(isResumable);
  if (stopped.length === 0) return refuse(ui, `No run of ${branch.label} has failed, been killed or lost.`);
  const what = counted(stopped.length, branch.label);
  return { ui, order: { type: 'resume', ids: stopped.map(({ id }) => id), what } };
}

/** `1 run of A`, `12 runs of A`. */
export function counted(count: number, label: string): string {
  return `${count === 1 ? '1 run' : `${count} runs`} of ${label}`;
}

/** `, SIGKILL in 7s` while that is known. */
function killCountdown({ killAt }: RunSummary, now: number): string {
  return killAt === null ? '' : `, SIGKILL in ${duration(Math.max(0, killAt - now))}`;
}

function kill(runs: readonly RunSummary[], what: string): { type: 'kill'; ids: RunSummary['id'][]; what: string } {
  return { type: 'kill', ids: runs.map(({ id }) => id), what };
}

/** The selected group or subgroup, or the one the selected run is in. */
export function branchAt({ rows, index, branches }: Situation): Branch | null {
  const node = rows[index];
  if (node === undefined) return null;
  return node.kind === 'run' ? (branches.get(node.parent) ?? null) : node;
}

/** A run that waits for its next automatic try need not wait any longer. */
function isResumable({ state, retryAt }: RunSummary): boolean {
  return state === 'failed' || state === 'killed' || state === 'lost' || (state === 'queued' && retryAt !== null);
}

function whyNotResumable({ name, state }: RunSummary): string {
  if (state === 'done') return `${name} is done; there is nothing to resume.`;
  if (state === 'queued') return `${name} is in the queue already.`;
  if (state === 'held') return `${name} is held; h releases it.`;
  if (state === 'paused') return `${name} is paused; p lets it continue.`;
  if (state === 'stopping') return `${name} is still stopping; resume it once it has ended.`;
  return `${name} is ${state}.`;
}
