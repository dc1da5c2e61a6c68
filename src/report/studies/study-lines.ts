import { counted } from '../../text/numbers.js';
import { truncate } from '../../text/display-width.js';
import { wrap } from '../../text/wrap.js';
import { type Paper, speltTable } from '../paper.js';
import type { FoundStudy } from './found-studies.js';
import { studyColumns, studyTitle, verdictText, warningTexts } from './study-tables.js';

/** Each study with its tables, verdicts and notes, below an empty line. Figures are named, as text cannot show them. */
export function studyLines(studies: readonly FoundStudy[], paper: Paper): string[] {
  const prose = (texts: readonly string[]) => texts.flatMap((text) => wrap(paper.spell(text), paper.prose));
  return studies.flatMap((study) => [
    '',
    truncate(paper.spell(studyTitle(study)), paper.width),
    ...prose(study.verdicts.map(verdictText)),
    ...study.tables.flatMap((table) => [
      ...(table.title === null ? [] : ['', truncate(paper.spell(table.title), paper.width)]),
      ...(table.columns.length === 0 ? [] : speltTable(studyColumns(table), paper)),
      ...prose(table.notes),
    ]),
    ...prose(study.notes),
    ...prose(figureLine(study)),
    ...prose(warningTexts(study)),
  ]);
}

/** Figures that are named where they cannot be shown. */
const MOST_NAMED = 4;

function figureLine({ figures }: FoundStudy): string[] {
  if (figures.length === 0) return [];
  const names = [...new Set(figures.map(({ title, set }) => set ?? title))];
  const rest = names.length - MOST_NAMED;
  const named = [...names.slice(0, MOST_NAMED), ...(rest > 0 ? [`${rest} more`] : [])].join(', ');
  return [`${counted(figures.length, 'figure')}, which \`memrl-tui report\` draws with --html: ${named}`];
}
