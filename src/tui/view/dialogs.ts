import { keyMap } from '../key-map.js';
import { scrollTo } from '../scroll.js';
import { cleanText } from './clean-text.js';
import { overlay } from './overlay.js';
import { shortNumber } from './short-number.js';
import { fit, fitRight, type Line, onGround, span } from './span.js';
import { stateLook, statesInOrder } from './state-look.js';
import { selectedNode, selectedRuns, type WindowModel } from './window-model.js';

/** The screen with the open dialog over it, if there is one. */
export function withDialog(screen: readonly Line[], model: WindowModel, width: number): readonly Line[] {
  const { dialog } = model.ui;
  const page = Math.max(1, screen.length - 4);
  switch (dialog.kind) {
    case 'help':
      return overlay(screen, 'keys', helpLines().slice(dialog.top, dialog.top + page), width);
    case 'table':
      return overlay(screen, model.title, tableLines(model).slice(dialog.top, dialog.top + page), width);
    case 'metrics':
      return overlay(screen, 'metric', metricLines(model, dialog.index, Math.min(page, 20)), width);
    case 'none':
    case 'filter':
    case 'confirm':
      return screen;
  }
}

/** The table of keys and the signs of the states. */
export function helpLines(): Line[] {
  const keys = keyMap.map(({ shown, help }): Line => [span(fit(shown, 8), 'key'), span(help, 'plain')]);
  const signs = statesInOrder.flatMap((state): Line => [
    span(`${stateLook[state].glyph} `, stateLook[state].tone),
    span(`${state}  `, 'dim'),
  ]);
  return [...keys, [], signs];
}

function tableLines({ table }: WindowModel): Line[] {
  return (table ?? []).map((line): Line => [span(cleanText(line))]);
}

/** The keys of metrics with the selection's last values, the chosen one marked. */
function metricLines(model: WindowModel, index: number, page: number): Line[] {
  const { metrics } = model;
  const width = Math.max(12, ...metrics.map(({ length }) => length));
  const runs = selectedRuns(selectedNode(model));
  const top = scrollTo(index, Math.max(0, index - (page >> 1)), page, metrics.length);
  return metrics.slice(top, top + page).map((key, offset): Line => {
    const values = runs.map(({ metrics: last }) => last[key]).filter((value) => typeof value === 'number');
    const mean = values.length === 0 ? '' : shortNumber(values.reduce((sum, value) => sum + value, 0) / values.length);
    const line = [span(` ${fit(key, width)} `), span(fitRight(mean, 9), 'value')];
    return top + offset === index ? onGround(line, 'selected') : line;
  });
}
