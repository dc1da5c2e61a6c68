import { type CompareCommand } from './command.js';
import { type Obey, refuse } from './situation.js';

export const obeyCompare: Record<CompareCommand, Obey> = {
  compare: (ui) => refuse(ui, 'Mark two runs or groups first: space.'),
  baseline: (ui, at) => {
    const key = at.rows[at.index]?.key ?? null;
    return { ui: { ...ui, compare: { ...ui.compare, baseline: key === ui.compare.baseline ? null : key } } };
  },
};
