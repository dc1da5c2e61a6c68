import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { type ChartLine, emptyStudy, readStudy, type Study, studyLimits } from '../../contract/study.js';
import type { Pause } from '../../metrics/run-metrics.js';
import { readRegular, statRegular } from '../../files/regular-file.js';
import { studyNames } from '../../files/sweep-folder.js';
import { sizeText } from '../../text/numbers.js';

/** A study, and where it is. `file`: its path below the directory of the sweep. `run`: null: it is of the sweep. */
export type FoundStudy = Omit<Study, 'lines'> & { readonly file: string; readonly run: string | null };

/** `stamp`: differs when its content may have changed. */
type StudyFile = {
  readonly path: string;
  readonly file: string;
  readonly run: string | null;
  readonly stamp: string;
};

/** A line for the charts of a run; null: for those of all runs of the sweep. */
export type FoundLine = ChartLine & { readonly run: string | null };
type FoundStudies = { readonly studies: readonly FoundStudy[]; readonly chartLines: readonly FoundLine[] };

type NamedRun = { readonly name: string; readonly directory: string };

/** Runs whose directories are looked into before other work goes on. */
const RUNS_AT_ONCE = 256;

/** The studies of a sweep: those beside its runs, then those in their directories. */
export async function studyFiles(directory: string, runs: readonly NamedRun[], pause?: Pause): Promise<StudyFile[]> {
  const own = studyNames(directory).map((name) => ({ path: join(directory, name), file: name, run: null }));
  const files = own.flatMap(seenFile);
  for (const [index, { name, directory: place }] of runs.entries()) {
    if (index % RUNS_AT_ONCE === RUNS_AT_ONCE - 1) await pause?.();
    // A run that was found in a folder may be that folder.
    if (place !== directory)
      files.push(...seenFile({ path: join(place, runFiles.study), file: `${name}/${runFiles.study}`, run: name }));
  }
  return files;
}

function seenFile(file: Omit<StudyFile, 'stamp'>): StudyFile[] {
  const seen = statRegular(file.path);
  if (seen.kind === 'absent') return [];
  const stamp = seen.kind === 'file' ? `${seen.stat.ino} ${seen.stat.size} ${seen.stat.mtimeMs}` : seen.reason;
  return [{ ...file, stamp }];
}

/** Reads studies, up to a limit on those that have something to show; lines for charts alone are nothing to show. */
export async function readStudies(files: readonly StudyFile[], pause?: Pause): Promise<FoundStudies> {
  const studies: FoundStudy[] = [];
  const chartLines: FoundLine[] = [];
  for (const [index, { path, file, run }] of files.entries()) {
    if (studies.length === studyLimits.studies)
      return { studies: [...studies, leftOut(files.length - index)], chartLines };
    await pause?.();
    const study = studyAt(path);
    if (study === null) continue;
    const { lines, ...shown } = study;
    chartLines.push(...lines.map((line) => ({ run, ...line })));
    if (lines.length === 0 || hasParts(shown)) studies.push({ ...shown, file, run });
  }
  return { studies, chartLines };
}

function hasParts({ notes, tables, figures, verdicts, warnings }: Omit<Study, 'lines'>): boolean {
  return [notes, tables, figures, verdicts, warnings].some(({ length }) => length > 0);
}

function studyAt(path: string): Study | null {
  const read = readRegular(path, studyLimits.bytes);
  if (read.kind === 'absent') return null;
  if (read.kind === 'text') return readStudy(read.text);
  const seen = statRegular(path);
  const isLarge = seen.kind === 'file' && seen.stat.size > studyLimits.bytes;
  const reason = isLarge
    ? `it has ${sizeText(seen.stat.size)}, and at most ${sizeText(studyLimits.bytes)} are read`
    : read.reason;
  return emptyStudy(`It cannot be read: ${reason}.`);
}

function leftOut(count: number): FoundStudy {
  const warnings = [`Of the files ${runFiles.study}, ${count} more are not shown.`];
  const nothing = { title: null, notes: [], tables: [], figures: [], verdicts: [] };
  return { ...nothing, warnings, file: `*/${runFiles.study}`, run: null };
}
