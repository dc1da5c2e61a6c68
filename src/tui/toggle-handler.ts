import { suits } from '../protocol/run-verbs.js';
import { keyOf } from './key-map.js';
import type { RunVerb } from './effect.js';
import type { RunSummary } from './port.js';
import type { KeyPreset } from './preferences-port.js';
import { idsOf } from './effect-handler.js';
import { groupTargetOf, type Target, targetOf } from './key-target.js';
import { type Handler, type Pressed, refuse } from './key-context.js';
import type { UiState } from './ui-state.js';

/** Two orders that undo each other, on one key. */
type Toggle = {
  readonly on: RunVerb;
  readonly off: RunVerb;
  /** What the second does, in the third person. */
  readonly undoes: string;
  readonly redoes: string;
  /** Why a run that suits neither is left alone, after its name. */
  readonly refusal: (run: RunSummary, keys: KeyPreset) => string;
};

const hold: Toggle = {
  on: 'hold',
  off: 'release',
  undoes: 'releases',
  redoes: 'holds',
  refusal: ({ state }, keys) =>
    state === 'running' ? `is running; ${keyOf('pause', keys)} pauses it` : `is ${state}; only what waits can be held`,
};

const pause: Toggle = {
  on: 'pause',
  off: 'continue',
  undoes: 'continues',
  redoes: 'pauses',
  refusal: ({ state }, keys) =>
    state === 'queued'
      ? `has not started; ${keyOf('hold', keys)} holds it`
      : `is ${state}; only what runs can be paused`,
};

export const toggleHold: Handler = (ui, at, key) => toggle(ui, hold, key, (verb) => targetOf(verb, key, ui, at));
export const toggleGroupHold: Handler = (ui, at, key) => toggle(ui, hold, key, (verb) => groupTargetOf(verb, ui, at));
export const togglePause: Handler = (ui, at, key) => toggle(ui, pause, key, (verb) => targetOf(verb, key, ui, at));
export const toggleGroupPause: Handler = (ui, at, key) => toggle(ui, pause, key, (verb) => groupTargetOf(verb, ui, at));

/** While any of the runs can still be held, the key holds; else it releases. */
function toggle(ui: UiState, way: Toggle, key: string, target: (verb: RunVerb) => Target): Pressed {
  const { on, off, undoes, redoes, refusal } = way;
  const [forward, backward] = [target(on), target(off)];
  for (const [type, chosen, undo] of [[on, forward, undoes] as const, [off, backward, redoes] as const]) {
    if (chosen.kind === 'none' || !chosen.runs.some(suits[type])) continue;
    const them = chosen.runs.length === 1 ? 'it' : 'them';
    return { ui, order: { type, ids: idsOf(chosen), what: chosen.what, undo: `${key} ${undo} ${them}` } };
  }
  if (forward.kind === 'runs') return refuse(ui, `${forward.runs[0]!.name} ${refusal(forward.runs[0]!, ui.keys)}.`);
  return refuse(ui, forward.why);
}
