import * as z from 'zod';
import { lineText } from '../text/display-text.js';
import { counted } from '../text/numbers.js';
import { parseJsonLine } from './json-line.js';

/**
 * What a program has to say about a sweep or a run beyond its metrics: tables, figures as data, verdicts and notes. Any program may
 * write it; who draws it knows nothing of what it says. In the file each part may lack what has a default here, and may have
 * fields that nobody knows.
 */
export const STUDY_VERSION = 1;

/** Limits on what is read: bytes of a file, studies of a sweep, parts of a study, characters of a text. */
export const studyLimits = {
  ...{ bytes: 4 << 20, studies: 64, text: 1000, notes: 64, verdicts: 256, warnings: 20 },
  ...{
    tables: 32,
    columns: 64,
    rows: 1000,
    figures: 32,
    series: 32,
    points: 5000,
    lines: 64,
    cells: 64,
    allPoints: 50_000,
  },
} as const;

/** One line without what controls a terminal or does not belong in XML. */
const text = z.string().transform((written) => {
  const line = lineText(written.slice(0, 4 * studyLimits.text));
  return line.length > studyLimits.text ? `${line.slice(0, studyLimits.text - 1)}…` : line;
});
const orNull = <Schema extends z.ZodType>(schema: Schema) => schema.nullish().transform((value) => value ?? null);

/** A number; NaN and what is infinite, which Python writes, are null. */
const number = z.preprocess(
  (value) => (typeof value === 'number' && !Number.isFinite(value) ? null : value),
  z.number().nullable(),
);

/** A title, or with a unit: `"loss"`, `{"title": "loss", "unit": "nats"}`. */
const titled = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? { title: value } : value),
    z.object({ title: text, unit: orNull(text), ...shape }),
  );

/** A value with its interval, whose ends may be unknown, and the number of what it is of. `text`: how the cell is written, where a reader should not round by itself. */
const Estimate = z.object({
  value: number,
  interval: orNull(z.tuple([number, number])),
  n: orNull(z.number().nonnegative()),
  text: orNull(text),
});

/** A number for each point; null: there are none. */
const each = orNull(z.array(number));
/** Ends of the interval of each y, and of a second one around that, such as a deviation within a range. */
const intervals = { lo: each, hi: each, min: each, max: each };
/** Whether all lists of a part are as long as the first. */
const isEven = ({ x, ...lists }: { readonly x: readonly unknown[] }) =>
  Object.values(lists).every((list: unknown) => !Array.isArray(list) || list.length === x.length);

const Cell = z.union([text, z.boolean().transform(String), number, Estimate]);
/** `spare`: columns with the highest number are dropped first where there is no room, 0: never; by default the last ones. */
const Column = titled({ align: orNull(z.enum(['left', 'right'])), spare: orNull(z.int().nonnegative()) });
const Axis = titled({ log: z.boolean().default(false) });
const step = { title: 'step', unit: null };
/** A line across a figure, at one of both. */
const ReferenceLine = z
  .object({ x: orNull(z.number()), y: orNull(z.number()), text: text.default('') })
  .refine(({ x, y }) => (x === null) !== (y === null));
/** Names of metrics; one alone may stand without a list. */
const metricNames = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : value),
  z.array(text).min(1).max(studyLimits.cells),
);
export const verdictWords = ['holds', 'in part', 'does not hold', 'not decided', 'not tried'] as const;
/** Figures that a verdict goes by, in words. */
const figureTexts = z.preprocess(
  (value) => (typeof value === 'string' ? [value] : (value ?? [])),
  z.array(text).max(studyLimits.notes),
);
const StudyVerdict = z.object({ claim: text, verdict: z.enum(verdictWords), figures: figureTexts });

