import { cleanText } from '../../text/display-text.js';
import type { Draft } from '../editor-port.js';
import { type Box, boxFrame } from './overlay.js';
import { type Line, span } from './span.js';
import { wrapWithin } from '../../text/wrap.js';

/** What submitting a draft would do, or what is wrong with it, and what the keys do; at most `rows` lines. */
export function draftBox({ title, path, verdict }: Draft, top: number, { width, rows }: Room): Box {
  const isReady = verdict.kind === 'ready';
  const said = 'lines' in verdict ? verdict.lines : [];
  const inner = width - boxFrame - 2;
  const lines = said.flatMap((line) => {
    const tone = toneOf(line, isReady);
    return wrapped(line, inner).map((part): Line => [span(part, tone)]);
  });
  const head: Line[] = verdict.kind === 'ready' ? [[span(verdict.summary, 'strong')], []] : [];
  const foot: Line[] = [[], keysOf(isReady), [span(cleanText(path), 'faint')]];
  const room = Math.max(1, rows - head.length - foot.length);
  const from = Math.max(0, Math.min(top, lines.length - room));
  const below = Math.max(0, lines.length - from - room);
  return { title: cleanText(title), lines: [...head, ...lines.slice(from, from + room), ...foot], below };
}

/** Columns and rows there are. */
type Room = { readonly width: number; readonly rows: number };

/** Lines with a mark below them keep their columns; words are wrapped. */
function wrapped(line: string, width: number): readonly string[] {
  const text = cleanText(line);
  return /^\s*\d* \| /.test(text) ? [text] : wrapWithin(text, width, 12);
}

function toneOf(line: string, isReady: boolean): 'plain' | 'bad' {
  if (isReady) return 'plain';
  return /^\s*(→|-|\d* \|)/.test(line) ? 'plain' : 'bad';
}

function keysOf(isReady: boolean): Line {
  const keys = isReady
    ? [
        ['Enter', 'submit'],
        ['e', 'edit again'],
        ['Esc', 'cancel'],
      ]
    : [
        ['Enter', 'edit again'],
        ['Esc', 'cancel'],
      ];
  return keys.flatMap(([key, does]) => [span(`${key} `, 'key'), span(`${does}   `, 'dim')]);
}
