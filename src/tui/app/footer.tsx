import { isActing } from '../keys/acting-commands.js';
import { Box } from 'ink';
import { useCallback } from 'react';
import { LiveLine, useModel, useModelSource } from '../model/use-model.js';
import type { OnPoint } from '../surface/surface.js';
import { textWidth } from '../../text/display-width.js';
import type { KeyMapping } from '../state/preferences-port.js';
import { type Line, ends, fitLine, span } from '../surface/span.js';
import { keyMapOf, keysOn } from '../screens/key-map.js';
import { cleanText } from '../../text/display-text.js';
import { always } from '../keys/key-row.js';
import { dialogHints } from '../dialogs/key-stack.js';
import { fittingHints, hintLine, hintWidth, type KeyHint } from '../widgets/key-hints.js';
import { isInitialSort, sortWords } from '../state/sort.js';
import { selectedNode, type WindowModel } from '../model/window-model.js';

/** The last message and the keys, which change with nearly every key press. */
export function Footer({ width }: { readonly width: number }) {
  return (
    <Box flexDirection="column" width={width} height={2} flexShrink={0}>
      <LiveLine width={width} read={messageLine} />
      <Keys width={width} />
    </Box>
  );
}

/** One row for a small screen: the message if there is one, otherwise the keys. */
export function ShortFooter({ width }: { readonly width: number }) {
  const hasMessage = useModel(({ ui }) => ui.note !== null);
  return hasMessage ? <LiveLine width={width} read={messageLine} /> : <Keys width={width} />;
}

/** Key hints; a click on one presses its key. */
function Keys({ width }: { readonly width: number }) {
  const source = useModelSource();
  const point = useCallback<OnPoint>(
    ({ column }) => {
      const model = source.model();
      const key = keyHintAt(keysLine(model, width), column, model.ui.keys);
      if (key !== null) source.press(key);
    },
    [source, width],
  );
  return <LiveLine width={width} read={keysLine} onPoint={point} />;
}

/** The key of the hint at a column. A hint is a span in the tone of keys, followed by its word. */
function keyHintAt(line: Line, column: number, keys: KeyMapping): string | null {
  let end = 0;
  let key: string | null = null;
  for (const { text, tone } of line) {
    end += textWidth(text);
    if (tone === 'key') key = text.trim();
    if (column < end) return key === null || tone === 'plain' ? null : nameOfShown(key, keys);
  }
  return null;
}

/** The key for a shown name; null for a hint that stands for several keys (`↑↓`). */
function nameOfShown(shown: string, keys: KeyMapping): string | null {
  const row = keyMapOf(keys).find((binding) => binding.shown === shown);
  // The digits are one row.
  if (row !== undefined) return row.command === 'jump' ? null : row.keys[0]!;
  return /^[!-~]$/.test(shown) ? shown : shown.startsWith('Ctrl-') ? shown.toLowerCase() : null;
}

/** The last refusal or answer, otherwise what the list shows. */
function messageLine(model: WindowModel, width: number): Line {
  const { note } = model.ui;
  if (note !== null) return fitLine([span(` ${note.text}`, note.tone)], width);
  if (model.pending.length > 0) return fitLine([span(` ${model.pending.join(' · ')}`, 'dim')], width);
  return ends(listState(model), directory(model, width), width);
}

function listState({ ui, metric }: WindowModel): Line {
  const parts = [
    ui.filter === '' ? null : `filter ${ui.filter}`,
    isInitialSort(ui.sort) ? null : sortWords(ui.sort, metric),
    metric === null ? null : `metric ${metric}`,
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

/** As many keys as fit; those that lead on or out are always included. */
export function keysLine(model: WindowModel, width: number): Line {
  const inDialog = dialogHints(model);
  if (inDialog !== null) return fitLine(hintLine(fittingHints(inDialog, width)), width);
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
