import { assertNever } from '../../base/assert-never.js';
import { compareScreen } from './compare-screen.js';
import { chartStrip, detailPane } from './detail-pane.js';
import { withDialog } from './dialogs.js';
import { footer, keysLine, messageLine } from './footer.js';
import { gpuScreen } from './gpu-screen.js';
import { header, shortHeader } from './header.js';
import { listPane, listRows } from './list-pane.js';
import { openScreen } from './open-screen.js';
import { blank, fitLine, type Line, span } from './span.js';
import { sweepScreen } from './sweep-screen.js';
import type { WindowModel } from './window-model.js';

/** Below this much room there is only a list; below the minimum, nothing that would be of use. */
const whole = { width: 80, height: 24 };
const least = { width: 40, height: 10 };
/** From this width on the selection has a pane beside the list; from this height on a curve below it. */
const wide = 100;
const tall = 30;

/** The whole window: exactly `height` lines of `width` columns. */
export function screen(model: WindowModel, width: number, height: number): readonly Line[] {
  if (width < least.width || height < least.height) return tooSmall(width, height);
  return withDialog(plainScreen(model, width, height), model, width);
}

/** Rows of the list on a window of this size: what a page is. */
export function listHeight(width: number, height: number): number {
  if (width < whole.width || height < whole.height) return Math.max(1, height - 2);
  return bodyHeight(height) - stripHeight(width, height) - 1;
}

/** Where the rows of the list are on the screen, counted from 0. */
export function listArea(width: number, height: number): { top: number; width: number; height: number } {
  const isSmall = width < whole.width || height < whole.height;
  return {
    top: isSmall ? 1 : 4,
    width: isSmall || width < wide ? width : listWidth(width),
    height: listHeight(width, height),
  };
}

/** Columns of the list beside a pane. */
function listWidth(width: number): number {
  return Math.max(58, Math.min(104, Math.floor(width * 0.6)));
}

/** Rows of a screen that has the window to itself, between header and footer. */
export function wholeHeight(width: number, height: number): number {
  return width < whole.width || height < whole.height ? height - 2 : bodyHeight(height);
}

function plainScreen(model: WindowModel, width: number, height: number): Line[] {
  if (width < whole.width || height < whole.height) return smallScreen(model, width, height);
  const body = bodyHeight(height);
  const main = bodyOf(model, width, { body, height });
  return [...header(model, width), ...padTo(main, width, body), ...footer(model, width)];
}

/** What stands between header and footer. `height`: of the whole window. */
function bodyOf(model: WindowModel, width: number, { body, height }: { body: number; height: number }): Line[] {
  const { screen: shown } = model.ui;
  switch (shown.kind) {
    case 'jobs':
      return jobsBody(model, width, height);
    case 'open':
      return openBody(model, width, body);
    case 'compare':
      return compareScreen(model, width, body);
    case 'gpus':
      return gpuScreen(model, width, body);
    case 'sweep':
      return sweepScreen(model, width, body);
    default:
      return assertNever(shown);
  }
}

/** Rows between header and footer. */
function bodyHeight(height: number): number {
  return height - 5;
}

/** Rows of the curve below the list, on a terminal that is tall but not wide. */
function stripHeight(width: number, height: number): number {
  return width < wide && height >= tall ? Math.floor(bodyHeight(height) * 0.4) : 0;
}

function jobsBody(model: WindowModel, width: number, height: number): Line[] {
  const body = bodyHeight(height);
  const strip = stripHeight(width, height);
  if (width < wide) {
    if (strip === 0) return listPane(model, width, body);
    // A short list leaves its room to the curve.
    const rows = Math.min(body - strip, Math.max(6, model.rows.length + 2));
    return [...padTo(listPane(model, width, rows), width, rows), ...chartStrip(model, width, body - rows)];
  }
  const left = listWidth(width);
  const right = width - left - 3;
  const list = listPane(model, left, body);
  const detail = detailPane(model, right, body);
  return Array.from({ length: body }, (_, row): Line => [
    ...(list[row] ?? blank(left)),
    span(' │ ', 'faint'),
    ...(detail[row] ?? blank(right)),
  ]);
}

function openBody(model: WindowModel, width: number, body: number): Line[] {
  return openScreen(model, openWidth(width), body).map((line): Line => [span(' '), ...line, span(' ')]);
}

/** Columns of the open screen, on a window of that width. */
export function openWidth(width: number): number {
  return width - 2;
}

/** One line of header, the list, and one of footer. */
function smallScreen(model: WindowModel, width: number, height: number): Line[] {
  const { ui } = model;
  const hasMessage = ui.note !== null || ui.dialog.kind !== 'none';
  const main = smallBody(model, width, height - 2);
  return [
    shortHeader(model, width),
    ...padTo(main, width, height - 2),
    hasMessage ? messageLine(model, width) : keysLine(model, width),
  ];
}

function smallBody(model: WindowModel, width: number, body: number): Line[] {
  const { kind } = model.ui.screen;
  if (kind === 'jobs') return listRows(model, width, body);
  return kind === 'open' ? openScreen(model, width, body) : bodyOf(model, width, { body, height: body });
}

function tooSmall(width: number, height: number): Line[] {
  const words = [
    `${width}×${height} is too small:`,
    `the minimum is ${least.width}×${least.height}.`,
    'q detaches; runs keep running.',
  ];
  return padTo(
    words.map((text): Line => fitLine([span(text, 'warn')], width)),
    width,
    height,
  );
}

/** Exactly `height` lines; those that are there have their width already. */
function padTo(lines: readonly Line[], width: number, height: number): Line[] {
  return Array.from({ length: height }, (_, row) => lines[row] ?? blank(width));
}
