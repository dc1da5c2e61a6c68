import { cleanText } from '../../text/display-text.js';
import { textWidth } from '../../text/display-width.js';
import { narrowNumber } from '../../text/numbers.js';
import { wrapWithin } from '../../text/wrap.js';
import type { Draft } from '../state/editor-port.js';
import { keysOn } from '../app/key-map.js';
import type { RunWord } from '../state/port.js';
import type { KeyPreset } from '../state/preferences-port.js';
import type { Offer } from '../state/prompt.js';
import { scrollTo } from '../widgets/scroll.js';
import type { Dialog, ScreenKind } from '../state/ui-state.js';
import { xChoiceLines } from './chart-x-choices.js';
import { listDialogBox } from './list-dialog-box.js';
import type { Box } from './box.js';
import { dialogFrame } from '../widgets/dialog-size.js';
import type { Size } from '../surface/surface.js';
import { paletteBox } from './palette-box.js';
import { columnsOf, fit, fitRight, type Line, lineWidth, onBackground, span } from '../widgets/span.js';
import { stateLook, statesInOrder } from '../model/state-look.js';
import { selectedRuns, type WindowModel } from '../model/window-model.js';

/** What a dialog is drawn from, besides its own state. */
interface Ground {
  readonly model: WindowModel;
  readonly width: number;
  /** Rows of the whole screen, and of the largest box on it. */
  readonly rows: number;
  readonly page: number;
}

type BoxOf<D extends Dialog> = (dialog: D, ground: Ground) => Box | null;

/** The box of each dialog; null where it stands in the last rows of the screen or has nothing to show yet. */
const boxes: { readonly [K in Dialog['kind']]: BoxOf<Extract<Dialog, { kind: K }>> } = {
  none: () => null,
  search: () => null,
  confirm: () => null,
  filter: () => null,
  help: ({ top }, { model, page }) => part('keys', helpLines(model.ui.screen.kind, model.ui.keys), top, page),
  table: ({ top }, { model, page }) => part(model.title, tableLines(model), top, page),
  metrics: ({ index }, { model, page }) =>
    chooser('metric', metricLines(model, index), { index, count: model.metrics.length, page }),
  'x-axis': ({ index }, { model, page }) =>
    chooser('x axis', xChoiceLines(model.xChoices, index), { index, count: model.xChoices.length, page }),
  axes: ({ index, keys }, { model, page }) => part('axes of the heatmap', axesLines(keys, model, index), 0, page),
  palette: (dialog, { model, width, rows }) =>
    model.palette === null ? null : paletteBox(dialog, model.palette, model.ui, { width, rows }),
  draft: ({ draft, top }, { width, page }) => draftBox(draft, top, { width, rows: page }),
  grouping: (dialog, { model, page }) => listDialogBox(model, dialog, page),
  columns: (dialog, { model, page }) => listDialogBox(model, dialog, page),
  views: (dialog, { model, page }) => listDialogBox(model, dialog, page),
};

/** The box of the dialog that is open; null where there is none, or none is to be seen. */
export function openBox(model: WindowModel, { width, height }: Size): Box | null {
  const { dialog } = model.ui;
  // The table has a function for each kind of dialog; the compiler cannot see that key and argument belong together.
  const boxOf = boxes[dialog.kind] as BoxOf<Dialog>;
  return boxOf(dialog, { model, width, rows: height, page: Math.max(1, height - 4) });
}

/** A list to choose from, at most twenty rows of it, with the chosen one in sight. */
function chooser(
  title: string,
  lines: readonly Line[],
  { index, count, page }: { readonly index: number; readonly count: number; readonly page: number },
): Box {
  const rows = Math.min(page, 20);
  return part(title, lines, scrollTo(index, Math.max(0, index - (rows >> 1)), rows, count), rows);
}

function part(title: string, lines: readonly Line[], top: number, rows: number): Box {
  return { title, lines: lines.slice(top, top + rows), below: Math.max(0, lines.length - top - rows) };
}

