import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { axisNumbers } from '../../text/numbers.js';
import { escaped } from './markup.js';

/** What Observable Plot draws in, for there is no browser here. */
const { document } = parseHTML('<!doctype html><html><body></body></html>') as { document: object };

/** Colours that can be told apart on light and on dark paper, the first ones also by who sees few colours. */
export const palette = [
  ...['#4269d0', '#e8900c', '#d6493a', '#2a9d8f', '#3ca951', '#c2559b'],
  ...['#8a5cd6', '#5b9bd5', '#9c6b4e', '#7f8591'],
];

/** Room of a figure, CSS pixels; on a narrow screen it is made smaller as a whole. */
export type FigureSize = { readonly width: number; readonly height: number };
export const wholeWidth: FigureSize = { width: 860, height: 340 };

/**
 * A figure as SVG. Text and axes have the colour of the text around it, so that it fits light and dark paper.
 *
 * @param label What it shows, for those who do not see it.
 */
export function figureSvg(label: string, options: Plot.PlotOptions): string {
  // A browser's types are not known here.
  const figure = Plot.plot({
    ...{ document, style: { background: 'transparent', fontSize: '12px' } },
    ...{ marginTop: 34, marginLeft: 64, marginRight: 16, marginBottom: 44, ...wholeWidth },
    ...options,
  }) as unknown as { outerHTML: string };
  return nameRuns(figure.outerHTML).replace('<svg ', () => `<svg role="img" aria-label="${escaped(label)}" `);
}

/** A number beside an axis whose ends are not known: `0.002`, `160M`, `2e36`. */
export function tickText(value: number): string {
  const isSmall = value !== 0 && Math.abs(value) < 1e-3;
  return axisNumbers({ low: value, high: value, isLog: isSmall }, null)(value);
}

/** Places of marks. A tenth of a pixel is enough. */
const places = /\b(d|x1?|x2|y1?|y2|cx|cy|width|height|transform)="([^"]*)"/g;

/** Marks that a figure draws for one run carry its place as their title; the page's script finds them by an attribute. */
function nameRuns(svg: string): string {
  return svg
    .replace(/<(path|circle|line)\b([^>]*?)\s*\/?><title>run (\d+)<\/title><\/\1>/g, '<$1$2 data-run="$3"></$1>')
    .replace(places, (_, name: string, value: string) => {
      return `${name}="${value.replace(/-?\d+\.\d{2,}/g, (number) => String(Number(Number(number).toFixed(1))))}"`;
    });
}

/** The title of a mark that stands for a run, which `figureSvg` makes an attribute of. */
export function runTitle(run: number): string {
  return `run ${run}`;
}
