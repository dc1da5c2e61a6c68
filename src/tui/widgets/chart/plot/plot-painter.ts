import type { Series } from '../../../state/port.js';
import type { Tone } from '../../../surface/span.js';
import type { Scale } from '../axes/chart-scale.js';
import type { Reference } from '../chart-look.js';
import type { Seeds } from '../chart-series.js';

/** Both axes, and the size of the plot in characters. `isLeft`: whether lines go beyond the y axis. */
export type Frame = {
  readonly x: Scale;
  readonly y: Scale;
  readonly columns: number;
  readonly rows: number;
  readonly isLeft: boolean;
};

/** How one line is drawn. `dashes`: which of eight columns of dots it has, two dots to a character. */
export type Stroke = { readonly tone: Tone; readonly isRising: boolean; readonly dashes: number };

/** What a plot is drawn with: dots of characters, or pixels. What is painted later lies before what was painted earlier. */
export type PlotPainter = {
  /** Between the edges, where there are two or more runs. */
  readonly band: (seeds: Seeds, tone: Tone) => void;
  /** What is painted from now on lies before all that was. */
  readonly raise: () => void;
  /** Joins the points that follow each other; those of a series without order are dots. NaN is a gap. */
  readonly line: (series: Series, stroke: Stroke) => void;
  /** Marks where a line has left the plot. */
  readonly outside: (line: Series, tone: Tone) => void;
  /** Theory behind all of it. */
  readonly references: (references: readonly Reference[]) => void;
};
