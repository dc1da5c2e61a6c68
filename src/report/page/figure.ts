import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { axisNumbers } from '../../text/numbers.js';
import { escaped } from './markup.js';

/** The document in which Observable Plot draws, as there is no browser here. */
const { document } = parseHTML('<!doctype html><html><body></body></html>') as { document: object };

/** Colours that are distinguishable on light and dark backgrounds, the first ones also with colour blindness. */
export const palette = [
  ...['#4269d0', '#e8900c', '#d6493a', '#2a9d8f', '#3ca951', '#c2559b'],
  ...['#8a5cd6', '#5b9bd5', '#9c6b4e', '#7f8591'],
];

/** Size of a figure in CSS pixels; a narrow screen scales it down. */
type FigureSize = { readonly width: number; readonly height: number };
const wholeWidth: FigureSize = { width: 860, height: 340 };

/**
 * A figure as SVG. Text and axes inherit the colour of the surrounding text, so that it fits light and dark backgrounds.
 *
 * @param label Describes the figure for screen readers.
 */
export function figureSvg(label: string, options: Plot.PlotOptions): string {
  // The types of a browser's DOM are not available here.
  const figure = Plot.plot({
    ...{ document, style: { background: 'transparent', fontSize: '12px' } },
    ...{ marginTop: 34, marginLeft: 64, marginRight: 16, marginBottom: 44, ...wholeWidth },
    ...options,
  }) as unknown as { outerHTML: string };
  return nameRuns(figure.outerHTML).replace('<svg ', () => `<svg role="img" aria-label="${escaped(label)}" `);
}

/** A number beside an axis of unknown range: `0.002`, `160M`, `2e36`. */
export function tickText(value: number): string {
  const isSmall = value !== 0 && Math.abs(value) < 1e-3;
  return axisNumbers({ low: value, high: value, isLog: isSmall }, null)(value);
}

/** Attributes with coordinates, which are rounded to a tenth of a pixel. */
const places = /\b(d|x1?|x2|y1?|y2|cx|cy|width|height|transform)="([^"]*)"/g;

/** Converts the titles of marks that stand for a run into attributes, which the page's script uses. */
function nameRuns(svg: string): string {
  return svg
    .replace(/<(path|circle|line)\b([^>]*?)\s*\/?><title>run (\d+)<\/title><\/\1>/g, '<$1$2 data-run="$3"></$1>')
    .replace(places, (_, name: string, value: string) => {
      return `${name}="${value.replace(/-?\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1))))}"`;
    });
}

/** The title of a mark that stands for a run, which `figureSvg` converts into an attribute. */
export function runTitle(run: number): string {
  return `run ${run}`;
}