/** The parts that are read each by itself, so that one mistake takes nothing else away. */
export const studyParts = {
  ...{ note: text, cell: Cell, column: Column, line: ReferenceLine, verdict: StudyVerdict },
  title: orNull(text),
  /** A table without its columns and rows. `notes`: lines right below it. */
  table: z.object({
    ...{ title: orNull(text), columns: z.array(z.unknown()), rows: z.array(z.unknown()).default([]) },
    notes: z.array(text).max(studyLimits.notes).default([]),
  }),
  /** A row of a table: its cells alone, or with a mark. */
  row: z.preprocess(
    (value) => (Array.isArray(value) ? { cells: value } : value),
    z.object({ cells: z.array(z.unknown()), best: z.boolean().default(false) }),
  ),
  /**
   * A figure without its series, bars and lines. `cells`: rows of numbers that are colours, from the top; `range`: of their scale.
   * `set`: figures of one set that follow each other stand side by side, below this title, with one legend and one slider; `slider`:
   * what `at` of bars is.
   */
  figure: z.object({
    ...{ title: text, note: orNull(text), x: Axis, y: Axis, set: orNull(text), slider: titled({}).default(step) },
    ...{ series: z.array(z.unknown()).default([]), bars: z.array(z.unknown()).default([]) },
    lines: z.array(z.unknown()).default([]),
    cells: orNull(z.array(z.array(number).max(studyLimits.cells)).max(studyLimits.cells)),
    range: orNull(z.tuple([z.number(), z.number()])),
  }),
  /** One of a figure's series, by the coordinates of its points; `xlo` and `xhi`: the ends of an interval of each x. Those of one name have one colour. */
  curve: z
    .object({
      ...{ name: text.default(''), kind: z.enum(['line', 'dashed', 'points']).default('line') },
      ...{ x: z.array(number), y: z.array(number), ...intervals, xlo: each, xhi: each },
    })
    .refine(isEven),
  /** Bars of one colour, by the names of what they stand at. `n`: of how many each is. `at`: at which place of the slider each is seen; null: at all. */
  bar: z
    .object({
      name: text.default(''),
      ...{ x: z.array(text), y: z.array(number), ...intervals, n: each, at: orNull(z.array(z.number())) },
    })
    .refine(isEven),
  /**
   * A line in the charts of some metrics, such as a baseline: at `y`, or at `y` times `per`, a metric, where that one is on the x
   * axis. The study of a run is about the charts of that run, that of a sweep about those of all of its runs.
   */
  'chart line': z.object({ metrics: metricNames, y: z.number(), per: orNull(text), text: text.default('') }),
} as const;

type Part<Name extends keyof typeof studyParts> = z.infer<(typeof studyParts)[Name]>;

export type StudyCell = Part<'cell'>;
export type StudyColumn = Part<'column'>;
export type StudyCurve = Part<'curve'>;
export type StudyTable = {
  readonly title: string | null;
  readonly columns: readonly StudyColumn[];
  readonly rows: readonly { readonly cells: readonly StudyCell[]; readonly best: boolean }[];
  readonly notes: readonly string[];
};
export type StudyBars = Part<'bar'>;
export type StudyFigure = Omit<Part<'figure'>, 'series' | 'bars' | 'lines'> & {
  readonly series: readonly StudyCurve[];
  readonly bars: readonly StudyBars[];
  readonly lines: readonly Part<'line'>[];
};

export type ChartLine = Part<'chart line'>;

/** A study as it was read. `warnings`: what could not be read, in sentences with its place. */
export type Study = {
  readonly title: string | null;
  readonly notes: readonly string[];
  readonly tables: readonly StudyTable[];
  readonly figures: readonly StudyFigure[];
  readonly verdicts: readonly Part<'verdict'>[];
  readonly lines: readonly ChartLine[];
  readonly warnings: readonly string[];
};

/** What is written into a `study.json`. */
export function studyText(study: Partial<Omit<Study, 'warnings'>>): string {
  return `${JSON.stringify({ version: STUDY_VERSION, ...study })}\n`;
}

/** The forms of the parts of a study, as messages about another form say them. */
const expected = {
  note: 'a text',
  verdict:
    '{"claim": text, "verdict": "holds", "in part", "does not hold", "not decided" or "not tried", "figures": texts}',
  table: '{"title": text, "columns": [...], "rows": [...], "notes": texts}',
  column: 'a title, or {"title": text, "unit": text, "align": "left" or "right", "spare": whole number}',
  row: 'a list of cells, or {"cells": [...], "best": true}',
  cell: 'a text, a number, null, or {"value": number, "interval": [number, number], "n": number, "text": text}',
  figure:
    '{"title": text, "x": axis, "y": axis, "series": [...], "bars": [...]}, an axis being a title or {"title": text, "log": true}; at most 64 × 64 "cells"',
  curve:
    '{"name": text, "kind": "line", "dashed" or "points", "x": numbers, "y": as many}, with as many "lo", "hi", "min", "max", "xlo" and "xhi" if any',
  bar: '{"name": text, "x": texts, "y": as many numbers}, with as many "lo", "hi", "min", "max", "n" and "at" if any',
  'chart line': '{"metrics": name or names, "y": number}, with the "per" of a metric on the x axis and a "text" if any',
  line: '{"x": number} or {"y": number}, with a "text"',
} as const;

type PartName = keyof typeof expected;
type PartOf<Name extends PartName> = z.infer<(typeof studyParts)[Name]>;

/**
 * The text of a `study.json`. Never throws: what cannot be read becomes a warning, and the rest is read. Null: it is JSON of another
 * program, which has nothing of a study.
 */
export function readStudy(text: string): Study | null {
  const written = parseJsonLine(text);
  if (written === null) return emptyStudy('It is no JSON object, or not written to its end.');
  const isStudy = ['notes', 'tables', 'figures', 'verdicts', 'lines'].some((part) => part in written);
  return isStudy ? new StudyReader().study(written) : null;
}

