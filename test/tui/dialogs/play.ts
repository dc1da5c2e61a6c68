import type { KeyContext, Pressed } from '../../../src/tui/keys/key-context.js';
import { press } from '../../../src/tui/dialogs/key-stack.js';
import { initialUi, type UiState } from '../../../src/tui/state/ui-state.js';
import { aRun } from '../simulated-fleet.js';
import { aSituation, keysOf } from '../situations.js';

/** Rows: 0 A, 1 A_s0 running, 2 A_s1 done, 3 B, 4 B_s0 queued. */
export const runs = [
  aRun('A_s0', { state: 'running', pid: 7, parameters: { seed: 0, N: 16 } }),
  aRun('A_s1', { state: 'done', parameters: { seed: 1, N: 16 } }),
  aRun('B_s0', { parameters: { seed: 0, N: 64 } }),
];

/** Presses keys one after the other, from row `from`; `"text` stands for its letters. */
export function play(from: number, keys: readonly string[], over: Partial<KeyContext> = {}): Pressed {
  const at = (ui: UiState): KeyContext => ({ ...aSituation(runs, ui), ...over });
  const start: UiState = { ...initialUi, selected: at(initialUi).rows[from]!.key, index: from };
  return keys.flatMap(keysOf).reduce<Pressed>((pressed, key) => press(pressed.ui, key, at(pressed.ui)), { ui: start });
}
