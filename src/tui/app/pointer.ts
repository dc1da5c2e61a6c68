import type { InputEvent } from '../terminal/input-event.js';
import { keyMapOf } from './key-map.js';
import type { KeyPreset } from '../state/preferences-port.js';
import { scrollTo } from '../widgets/scroll.js';
import type { UiState } from '../state/ui-state.js';
import { textWidth } from '../../text/display-width.js';
import { listArea } from './screen.js';
import type { Line } from '../widgets/span.js';

export type Pointing = Extract<InputEvent, { kind: 'click' | 'wheel' }>;

/** What a click or a turn of the wheel does. `row`: of the list. */
export type Pointed =
  | { readonly kind: 'press'; readonly key: string; readonly times: number }
  | { readonly kind: 'select'; readonly row: number }
  | { readonly kind: 'nothing' };

/** What there is to point at. */
export type Target = {
  readonly ui: UiState;
  readonly width: number;
  readonly height: number;
  /** Rows of the list, and which of them is selected. */
  readonly rows: number;
  readonly index: number;
  /** The last line of the screen: the keys. */
  readonly keysLine: Line;
};

const nothing: Pointed = { kind: 'nothing' };
/** Rows per notch of the wheel. */
const notch = 3;

/** What the person means by pointing there. */
export function pointed(event: Pointing, target: Target): Pointed {
  return event.kind === 'wheel' ? turned(event, target) : clicked(event, target);
}

/** The wheel moves what is under the pointer. It answers no question, and does not leaf through what was typed before. */
function turned({ way, column, row }: Extract<Pointing, { kind: 'wheel' }>, { ui, width, height }: Target): Pointed {
  if (ui.dialog.kind === 'confirm' || 'line' in ui.dialog) return nothing;
  if (ui.dialog.kind === 'none' && ui.screen.kind === 'jobs' && rowAt(column, row, width, height) === null)
    return nothing;
  return { kind: 'press', key: way, times: ui.screen.kind === 'gpus' ? 1 : notch };
}

function clicked({ column, row }: Extract<Pointing, { kind: 'click' }>, target: Target): Pointed {
  const { ui, width, height, rows, index, keysLine } = target;
  if (row === height - 1) {
    const key = keyAt(keysLine, column, ui.keys);
    return key === null ? nothing : { kind: 'press', key, times: 1 };
  }
  if (ui.dialog.kind !== 'none' || ui.screen.kind !== 'jobs') return nothing;
  const offset = rowAt(column, row, width, height);
  if (offset === null) return nothing;
  const chosen = scrollTo(index, ui.top, listArea(width, height).height, rows) + offset;
  return chosen < rows ? { kind: 'select', row: chosen } : nothing;
}

/** Which row of the list on the screen; null beside it. */
function rowAt(column: number, row: number, width: number, height: number): number | null {
  const area = listArea(width, height);
  const offset = row - area.top;
  return offset >= 0 && offset < area.height && column < area.width ? offset : null;
}

/** The key whose hint is there. A hint is a span in the tone of keys, and the word after it. */
function keyAt(line: Line, column: number, preset: KeyPreset): string | null {
  let end = 0;
  let key: string | null = null;
  for (const { text, tone } of line) {
    end += textWidth(text);
    if (tone === 'key') key = text.trim();
    if (column < end) return key === null || tone === 'plain' ? null : nameOfShown(key, preset);
  }
  return null;
}

/** A hint for several keys (`↑↓`) is none to press. */
function nameOfShown(shown: string, preset: KeyPreset): string | null {
  const row = keyMapOf(preset).find((binding) => binding.shown === shown);
  if (row !== undefined) return row.keys.length > 2 ? null : row.keys.at(row.command === 'leave' ? 0 : -1)!;
  return /^[!-~]$/.test(shown) ? shown : shown.startsWith('Ctrl-') ? shown.toLowerCase() : null;
}

/** Time within which a second click belongs to the first, ms. */
const doubleClick = 400;

/** Tells a second click on a row from a first. */
export class Clicks {
  #last: { row: number; at: number } | null = null;

  /** To be asked once for each click. `now`: Unix ms. */
  isSecond(row: number, now: number): boolean {
    const isSecond = this.#last?.row === row && now - this.#last.at < doubleClick;
    this.#last = isSecond ? null : { row, at: now };
    return isSecond;
  }
}
