import { Box } from 'ink';
import { useCallback } from 'react';
import { textWidth } from '../../text/display-width.js';
import { dialogHints } from '../dialogs/key-stack.js';
import { LiveLine, useModel, useModelSource } from '../model/use-model.js';
import type { WindowModel } from '../model/window-model.js';
import { keyMapOf } from '../screens/key-map.js';
import type { KeyMapping } from '../state/preferences-port.js';
import type { OnPoint } from '../surface/surface.js';
import { fitLine, type Line } from '../surface/span.js';
import { fittingHints, hintLine } from '../widgets/key-hints.js';
import { messageLine, screenKeysLine } from './footer-lines.js';

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

/** The keys of the open dialog or of the shown screen. */
export function keysLine(model: WindowModel, width: number): Line {
  const inDialog = dialogHints(model);
  if (inDialog !== null) return fitLine(hintLine(fittingHints(inDialog, width)), width);
  return screenKeysLine(model, width);
}
