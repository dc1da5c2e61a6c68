import type { LogLine } from '../../../logs/log-file.js';
import { matchWithin, readLogPattern } from '../../../logs/log-search.js';
import type { LogChoice } from '../../state/run-choice.js';
import { sizeText } from '../../../text/numbers.js';
import {
  isAtEnd,
  type LogPage,
  type LogRoom,
  type LogRow,
  type LogSpot,
  rowsOf,
  shownText,
  topOf,
} from './log-scroll.js';
import { sectionRule } from '../line-parts.js';
import { fitLine, type Line, onBackground, span, type Span, type Tone, fit } from '../../surface/span.js';
import { attemptRule } from '../../../contract/files.js';
import { wrapWithin } from '../../../text/wrap.js';

/** Columns beside the text for the mark of a found line. */
const logGutter = 2;

/** The log of an open run. `progress`: percentage covered by a search. `isLive`: more may be written. */
type ShownLog = {
  readonly page: LogPage | null;
  readonly choice: LogChoice;
  readonly progress: number | null;
  readonly isLive: boolean;
};

type Room = { readonly width: number; readonly height: number };

/** Rows and columns of the log's text in a pane. */
export function logRoom({ width, height }: Room, wraps: boolean): LogRoom {
  return { width: Math.max(1, width - logGutter), height: Math.max(1, height - 1), wraps };
}

/** A rule with the position in the log, and the lines there; at most `height` lines. */
export function logPane(log: ShownLog, pane: Room): Line[] {
  const { page, choice } = log;
  const room = logRoom(pane, choice.wraps);
  const top = page === null ? null : topOf(page, choice.place, room);
  if (page === null || top === null) {
    const words = page === null ? 'reading…' : log.isLive ? 'no output yet' : 'no output';
    return [sectionRule('log', rightOf(log, null), pane.width), [span(`  ${words}`, 'faint')]];
  }
  const { lines, last } = drawn(page, top, room, choice);
  return [sectionRule('log', rightOf(log, last), pane.width), ...lines.map((line) => fitLine(line, pane.width))];
}

/** The rows from `top` on, and the index of the last line among them. */
function drawn(page: LogPage, top: LogSpot, room: LogRoom, choice: LogChoice): { lines: Line[]; last: number } {
  const matches = matchesOf(page.lines.slice(top.index, top.index + room.height), choice.search);
  const lines: Line[] = [];
  let index = top.index;
  for (; index < page.lines.length && lines.length < room.height; index++) {
    const line = page.lines[index]!;
    const rows = rowsOf(line, room).slice(index === top.index ? top.row : 0);
    const sign = signOf(line, page, choice);
    const tone = toneOf(line);
    rows.forEach((row) => {
      if (lines.length < room.height) lines.push([sign, ...rowSpans(row, tone, matches[index - top.index] ?? [])]);
    });
  }
  return { lines, last: index - 1 };
}

/** The mark of the found line, or of the line with the reason of the failure. */
function signOf({ offset }: LogLine, { failure }: LogPage, { hit }: LogChoice): Span {
  if (hit?.offset === offset) return span('▸ ', hit.of === 'error' ? 'bad' : 'title');
  return failure === offset ? span('▸ ', 'bad') : span('  ');
}

function toneOf({ text }: LogLine): Tone {
  const tone = logTone(text);
  return tone === 'dim' ? 'plain' : tone;
}

type Range = { readonly from: number; readonly to: number };

/** Maximum number of matches per line; more could not be distinguished. */
const mostMatches = 200;

/** Maximum time of an expression on the lines of a screen, in ms. */
const PATIENCE_MS = 100;
/** The last expression that took longer, which is not tried again for each frame. */
let tooSlow = '';

/** The matches in each line to highlight; none if that takes too long, which the search itself reports. */
function matchesOf(lines: readonly LogLine[], search: string): readonly (readonly Range[])[] {
  const pattern = search === tooSlow ? null : patternOf(search);
  if (pattern === null) return [];
  const texts = lines.map(shownText);
  const matched = matchWithin(() => texts.map((text) => rangesOf(text, pattern)), PATIENCE_MS);
  if (matched.kind === 'matched') return matched.value;
  tooSlow = search;
  return [];
}

