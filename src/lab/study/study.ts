/**
 * `memrl study`: the laboratory's analysis of the runs of a sweep, as tables, figures and verdicts in a `study.json`.
 */
import { basename, join, resolve } from 'node:path';
import { References } from './memory/references.js';
import { runFiles } from '../../contract/files.js';
import { ReferenceFile } from '../reference/reference-file.js';
import { type Study, studyLimits, studyText } from '../../contract/study.js';
import { readJson, replaceFile } from '../run/read-json.js';
import type { ClaimSection } from './claims/measures.js';
import { KeptFacts } from './kept-facts.js';
import { key } from '../config/key.js';
import { bool, orNone, text } from '../config/value-type.js';
import { answerNotes, answerTables } from './memory/tables.js';
import { answerFigures } from './memory/figures.js';
import { modeFigures } from './modes.js';
import { memorySections, type MemorySection } from './memory/sections.js';
import { testNotes, testTables } from './memory/test-tables.js';
import { slopeFigures, slopeRows, slopeTables } from './slopes.js';
import { tableText, noteIf } from './study-parts.js';
import { keepTheoryLines } from './theory-lines.js';
import { trainedRuns, trainingFigures } from './training-figures.js';
import { claimSections, verdictsOf } from './claims/sweep-claims.js';
import { hasEnded } from '../../base/run-words.js';
import { type EndingRun, hasNewEnd, type SweepGroup, sweepGroups } from './sweep-runs.js';

/** Maximum number of rewrites when several runs end at once. */
const MOST_ROUNDS = 4;

/**
 * Writes the study of a sweep into its directory. When another run ends meanwhile the study is written again, so that
 * the last writer has seen the ends of all.
 * @param ending The run that calls this, at its end.
 * @returns the path of the file; null when these runs have nothing to analyse, and nothing is written.
 * @throws UserError when there are no runs.
 */
export function writeStudy(directory: string, ending: EndingRun | null = null): string | null {
  const path = join(directory, runFiles.study);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const sweep = readSweep(directory, ending);
    // Verdicts take time, and the next run's end would compute them again: they wait until all runs have ended.
    const isOver = ending === null || sweep.groups.every(({ runs }) => runs.every(({ state }) => hasEnded(state)));
    const study = studyOf(sweep, isOver);
    if (study === null) return null;
    sweep.kept.save();
    keepLines(sweep.groups);
    replaceFile(path, studyText(study));
    if (!hasNewEnd(sweep.groups)) break;
  }
  return path;
}

/** Writes chart lines for runs of an earlier version, which did not write them at their start. */
function keepLines(groups: readonly SweepGroup[]): void {
  const ended = groups.flatMap(({ runs }) => runs).filter(({ state }) => hasEnded(state));
  for (const { directory, parameters, config } of ended) keepTheoryLines(directory, { ...parameters, ...config });
}

/**
 * Writes a second study of intervals and tests.
 * @returns its tables and notes as lines; none when there are no memory runs.
 */
export function writeTests(directory: string, width: number): string[] {
  const { sections, groups } = readSweep(directory);
  const tables = testTables(sections);
  if (tables.length === 0) return [];
  const notes = [...testNotes, ...acceptanceNote(groups)];
  replaceFile(join(directory, 'study-tests.json'), studyText({ title: 'intervals and tests', tables, notes }));
  return [...tables.flatMap((table) => tableText(table, width)), ...notes];
}

/**
 * A note on how many warm-ups are uniform enough, since statements about base models hold for those alone; none when no
 * warm-up has ended.
 */
function acceptanceNote(groups: readonly SweepGroup[]): string[] {
  const warmups = groups
    .flatMap(({ runs }) => runs)
    .filter(({ parameters, config }) => 'lesson_share' in { ...parameters, ...config })
    .filter(({ state }) => state === 'done' || state === 'failed');
  const accepted = warmups.filter(({ state }) => state === 'done').length;
  const note = `warm-ups: ${accepted} of ${warmups.length} gave answers uniform enough to measure bits; runs refuse the others, which are not studied.`;
  return noteIf(warmups.length > 0, note);
}

/** Input of the claims on a sweep, in the form kept under `docs/claims`: paths within the sweep are relative to it. */
export function claimsJson(directory: string): string {
  const within = `${resolve(directory)}/`;
  const portable = (_key: string, value: unknown) => {
    if (typeof value === 'string' && value.startsWith(within)) return value.slice(within.length);
    return value === Infinity ? 'infinite' : value;
  };
  const { groups, sections } = readSweep(directory);
  const written = { sections: claimSections(basename(resolve(directory)), groups, sections) };
  return JSON.stringify(written, portable, 2);
}

/** The runs of a sweep, and the results of those that learn secrets. */
type ReadSweep = {
  readonly name: string;
  readonly groups: readonly SweepGroup[];
  readonly references: References;
  readonly sections: readonly MemorySection[];
  readonly kept: KeptFacts;
};

function readSweep(directory: string, ending: EndingRun | null = null): ReadSweep {
  const root = resolve(directory);
  const kept = new KeptFacts(root);
  const groups = sweepGroups(root, kept, ending);
  const references = readReferences(root, groups);
  return { name: basename(root), groups, references, sections: memorySections(groups, references, kept), kept };
}

/** The study; null when nothing here applies to these runs. */
function studyOf(
  { name, groups, references, sections, kept }: ReadSweep,
  isOver: boolean,
): Omit<Study, 'lines' | 'warnings'> | null {
  const verdicts = isOver ? sweepVerdicts(name, claimSections(name, groups, sections), kept) : [];
  const slopes = slopeRows(groups, kept);
  const others = groups.filter(({ name: group }) => sections.every((section) => section.group !== group));
  const trained = trainedRuns(others, kept);
  const modes = modeFigures(trained);
  const figures = [
    ...[...answerFigures(sections), ...slopeFigures(slopes)],
    ...[...modes.figures, ...trainingFigures(trained)],
  ];
  if (sections.length + verdicts.length + slopes.length + figures.length === 0) return null;
  return {
    title: sections.length > 0 ? 'bits learnt per episode' : verdicts.length > 0 ? 'claims' : 'training',
    notes: [...answerNotes(sections, references), ...modes.notes],
    tables: [...sections.flatMap(answerTables), ...slopeTables(slopes), ...modes.tables],
    figures: figures.slice(0, studyLimits.figures),
    verdicts,
  };
}

function sweepVerdicts(name: string, sources: readonly ClaimSection[], kept: KeptFacts): Study['verdicts'] {
  return kept.value('verdicts', [name, sources], () => verdictsOf(name, sources));
}

/** The files of `memrl ideal` beside the runs of a sweep, then those in the runs; invalid ones are skipped. */
function readReferences(directory: string, groups: readonly SweepGroup[]): References {
  const folders = [directory, ...groups.flatMap(({ runs }) => runs.map((run) => run.directory))];
  return new References(
    folders.flatMap((folder) => ReferenceFile.safeParse(readJson(join(folder, runFiles.reference))).data ?? []),
  );
}

/** `memrl study`. */
export const studyKeys = {
  path: key(orNone(text), null, 'the directory of a sweep, in which its runs are; `path=` may be left out'),
  tests: key(
    bool,
    false,
    'intervals and tests of all rows: print them, and write them into study-tests.json; --tests is the same',
  ),
  json: key(bool, false, 'print the numbers that claims are judged by, and write nothing; --json is the same'),
};