/** A study of which nothing could be read. */
export function emptyStudy(warning: string): Study {
  return { title: null, notes: [], tables: [], figures: [], verdicts: [], lines: [], warnings: [warning] };
}

class StudyReader {
  readonly #warnings: string[] = [];
  /** Points that may still be read: each is an element of the page. */
  #points: number = studyLimits.allPoints;

  study({ version = STUDY_VERSION, title, notes, tables, figures, verdicts, lines }: Record<string, unknown>): Study {
    if (version !== STUDY_VERSION)
      this.#warn('version', `expected ${STUDY_VERSION}; what is new in others is not shown`);
    const named = studyParts.title.safeParse(title);
    if (!named.success) this.#warn('title', `expected ${expected.note}`);
    const read = {
      title: named.data ?? null,
      notes: this.#list('note', notes, studyLimits.notes),
      tables: this.#parts('table', tables, studyLimits.tables).map(({ part, place }) => this.#table(part, place)),
      figures: this.#list('figure', figures, studyLimits.figures).map((figure) => this.#figure(figure)),
      verdicts: this.#list('verdict', verdicts, studyLimits.verdicts),
      lines: this.#list('chart line', lines, studyLimits.lines),
    };
    return { ...read, warnings: this.#told() };
  }

  #table({ title, columns: written, rows, notes }: PartOf<'table'>, number: string): StudyTable {
    const place = title === null ? number : `table "${title}"`;
    const columns = this.#list('column', written, studyLimits.columns, place);
    const row = ({ part: { cells, best }, place: of }: { part: PartOf<'row'>; place: string }) => {
      if (cells.length > columns.length)
        this.#warn(of, `${counted(cells.length, 'cell')} for ${counted(columns.length, 'column')}`);
      return {
        cells: columns.map((_, at) => (at < cells.length ? this.#cell(cells[at], `${of}, cell ${at + 1}`) : null)),
        best,
      };
    };
    return { title, columns, rows: this.#parts('row', rows, studyLimits.rows, place).map(row), notes };
  }

  /** A cell keeps its place in the row, whatever it holds. */
  #cell(written: unknown, place: string): PartOf<'cell'> {
    const { success, data } = studyParts.cell.safeParse(written);
    if (!success) this.#warn(place, `expected ${expected.cell}`);
    return data ?? null;
  }

  #figure({ series, bars, lines, ...figure }: PartOf<'figure'>): StudyFigure {
    const place = `figure "${figure.title}"`;
    return {
      ...figure,
      series: this.#list('curve', series, studyLimits.series, place).map((curve) => this.#cut(curve, place)),
      bars: this.#list('bar', bars, studyLimits.series, place).map((bar) => this.#cut(bar, place)),
      lines: this.#list('line', lines, studyLimits.lines, place),
    };
  }

  #cut<Part extends PartOf<'curve'> | PartOf<'bar'>>(part: Part, place: string): Part {
    const most = Math.min(studyLimits.points, this.#points);
    this.#count(part.x.length, most, `${place}, "${part.name}"`, 'point');
    this.#points -= Math.min(part.x.length, most);
    const cut = (value: unknown): unknown => (Array.isArray(value) ? value.slice(0, most) : value);
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, cut(value)])) as Part;
  }

  #list<Name extends PartName>(name: Name, written: unknown, most: number, within = ''): PartOf<Name>[] {
    return this.#parts(name, written, most, within).map(({ part }) => part);
  }

  /** The parts of a list that can be read, and where each was. */
  #parts<Name extends PartName>(
    name: Name,
    written: unknown,
    most: number,
    within = '',
  ): { part: PartOf<Name>; place: string }[] {
    if (written === undefined || written === null) return [];
    const placed = (word: string) => (within === '' ? word : `${within}, ${word}`);
    if (!Array.isArray(written)) {
      this.#warn(placed(`${name}s`), 'expected a list');
      return [];
    }
    this.#count(written.length, most, within, name);
    return written.slice(0, most).flatMap((each: unknown, index) => {
      const place = placed(`${name} ${index + 1}`);
      const { success, data } = studyParts[name].safeParse(each);
      if (!success) this.#warn(place, `expected ${expected[name]}`);
      return success ? [{ part: data as PartOf<Name>, place }] : [];
    });
  }

  #count(count: number, most: number, place: string, noun: string): void {
    if (count > most) this.#warn(place, `of ${counted(count, noun)} the first ${most} are read`);
  }

  #warn(place: string, what: string): void {
    this.#warnings.push(place === '' ? what : `${place}: ${what}`);
  }

  #told(): string[] {
    const rest = this.#warnings.length - studyLimits.warnings;
    const told = this.#warnings.slice(0, studyLimits.warnings).map((warning) => `${warning}.`);
    return rest > 0 ? [...told, `And ${rest} more of these.`] : told;
  }
}
