import type { Series } from '../../../state/port.js';
import type { Tone } from '../../../surface/span.js';
import type { Scale } from '../axes/chart-scale.js';
import type { Reference } from '../chart-look.js';
import type { Seeds } from '../chart-series.js';

/** Both axes, and the size of the plot in characters. `isLeft`: whether lines leave the y axis. */
export type Frame = {
  readonly x: Scale;
  readonly y: Scale;
  readonly columns: number;
  readonly rows: number;
  readonly isLeft: boolean;
};

/** How one line is drawn. `dashes`: which of eight columns of dots it has, two dots to a character. */
export type Stroke = { readonly tone: Tone; readonly isRising: boolean; readonly dashes: number };

/** Operations for drawing a plot with dots of characters or with pixels. Later operations draw over earlier ones. */
export type PlotPainter = {
  /** Fills the area between the edges where there are at least two runs. */
  readonly band: (seeds: Seeds, tone: Tone) => void;
  /** Starts a new layer in front of everything drawn so far. */
  readonly raise: () => void;
  /** Joins successive points; points of an unordered series are drawn as dots. NaN is a gap. */
  readonly line: (series: Series, stroke: Stroke) => void;
  /** Marks where a line leaves the plot. */
  readonly outside: (line: Series, tone: Tone) => void;
  /** Draws guides behind everything. `x` and `y`: their positions from 0 to 1. */
  readonly guides: (guides: { readonly x: readonly number[]; readonly y: readonly number[] }) => void;
  /** Draws theoretical lines behind everything. */
  readonly references: (references: readonly Reference[]) => void;
};
