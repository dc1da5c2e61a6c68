import { grouped } from '../base/group-by.js';
import { truncate } from '../text/display-width.js';
import { plainAscii } from '../text/ascii.js';
import { lineText } from '../text/display-text.js';
import { type Column, tableLines } from '../text/table.js';
import { wrap } from '../text/wrap.js';
import { memoryColumns, memoryNotes, scalingLines } from './memory-table.js';
import { metricColumns } from './metric-table.js';
import type { Report, Section } from './report.js';

/** Where a report is to be shown. `width` in columns. */
export type Page = { width: number; ascii: boolean };

/** The report as text, a line each; none wider than the page, but a long word of a note. */
export function reportLines(report: Report, { width, ascii }: Page): string[] {
  // Before anything is measured: a substitute may be longer than what it stands for.
  const spell = ascii ? (text: string) => plainAscii(lineText(text)) : lineText;
  const paper: Paper = { width, spell };
  const notes = memoryNotes(report.sections.flatMap((section) => (section.kind === 'memory' ? section.rows : [])));
  const lines = [
    truncate(spell(`${report.sweep} · ${countsText(report)}`), width),
    ...report.sections.flatMap((section) => [
      '',
      truncate(spell(titleOf(section)), width),
      ...sectionLines(section, paper),
    ]),
    ...(notes.length > 0 ? ['', ...notes.flatMap((note) => wrap(spell(note), width))] : []),
  ];
  // What is left are rules and ellipses, of one column each.
  return lines.map(spell);
}

/** A page, and how its text is spelt. */
type Paper = { width: number; spell: (text: string) => string };

function countsText({ counts }: Report): string {
  const words = (['done', 'running', 'queued', 'held', 'failed', 'killed', 'lost'] as const).filter(
    (state) => counts[state],
  );
  return words.map((state) => `${counts[state]} ${state}`).join(' · ');
}

function titleOf({ group, title }: Section): string {
  return title === null ? group : `${group} · ${title}`;
}

function sectionLines(section: Section, paper: Paper): string[] {
  if (section.kind === 'metrics') return table(metricColumns(section.rows, section.keys), paper);
  // Examples and episodes are different things, and do not share a column.
  const parts = grouped(section.rows, ({ kind }) => String(kind === 'sft'));
  return [
    ...parts.flatMap((rows) => table(memoryColumns(rows), paper)),
    ...scalingLines(section.scalings).flatMap((line) => wrap(paper.spell(line), paper.width)),
  ];
}

function table(columns: readonly Column[], { width, spell }: Paper): string[] {
  const spelt = columns.map((column) => ({ ...column, title: spell(column.title), cells: column.cells.map(spell) }));
  return tableLines(spelt, width);
}