function rangesOf(text: string, pattern: RegExp): Range[] {
  const ranges: Range[] = [];
  for (const { 0: found, index } of text.matchAll(pattern)) {
    if (found !== '') ranges.push({ from: index, to: index + found.length });
    if (ranges.length >= mostMatches) break;
  }
  return ranges;
}

function rowSpans({ text, start }: LogRow, tone: Tone, matches: readonly Range[]): Line {
  const spans: Span[] = [];
  let at = 0;
  for (const { from, to } of matches) {
    const [first, last] = [Math.max(at, from - start), Math.min(text.length, to - start)];
    if (last <= first) continue;
    spans.push(span(text.slice(at, first), tone), ...onBackground([span(text.slice(first, last), 'warn')], 'selected'));
    at = last;
  }
  return [...spans, span(text.slice(at), tone)];
}

function patternOf(search: string): RegExp | null {
  const read = search === '' ? null : readLogPattern(search);
  return read?.kind === 'pattern' ? read.regexp : null;
}

/** Position in the log, and the search. */
function rightOf({ page, choice, progress, isLive }: ShownLog, last: number | null): Line {
  const searched = choice.seek?.of === 'error' ? 'first error' : `/${choice.search}/`;
  const search: Line =
    choice.seek !== null
      ? [span(`${searched} searching… ${progress ?? 0} %`, 'busy'), span(' Esc stops', 'faint')]
      : choice.search !== ''
        ? [span(searched, 'warn')]
        : [];
  if (page === null || last === null) return search;
  return search.length === 0
    ? placeOf(page, last, isLive)
    : [...search, span(' · ', 'faint'), ...placeOf(page, last, isLive)];
}

function placeOf(page: LogPage, last: number, isLive: boolean): Line {
  const line = page.lines[last]!;
  const isEnd = isAtEnd(page) && last === page.lines.length - 1;
  const size = span(sizeText(page.size), 'faint');
  if (isEnd) return [span(isLive ? 'following' : 'end', isLive ? 'good' : 'dim'), span(' · ', 'faint'), size];
  const number = numberOf(page, last);
  const percent = `${Math.floor((line.end / Math.max(1, page.size)) * 100)} %`;
  return [span(`${number === null ? '' : `line ${number} · `}${percent}`, 'warn'), span(' · ', 'faint'), size];
}

/** Number of a line; null unless lines were counted from the start of the log. */
function numberOf({ lines, firstNumber }: LogPage, index: number): number | null {
  if (firstNumber === null) return null;
  return firstNumber + lines.slice(0, index).filter(({ endsLine }) => endsLine).length;
}

/** The shown part of a log. `offset`: lines scrolled back. `wraps`: whether lines are wrapped or cut to one row each. */
type LogView = { readonly offset: number; readonly wraps: boolean };

/** The end of the log with the newest line at the bottom: exactly `height` lines. Lines about errors are never cut. */
export function logSection(log: readonly string[], view: LogView, width: number, height: number): Line[] {
  const right = view.offset > 0 ? [span(`${view.offset} lines below`, 'warn')] : [];
  return [sectionRule('log', right, width), ...logLines(log, view, width, height - 1)];
}

function logLines(log: readonly string[], { offset, wraps }: LogView, width: number, height: number): Line[] {
  const last = Math.max(0, log.length - offset);
  const drawn: Line[] = [];
  for (let index = last - 1; index >= 0 && drawn.length < height; index--) {
    const text = log[index]!;
    const tone = logTone(text);
    const pieces = wrapWithin(text, width, wraps || tone === 'bad' ? 4 : 1);
    drawn.unshift(...pieces.map((piece): Line => [span(fit(piece, width), tone)]));
  }
  if (log.length === 0) drawn.push([span(fit('no output', width), 'faint')]);
  const shown = drawn.slice(Math.max(0, drawn.length - height));
  return [...shown, ...Array.from({ length: Math.max(0, height - shown.length) }, (): Line => [])];
}

/** The tone of a line, guessed from its words. */
function logTone(text: string): Tone {
  if (attemptRule.test(text)) return 'accent';
  if (/\b(?:\w*Error|\w*Exception|Traceback|FATAL|CRITICAL|panic|Killed)\b/.test(text)) return 'bad';
  if (/\b(?:WARN(?:ING)?|\w*Warning)\b/i.test(text)) return 'warn';
  return 'dim';
}
