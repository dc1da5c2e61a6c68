import { healthWord } from '../analysis/health/finding.js';
import { tagsText } from '../base/annotation.js';
import { truncate } from '../text/display-width.js';
import { wrap } from '../text/wrap.js';
import type { Report, Section } from './report.js';
import { countsText, reportNotes, titleOf } from './report-tables.js';
import { metricTestNotes, metricTestTables, tooManyText } from './metric-tests.js';
import type { Spread } from './spread.js';
import { type Paper, paperOf, speltTable } from './paper.js';
import { metricColumns } from './metric-columns.js';
import { settingsText } from './settings.js';
import { studiesByPlace, studyLines } from './studies/study-tables.js';

/** How a report is shown. `width` in columns, of its tables; text is wrapped at 140 of them. `spread`: `std` by default. `tests`: with intervals and tests; `against`: rows of metrics are compared with those alone that have this in their name. `hasAnswers`: whether sentences say which setting is best, by default. */
export type Page = {
  width: number;
  ascii: boolean;
  tests?: { against: string | null } | null;
  spread?: Spread;
  hasAnswers?: boolean;
};

/** The report as lines of text, none wider than the page except for a long word in a note. */
export function reportLines(
  report: Report,
  { width, ascii, tests = null, spread = 'std', hasAnswers = true }: Page,
): string[] {
  const paper: ReportPaper = { ...paperOf({ width, ascii }), spread, hasAnswers };
  const { spell } = paper;
  const notes = reportNotes(report, spread);
  const tested = tests === null ? [] : metricTestNotes;
  const { ofSweep, ofRuns } = studiesByPlace(report);
  const lines = [
    truncate(spell(`${report.sweep} · ${countsText(report)}`), width),
    ...studyLines(ofSweep, paper),
    ...report.sections.flatMap((section) => [
      '',
      truncate(spell(titleOf(section)), width),
      ...sectionLines(section, paper),
      ...(tests === null ? [] : testLines(section, tests.against, paper)),
    ]),
    ...(tested.length > 0 ? ['', ...tested.flatMap((note) => wrap(spell(note), paper.prose))] : []),
    ...(notes.length > 0 ? ['', ...notes.flatMap((note) => wrap(spell(note), paper.prose))] : []),
    ...studyLines(ofRuns, paper),
    ...failureLines(report, paper),
    ...markLines(report, paper),
    ...annotationLines(report, paper),
  ];
  // The remaining symbols are rules and ellipses, one column each.
  return lines.map(spell);
}

type ReportPaper = Paper & { readonly spread: Spread; readonly hasAnswers: boolean };

/** A line for each run with an annotation: `A_s0 ★ good: the best so far`. */
function annotationLines({ annotations }: Report, { prose, spell }: Paper): string[] {
  if (annotations.length === 0) return [];
  const lines = annotations.map(({ run, note, ...annotation }) => {
    const head = [run, tagsText({ ...annotation, note })].filter((part) => part !== '').join(' ');
    return note === null ? head : `${head}: ${note}`;
  });
  return ['', 'starred, tagged and noted', ...lines.flatMap((line) => wrap(spell(line), prose))];
}

/** Limit on the kinds of failure that are told. */
const MOST_KINDS = 8;

/** A line for each kind of failure: `6 × ValueError: …, with lr=1 (6 of 6 runs, else 0 of 12; p < 1e-3)`. */
function failureLines({ failures }: Report, { prose, spell }: Paper): string[] {
  if (failures.length === 0) return [];
  const rest = failures.length - MOST_KINDS;
  const lines = failures.slice(0, MOST_KINDS).map(({ sentence }) => sentence);
  const more = rest > 0 ? [`and ${rest} other kinds of failure`] : [];
  return ['', 'failed', ...[...lines, ...more].flatMap((line) => wrap(spell(line), prose))];
}

/** Limit on the lines for marked runs; the rest is counted. */
const MOST_MARKED = 12;

/** A line for each marked run: `A_s0 diverged: loss 8.0e78, at its best 2.3`. */
function markLines({ marks }: Report, { prose, spell }: Paper): string[] {
  if (marks.length === 0) return [];
  const lines = marks.slice(0, MOST_MARKED).map(({ run, word, reason }) => `${run} ${healthWord(word)}: ${reason}`);
  const rest = marks.length - lines.length;
  const more = rest > 0 ? [`and ${rest} more`] : [];
  return ['', 'ended, but not well', ...[...lines, ...more].flatMap((line) => wrap(spell(line), prose))];
}

function sectionLines(section: Section, paper: ReportPaper): string[] {
  const answer = paper.hasAnswers ? section.answer : [];
  return [
    ...answer.flatMap((sentence) => wrap(paper.spell(sentence), paper.prose)),
    ...speltTable(metricColumns(section, paper.spread), paper),
  ];
}

function testLines(section: Section, against: string | null, paper: Paper): string[] {
  const more = tooManyText(section, against);
  return [
    ...metricTestTables(section, against).flatMap((columns) => ['', ...speltTable(columns, paper)]),
    ...wrap(paper.spell(`settings: ${settingsText(section.settings)}`), paper.prose),
    ...declaredLines(section, paper),
    ...(more === null ? [] : wrap(paper.spell(more), paper.prose)),
  ];
}

/** Declared parameters that are named; a trainer may have two hundred. */
const MOST_DECLARED = 16;

/** The declared parameters that vary come first. */
function declaredLines({ declared }: Section, paper: Paper): string[] {
  if (declared.length === 0) return [];
  const told = declared.toSorted(([, a], [, b]) => Number(b.length > 1) - Number(a.length > 1)).slice(0, MOST_DECLARED);
  const more = declared.length - told.length;
  const words = `declared by its program: ${settingsText(told)}${more > 0 ? ` and ${more} more` : ''}`;
  return wrap(paper.spell(words), paper.prose);
}
