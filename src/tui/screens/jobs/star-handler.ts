import { counted } from '../../../text/numbers.js';
import { type Handler, refuse } from '../../keys/key-context.js';
import type { RunSummary } from '../../state/port.js';

/** Stars the marked runs, or otherwise the selected run or group; removes the stars if all of them have one. */
export const star: Handler = (ui, at) => {
  const runs = ui.marks.size > 0 ? at.runs.filter(({ id }) => ui.marks.has(id)) : selected(at);
  if (runs.length === 0) return refuse(ui, 'There is no run to star.');
  const starred = !runs.every(({ annotation }) => annotation?.starred === true);
  const what = runs.length === 1 ? runs[0]!.name : counted(runs.length, 'run');
  const ids = runs.map(({ id }) => id);
  return {
    ui,
    order: { type: 'annotate', ids, change: { starred }, doing: `${starred ? 'Starring' : 'Unstarring'} ${what}` },
  };
};

function selected({ rows, index }: Parameters<Handler>[1]): readonly RunSummary[] {
  const node = rows[index];
  if (node === undefined) return [];
  return node.kind === 'run' ? [node.run] : node.runs;
}
