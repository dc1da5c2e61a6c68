import type { TreeNode } from '../../model/tree/branch-index.js';
import { openPanes, type OpenPane } from '../../state/ui-state.js';
import { type Line, onBackground, span } from '../../surface/span.js';

/** Names of the panes with the one in use marked: `log │ charts │ config │ attempts`. */
export function openTabs(kind: TreeNode['kind'], focus: OpenPane): Line {
  return panesOf(kind).flatMap((pane, index): Line => {
    const name = ` ${pane === 'log' && kind !== 'run' ? 'runs' : pane} `;
    const tab = pane === focus ? onBackground([span(name, 'strong')], 'selected') : [span(name, 'dim')];
    return index === 0 ? tab : [span('│', 'faint'), ...tab];
  });
}

/** The panes of an open run or group. */
export function panesOf(kind: TreeNode['kind']): readonly OpenPane[] {
  return kind === 'run' ? openPanes : ['log', 'charts'];
}
