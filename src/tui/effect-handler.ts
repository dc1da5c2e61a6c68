import { hasEnded } from '../base/run-words.js';
import { suits } from '../protocol/run-verbs.js';
import { keyOf } from './key-map.js';
import type { RunSummary } from './port.js';
import type { KeyPreset } from './preferences-port.js';
import { groupTargetOf, type Target, targetOf } from './key-target.js';
import { type Handler, type Pressed, refuse } from './key-context.js';
import type { UiState } from './ui-state.js';
import { shortDuration } from '../text/duration.js';

/** Asks before killing the marked runs or the selected one; the same key again does it. */
export const askKill: Handler = (ui, at, key) => {
  const target = targetOf('kill', key, ui, at);
  if (target.kind === 'none') return refuse(ui, target.why);
  const [run] = target.runs;
  if (run !== undefined && !suits.kill(run)) return refuse(ui, whyNotKillable(run, at.now));
  return asking(ui, target, key);
};

/** Asks before killing what still lives in the selection's group or subgroup. */
export const askKillGroup: Handler = (ui, at, key) => {
  const target = groupTargetOf('kill', ui, at);
  return target.kind === 'none' ? refuse(ui, target.why) : asking(ui, target, key);
};

export const resume: Handler = (ui, at, key) => {
  const target = targetOf('resume', key, ui, at);
  if (target.kind === 'none') return refuse(ui, target.why);
  const [run] = target.runs;
  if (run !== undefined && !suits.resume(run)) return refuse(ui, whyNotResumable(run, ui.keys));
  return { ui, order: { type: 'resume', ids: idsOf(target), what: target.what } };
};

export const resumeGroup: Handler = (ui, at) => {
  const target = groupTargetOf('resume', ui, at);
  if (target.kind === 'none') return refuse(ui, target.why);
  return { ui, order: { type: 'resume', ids: idsOf(target), what: target.what } };
};

export function idsOf({ runs }: { readonly runs: readonly RunSummary[] }): RunSummary['id'][] {
  return runs.map(({ id }) => id);
}

function asking(ui: UiState, target: Extract<Target, { kind: 'runs' }>, key: string): Pressed {
  const { what, caution } = target;
  const answers = caution.startsWith(',') ? `${key} again: yes` : `${key} again: yes · any other key: no`;
  const question = `Kill ${what}${caution}?  ${answers}`;
  return {
    ui: { ...ui, dialog: { kind: 'confirm', key, question, order: { type: 'kill', ids: idsOf(target), what } } },
  };
}

function whyNotKillable({ name, state, killAt }: RunSummary, now: number): string {
  if (hasEnded(state)) return `${name} has ended already (${state}).`;
  const countdown = killAt === null ? '' : `, SIGKILL in ${shortDuration(Math.max(0, killAt - now))}`;
  return `${name} is stopping already${countdown}.`;
}

function whyNotResumable({ name, state }: RunSummary, keys: KeyPreset): string {
  if (state === 'done') return `${name} is done; there is nothing to resume.`;
  if (state === 'queued') return `${name} is in the queue already.`;
  if (state === 'held') return `${name} is held; ${keyOf('hold', keys)} releases it.`;
  if (state === 'paused') return `${name} is paused; ${keyOf('pause', keys)} lets it continue.`;
  if (state === 'stopping') return `${name} is still stopping; resume it once it has ended.`;
  return `${name} is ${state}.`;
}
