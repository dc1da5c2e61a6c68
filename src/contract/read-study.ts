import type * as z from 'zod';
import { counted } from '../text/numbers.js';
import { parseJsonLine } from './json-line.js';
import { STUDY_VERSION, type Study, type StudyFigure, studyLimits, studyParts, type StudyTable } from './study.js';

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
