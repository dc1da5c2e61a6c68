import { sampleOrders, type Samples, stepsOf } from '../../../logs/samples.js';
import { type Pressed, refuse } from '../../keys/key-context.js';
import { type SampleChoice, stepIndex } from '../../state/sample-choice.js';
import type { UiState } from '../../state/ui-state.js';

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

/** The step before beside this one, prompt by prompt; again: this one alone. */
export function pairSamples(ui: UiState): Pressed {
  return choose(ui, { isBeside: !ui.samples.isBeside });
}

function choose(ui: UiState, choice: Partial<SampleChoice>): Pressed {
  const screen = ui.screen.kind === 'run' ? { ...ui.screen, offset: 0 } : ui.screen;
  return { ui: { ...ui, screen, samples: { ...ui.samples, ...choice } } };
}
