import { textWidth } from '../../text/display-width.js';
import type { KeyPreset } from '../state/preferences-port.js';
import type { Line } from '../surface/span.js';
import { keyMapOf } from '../screens/key-map.js';

/** The key of the hint at a column. A hint is a span in the tone of keys, followed by its word. */
export function keyHintAt(line: Line, column: number, preset: KeyPreset): string | null {
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
function nameOfShown(shown: string, preset: KeyPreset): string | null {
  const row = keyMapOf(preset).find((binding) => binding.shown === shown);
  if (row !== undefined) return row.keys.length > 2 ? null : row.keys.at(row.command === 'leave' ? 0 : -1)!;
  return /^[!-~]$/.test(shown) ? shown : shown.startsWith('Ctrl-') ? shown.toLowerCase() : null;
}
