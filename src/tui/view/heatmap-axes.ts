import { cleanText } from '../../text/display-text.js';
import { fit, type Line, onBackground, span } from './span.js';
import type { WindowModel } from './window-model.js';

const most = 32;

/** The parameters that may be on the axes of the heatmap, with the axis they are on. */
export function axesLines({ comparison }: WindowModel, chosen: number): Line[] {
  const keys = comparison?.axes ?? [];
  const axes = comparison?.chosenAxes ?? null;
  const width = Math.min(most, Math.max(16, ...keys.map(({ length }) => length)));
  return keys.map((key, index): Line => {
    const place = key === axes?.across ? 'across →' : key === axes?.down ? 'down ↓' : '';
    const line = [span(` ${fit(cleanText(key), width)} `), span(fit(place, 9), 'accent')];
    return index === chosen ? onBackground(line, 'selected') : line;
  });
}
