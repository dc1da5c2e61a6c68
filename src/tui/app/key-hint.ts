import { textWidth } from '../../text/display-width.js';
import type { KeyMapping } from '../state/preferences-port.js';
import type { Line } from '../surface/span.js';
import { keyMapOf } from '../screens/key-map.js';

/** The key of the hint at a column. A hint is a span in the tone of keys, followed by its word. */
export function keyHintAt(line: Line, column: number, preset: KeyMapping): string | null {
  let end = 0;
  let key: string | null = null;
  for (const { text, tone } of line) {
    end += textWidth(text);
    if (tone === 'key') key = text.trim();
    if (column < end) return key === null || tone === 'plain' ? null : nameOfShown(key, preset);
  }
  return null;
}

/** The key for a shown name; null for a hint that stands for several keys (`↑↓`). */
function nameOfShown(shown: string, preset: KeyMapping): string | null {
  const row = keyMapOf(preset).find((binding) => binding.shown === shown);
  // The digits are one row.
  if (row !== undefined) return row.command === 'jump' ? null : row.keys[0]!;
  return /^[!-~]$/.test(shown) ? shown : shown.startsWith('Ctrl-') ? shown.toLowerCase() : null;
}