/** The keys of the screen and the signs of the states. */
export function helpLines(screen: ScreenKind, preset: KeyPreset): Line[] {
  const keys = keysOn(screen, preset).map(({ shown, help }): Line => [span(fit(shown, 8), 'key'), span(help, 'plain')]);
  const half = Math.ceil(statesInOrder.length / 2);
  return [...keys, [], signs(statesInOrder.slice(0, half)), signs(statesInOrder.slice(half))];
}

function signs(states: readonly RunWord[]): Line {
  return states.flatMap((state) => [
    span(`${stateLook[state].glyph} `, stateLook[state].tone),
    span(fit(state, 10), 'dim'),
  ]);
}

function tableLines({ table }: WindowModel): Line[] {
  return (table ?? []).map((line): Line => [span(cleanText(line))]);
}

/** The keys of metrics with the selection's last values, the chosen one marked. */
function metricLines({ metrics, rows, index }: WindowModel, chosen: number): Line[] {
  const width = Math.max(12, ...metrics.map(({ length }) => length));
  const runs = selectedRuns(rows[index]);
  return metrics.map((key, position): Line => {
    const values = runs.map(({ metrics: last }) => last[key]).filter((value) => typeof value === 'number');
    const mean = values.length === 0 ? '' : narrowNumber(values.reduce((sum, value) => sum + value, 0) / values.length);
    const line = [span(` ${fit(cleanText(key), width)} `), span(fitRight(mean, 9), 'value')];
    return position === chosen ? onBackground(line, 'selected') : line;
  });
}

const most = 32;

/** The parameters that may be on the axes of the heatmap, with the axis they are on. */
function axesLines(keys: readonly string[], { ui }: WindowModel, chosen: number): Line[] {
  const { axes } = ui.compare;
  const width = Math.min(most, Math.max(16, ...keys.map(({ length }) => length)));
  return keys.map((key, index): Line => {
    const place = key === axes?.across ? 'across →' : key === axes?.down ? 'down ↓' : '';
    const line = [span(` ${fit(cleanText(key), width)} `), span(fit(place, 9), 'accent')];
    return index === chosen ? onBackground(line, 'selected') : line;
  });
}

const mostRows = 8;

/** Where a list of words lies on the screen. */
type Offered = { readonly left: number; readonly top: number; readonly width: number; readonly lines: readonly Line[] };

/**
 * What the prompt at the bottom of the screen can go on with, above the word it belongs to; null when there is nothing.
 *
 * @param column Where the word begins. @param below Rows of the prompt and of what is under it.
 */
export function offered(
  offer: Offer,
  size: Size,
  { column, below }: { readonly column: number; readonly below: number },
): Offered | null {
  const rows = Math.min(offer.candidates.length, mostRows, size.height - below - 1);
  if (rows <= 0) return null;
  const lines = offerLines(offer, rows);
  const width = Math.min(size.width, Math.max(...lines.map(lineWidth)));
  const left = Math.max(0, Math.min(column - 1, size.width - width));
  return { left, top: size.height - below - rows, width, lines: lines.map((line) => columnsOf(line, 0, width)) };
}

function offerLines({ candidates, chosen }: Offer, rows: number): Line[] {
  const top = scrollTo(chosen ?? 0, 0, rows, candidates.length);
  const shown = candidates.slice(top, top + rows).map(cleanText);
  const more = candidates.length - rows;
  const width = Math.min(60, Math.max(...shown.map(textWidth)));
  return shown.map((text, row) => {
    const isLast = row === rows - 1 && more > 0;
    const line: Line = [span(` ${fit(text, width)} `), ...(isLast ? [span(`+${more} `, 'dim')] : [])];
    return onBackground(line, top + row === chosen ? 'selected' : 'raised');
  });
}

/** What submitting a draft would do, or what is wrong with it, and what the keys do; at most `rows` lines. */
export function draftBox({ title, path, verdict }: Draft, top: number, { width, rows }: Room): Box {
  const isReady = verdict.kind === 'ready';
  const said = 'lines' in verdict ? verdict.lines : [];
  const inner = width - dialogFrame - 2;
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
