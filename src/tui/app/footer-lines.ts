import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { always, isActing } from '../keys/key-row.js';
import { selectedNode, type WindowModel } from '../model/window-model.js';
import { keysOn } from '../screens/key-map.js';
import { isInitialSort, sortWords } from '../state/sort.js';
import { ends, fitLine, type Line, span } from '../surface/span.js';
import { hintLine, hintWidth, type KeyHint } from '../widgets/key-hints.js';

/** The last refusal or answer, otherwise what the list shows. */
export function messageLine(model: WindowModel, width: number): Line {
  const { note } = model.ui;
  if (note !== null) return fitLine([span(` ${note.text}`, note.tone)], width);
  if (model.pending.length > 0) return fitLine([span(` ${model.pending.join(' · ')}`, 'dim')], width);
  return ends(listState(model), directory(model, width), width);
}

function listState({ ui, metric, detail }: WindowModel): Line {
  const shown = detail.charts[0]?.metric ?? metric;
  const parts = [
    ui.filter === '' ? null : `filter ${ui.filter}`,
    isInitialSort(ui.sort) ? null : sortWords(ui.sort, metric),
    // A warm-up has charts of its own metrics.
    metric === null
      ? null
      : `${ui.screen.kind === 'jobs' && shown !== metric ? 'metric of the list' : 'metric'} ${metric}`,
  ];
  const marked = ui.marks.size === 0 ? [] : [span(` ◆ ${ui.marks.size} marked ·`, 'accent')];
  return [...marked, span(` ${parts.filter((part) => part !== null).join(' · ')}`, 'faint')];
}

/** The directory of the selected run, if it leaves room for the rest. */
function directory(model: WindowModel, width: number): Line {
  const node = selectedNode(model);
  if (node?.kind !== 'run') return [];
  const { directory: link } = node.run;
  const path = cleanText(link);
  // A directory of another host has the name of that before it, and cannot be opened here.
  const shown = link.startsWith('/') ? { text: path, tone: 'faint' as const, link } : span(path, 'faint');
  return textWidth(path) > width * 0.6 ? [] : [shown, span(' ')];
}

/** As many keys of the shown screen as fit; those that lead on or out are always included. */
export function screenKeysLine(model: WindowModel, width: number): Line {
  return fitLine(fitting(screenHints(model), width), width);
}

/** `worth`: hints worth more stay longer in a narrow footer. */
type ScreenHint = readonly [...hint: KeyHint, worth: number];

/** Key hints of the shown screen in the order of its table. A window that only looks offers nothing that acts on runs. */
function screenHints(model: WindowModel): ScreenHint[] {
  const { screen, keys } = model.ui;
  const isReadOnly = model.status.readOnly !== undefined;
  return keysOn(screen.kind, keys).flatMap(({ short, hint, shown, worth, command }): ScreenHint[] => {
    if (isReadOnly && isActing(command)) return [];
    const word = typeof short === 'function' ? short(model) : short;
    return word === null || word === undefined ? [] : [[hint ?? shown, word, worth ?? 1]];
  });
}

/** Drops the hint worth least until the line fits; among equals, the last. */
function fitting(list: readonly ScreenHint[], width: number): Line {
  const kept = new Set(list);
  const columnsOf = ([key, does]: ScreenHint): number => hintWidth([key, does]);
  let columns = list.reduce((sum, hint) => sum + columnsOf(hint), 0);
  for (const hint of list.toReversed().sort((a, b) => worthOf(a) - worthOf(b))) {
    if (columns <= width || worthOf(hint) === always) break;
    kept.delete(hint);
    columns -= columnsOf(hint);
  }
  return hintLine(list.filter((hint) => kept.has(hint)).map(([key, does]) => [key, does]));
}

function worthOf([, , worth]: ScreenHint): number {
  return worth;
}
