import { keyMapOf } from '../key-map.js';
import { scrollTo } from '../scroll.js';
import { type RunWord } from '../port.js';
import { type KeyPreset } from '../preferences-port.js';
import { cleanText } from './clean-text.js';
import { xChoiceLines } from './chart-x-choices.js';
import { draftBox } from './draft-box.js';
import { axesLines } from './heatmap-axes.js';
import { textWidth } from './display-width.js';
import { listDialogBox } from './list-dialog-box.js';
import { type Box, overlay } from './overlay.js';
import { paletteBox } from './palette-box.js';
import { withOffer } from './prompt-list.js';
import { shortNumber } from './short-number.js';
import { fit, fitRight, type Line, onGround, span } from './span.js';
import { stateLook, statesInOrder } from './state-look.js';
import { selectedRuns, type WindowModel } from './window-model.js';

/** The screen with the open dialog over it, if there is one. */
export function withDialog(screen: readonly Line[], model: WindowModel, width: number): readonly Line[] {
  const { dialog } = model.ui;
  const page = Math.max(1, screen.length - 4);
  switch (dialog.kind) {
    case 'help':
      return overlay(screen, part('keys', helpLines(model.ui.keys), dialog.top, page), width);
    case 'table':
      return overlay(screen, part(model.title, tableLines(model), dialog.top, page), width);
    case 'metrics': {
      const rows = Math.min(page, 20);
      const top = scrollTo(dialog.index, Math.max(0, dialog.index - (rows >> 1)), rows, model.metrics.length);
      return overlay(screen, part('metric', metricLines(model, dialog.index), top, rows), width);
    }
    case 'x-axis': {
      const rows = Math.min(page, 20);
      const top = scrollTo(dialog.index, Math.max(0, dialog.index - (rows >> 1)), rows, model.xChoices.length);
      return overlay(screen, part('x axis', xChoiceLines(model.xChoices, dialog.index), top, rows), width);
    }
    case 'axes':
      return overlay(screen, part('axes of the heatmap', axesLines(model, dialog.index), 0, page), width);
    case 'filter':
      return withOffer(screen, dialog.offer, {
        column: 3 + textWidth(dialog.line.text.slice(0, dialog.offer.from)),
        below: width < 80 || screen.length < 24 ? 1 : 2,
      });
    case 'palette':
      if (model.palette === null) return screen;
      return overlay(screen, paletteBox(dialog, model.palette, model.ui, { width, rows: screen.length }), width);
    case 'draft':
      return overlay(screen, draftBox(dialog.draft, dialog.top, { width, rows: page }), width);
    case 'grouping':
    case 'columns':
    case 'views':
      return overlay(screen, listDialogBox(model, dialog, page), width);
    case 'none':
    case 'search':
    case 'confirm':
      return screen;
  }
}

function part(title: string, lines: readonly Line[], top: number, rows: number): Box {
  return { title, lines: lines.slice(top, top + rows), below: Math.max(0, lines.length - top - rows) };
}

/** The table of keys and the signs of the states. */
export function helpLines(preset: KeyPreset): Line[] {
  const keys = keyMapOf(preset).map(({ shown, help }): Line => [span(fit(shown, 8), 'key'), span(help, 'plain')]);
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
    const mean = values.length === 0 ? '' : shortNumber(values.reduce((sum, value) => sum + value, 0) / values.length);
    const line = [span(` ${fit(cleanText(key), width)} `), span(fitRight(mean, 9), 'value')];
    return position === chosen ? onGround(line, 'selected') : line;
  });
}
