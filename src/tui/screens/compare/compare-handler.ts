import { type KeyContext, type Pressed, refuse } from '../../keys/key-context.js';
import { chooseSubjects } from './compare-subjects.js';
import type { UiState } from '../../state/ui-state.js';

/** Opens the comparison with the cursor at the top. The pinned baseline applies wherever it is in the list. */
export function compareSelection(ui: UiState, at: KeyContext): Pressed {
  const { rows, index, groups, branches } = at;
  const { marks } = ui;
  const { isAscii, compare } = ui;
  const subjects = chooseSubjects({ node: rows[index], groups, branches, marks, baseline: compare.baseline, isAscii });
  if (typeof subjects === 'string') return refuse(ui, subjects);
  return { ui: { ...ui, screen: { kind: 'compare', subjects, at: 0, top: 0, left: 0 } } };
}

export function pinSelection(ui: UiState, at: KeyContext): Pressed {
  const node = at.rows[at.index];
  if (node === undefined) return refuse(ui, 'There is no run to pin.');
  return pin(ui, node.key, node.label, `${at.keyOf('compare')} compares with it.`);
}

/** Pins the baseline, or unpins it if it is the same. */
export function pin(ui: UiState, key: string, label: string, next: string): Pressed {
  const isPinned = key === ui.compare.baseline;
  const text = isPinned ? 'No baseline.' : `Baseline: ${label}; ${next}`;
  const compareChoice = { ...ui.compare, baseline: isPinned ? null : key };
  return { ui: { ...ui, compare: compareChoice, note: { text, tone: 'dim' } } };
}
