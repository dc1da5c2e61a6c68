import type { Study, StudyCell, StudyColumn, StudyTable } from '../../contract/study.js';
import { truncate } from '../../text/display-width.js';
import { counted, NOTHING, shortNumber } from '../../text/numbers.js';
import type { Column } from '../../text/table.js';
import { wrap } from '../../text/wrap.js';
import { bestSign } from '../metric-columns.js';
import { type Paper, speltTable } from '../paper.js';
import type { FoundStudy } from './found-studies.js';

/** The studies of a sweep, which stand above its tables of metrics, and those of its runs, which stand below. */
export function studiesByPlace({ studies }: { readonly studies: readonly FoundStudy[] }) {
  return { ofSweep: studies.filter(({ run }) => run === null), ofRuns: studies.filter(({ run }) => run !== null) };
}

/** What a study is called where it is shown. */
export function studyTitle({ title, run, file }: FoundStudy): string {
  return [...(run === null ? [] : [run]), title ?? (run === null ? file : 'study')].join(' · ');
}

/** The columns of its table; those that come later are dropped first where there is no room. */
export function studyColumns({ columns, rows }: StudyTable): Column[] {
  const own = columns.map((column, index): Column => ({
    title: namedUnit(column),
    align: column.align ?? (rows.every(({ cells }) => isNumber(cells[index]!)) ? 'right' : 'left'),
    cells: rows.map(({ cells }) => cellText(cells[index]!)),
    spare: column.spare ?? index,
  }));
  const isMarked = rows.some(({ best }) => best);
  const marks: Column = {
    title: '',
    align: 'left',
    cells: rows.map(({ best }) => (best ? bestSign : '')),
    spare: 0,
  };
  return isMarked ? [marks, ...own] : own;
}

/** `loss (nats)`. */
export function namedUnit({ title, unit }: Pick<StudyColumn, 'title' | 'unit'>): string {
  return unit === null ? title : `${title} (${unit})`;
}

function isNumber(cell: StudyCell): boolean {
  return typeof cell !== 'string';
}

/** `3.2 [2.9, 3.6] n=5`. */
function cellText(cell: StudyCell): string {
  if (typeof cell === 'string') return cell;
  if (cell === null || typeof cell === 'number') return numberText(cell);
  return cell.text ?? estimateText(cell);
}

function estimateText({ value, interval, n }: Extract<StudyCell, { value: unknown }>): string {
  const ends = interval === null ? [] : [`[${endText(interval[0]) ?? '-∞'}, ${endText(interval[1]) ?? '∞'}]`];
  return [
    value === null && interval !== null ? NOTHING : numberText(value),
    ...ends,
    ...(n === null ? [] : [`n=${n}`]),
  ].join(' ');
}

function endText(end: number | null): string | null {
  return end === null ? null : numberText(end);
}

/** Three significant digits, or fewer where they are all that was written. */
function numberText(value: number | null): string {
  const text = shortNumber(value);
  const isWhole = value !== null && /^-?\d+\.\d+$/.test(text) && Number(text) === value;
  return isWhole ? String(value) : text;
}

/** `holds: The loss falls with the rate. 0.91 against 0.72.` */
export function verdictText({ verdict, claim, figures }: Study['verdicts'][number]): string {
  return figures.length === 0 ? `${verdict}: ${claim}` : `${verdict}: ${claim} (${figures.join('; ')})`;
}

/** What could not be read, with the file. */
export function warningTexts({ file, warnings }: FoundStudy): string[] {
  return warnings.map((warning) => `${file}: ${warning}`);
}

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
