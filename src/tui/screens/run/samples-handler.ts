import { sampleOrders, type Samples, stepsOf } from '../../../logs/samples.js';
import { type KeyContext, type Pressed, refuse } from '../../keys/key-context.js';
import { type SampleChoice, stepIndex } from '../../state/run-choice.js';
import type { UiState } from '../../state/ui-state.js';
import { runContext } from './log-handler.js';

/** Whether keys act on the samples of an open run. */
export function isOnSamples({ screen }: UiState): boolean {
  return screen.kind === 'run' && screen.pane === 'samples';
}

/** The samples of the step before or after. */
export function anotherStep(ui: UiState, by: -1 | 1, samples: Samples | null | undefined): Pressed {
  const steps = samples ? stepsOf(samples) : [];
  const at = stepIndex(steps, ui.samples) + by;
  if (at < 0) return refuse(ui, steps.length === 0 ? 'There are no samples.' : 'This is the first step.');
  if (at >= steps.length) return refuse(ui, steps.length === 0 ? 'There are no samples.' : 'This is the last step.');
  return choose(ui, { step: steps[at]!, isLatest: at === steps.length - 1 });
}

/** The next order of the samples. */
export function sortSamples(ui: UiState): Pressed {
  const order = sampleOrders[(sampleOrders.indexOf(ui.samples.order) + 1) % sampleOrders.length]!;
  const { ui: chosen } = choose(ui, { order });
  return { ui: { ...chosen, note: { text: `Samples: ${order}.`, tone: 'dim' } } };
}

/** The step before beside this one, prompt by prompt; then the pinned run; then this one alone. */
export function pairSamples(ui: UiState, at: KeyContext): Pressed {
  const { beside } = ui.samples;
  const pinned = runContext(ui, at).pinned ?? null;
  if (beside === null) {
    const { ui: chosen } = choose(ui, { beside: 'step before' });
    const key = at.keyOf('alike');
    const next =
      pinned === null
        ? `Pin another run (${at.keyOf('baseline')}) to see its samples`
        : `${key} again: ${pinned.label}`;
    return { ui: { ...chosen, note: { text: `The step before is beside. ${next} instead.`, tone: 'dim' } } };
  }
  return choose(ui, { beside: beside === 'step before' && pinned !== null ? 'pinned run' : null });
}

/** Opens the samples of a step of the run, or those of the last step before it that has any. */
export function openSamplesAt(ui: UiState, step: number): Pressed {
  const samples = { ...ui.samples, step, isLatest: false };
  return { ui: { ...ui, samples, screen: { kind: 'run', pane: 'samples', offset: 0 } } };
}

function choose(ui: UiState, choice: Partial<SampleChoice>): Pressed {
  const screen = ui.screen.kind === 'run' ? { ...ui.screen, offset: 0 } : ui.screen;
  return { ui: { ...ui, screen, samples: { ...ui.samples, ...choice } } };
}
