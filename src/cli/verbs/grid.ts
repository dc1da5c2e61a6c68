import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { writeOutputText } from '../../files/output-file.js';
import { textOrNull } from '../../files/regular-file.js';
import type { ArgumentStyle } from '../../spec/grid-line/argument-style.js';
import type { SamplingKind } from '../../spec/expand/sampling/unit-points.js';
import { type GridLine, gridSweepText } from '../../spec/grid-line/grid-line.js';
import { isOfSameSweep, lineBefore } from '../../spec/grid-line/line-before.js';
import { asksForMultirun, isForHydra, multirunOf, multirunWords } from '../../spec/grid-line/multirun.js';
import { isTaken, sweepFolder, sweepNameOf, sweepPath, writeNewSweep } from '../new-sweep-file.js';
import { type LaunchOptions, requestedSlots } from '../options.js';
import { at } from '../ports.js';
import { planOf, type ReadPlan, typedSweep } from '../launch/read.js';
import { print, remark } from '../terminal.js';
import { launchPlan } from '../launch/launch.js';

type GridOptions = LaunchOptions & {
  name?: string;
  print?: boolean;
  args?: ArgumentStyle;
  runCap?: number;
  sample?: SamplingKind;
  baseline?: string[];
  then?: string;
  multirun?: true;
};

/**
 * `memrl-tui grid seed=0..4 lr=1e-4,3e-4 -- python train.py`: writes the sweep file of the line, and launches it. With `--print`
 * and `--dry-run` nothing is written. Returns the exit code.
 */
export async function grid(
  words: readonly string[],
  { name, print: prints, multirun, ...given }: GridOptions,
  behind: readonly string[],
): Promise<number> {
  const { args, runCap = null, sample = null, baseline: baselines = [], then = null, ...options } = given;
  requestedSlots(options);
  const { assignments, command, isHydra } = typedLine(words, behind, multirun === true);
  const style = args ?? (isHydra ? 'hydra' : 'equals');
  const line: GridLine = { assignments, command, style, runCap, sample, baselines, then };
  const text = gridSweepText(line);
  const path = sweepPath(name, sweepNameOf(command));
  const read = planOf(typedSweep(text, path), options);
  if (prints === true) {
    print(text.trimEnd().split('\n'));
    return 0;
  }
  return launchLine({ path, text, read, there: fileAt(path, text, line) });
}

type TypedLine = { assignments: readonly string[]; command: readonly string[]; isHydra: boolean };

/** Takes the line apart; one for Hydra's multirun is told that the sweep takes its place. */
function typedLine(words: readonly string[], behind: readonly string[], isMultirun: boolean): TypedLine {
  const isAlone = isMultirun && behind.length === 0;
  const asks = isAlone || asksForMultirun(behind);
  if (!asks) return { assignments: words, command: behind, isHydra: isMultirun || isForHydra(behind) };
  const { assignments, command } = isAlone ? multirunWords(words) : multirunOf(behind);
  remark(
    "`-m` is left out: the sweep takes the place of Hydra's multirun, and passes its parameters as Hydra reads them (`--args hydra`).",
  );
  return { assignments: isAlone ? assignments : [...words, ...assignments], command, isHydra: true };
}

type Launching = {
  readonly path: string;
  readonly text: string;
  readonly read: ReadPlan;
  readonly there: Found | null;
};

async function launchLine({ path, text, read, there }: Launching): Promise<number> {
  if (read.options.dryRun === true) {
    const note = there === null ? null : there.kind === 'before' ? replacedWords(path, there.text) : otherWords(path);
    return launchPlan(note === null ? read : withNote(read, note), path);
  }
  if (there?.kind === 'other') throw otherFile(path);
  if (there === null) {
    writeUnlessThere(path, text);
    return launchPlan(read, path);
  }
  print([replacedWords(path, there.text)]);
  writeOutputText(path, text, at(path));
  const code = await launchPlan(read, path);
  // The user declined, so the former text is restored.
  if (code === 2) writeOutputText(path, there.text, at(path));
  return code;
}

/** A file at the path with another text: the same sweep with other values, as `grid` wrote it, or something else. */
type Found = { readonly kind: 'before'; readonly text: string } | { readonly kind: 'other' };

/** The existing file; null: there is none, or it has this text. */
function fileAt(path: string, text: string, line: GridLine): Found | null {
  if (!isTaken(path)) return null;
  const present = textOrNull(at(path), MOST);
  if (present === text) return null;
  const before = present === null ? null : lineBefore(present);
  return before !== null && isOfSameSweep(line, before) ? { kind: 'before', text: present! } : { kind: 'other' };
}

function replacedWords(path: string, text: string): string {
  return `${path} is of the same line with other values, and is replaced; it was: ${text.slice(2, text.indexOf('\n'))}`;
}

/** Size limit in bytes, above that of a sweep file. */
const MOST = 2 ** 26;

function otherWords(path: string): string {
  const { message, fix } = otherFile(path);
  return `${message} ${fix}`;
}

function otherFile(path: string): UserError {
  return new UserError(
    `${path} exists and says something else; it is not overwritten.`,
    `Choose another name (\`--name ${freeName(path)}\`), launch what is there (\`memrl-tui ${path}\`), or remove it.`,
  );
}

function freeName(path: string): string {
  const stem = path.slice(sweepFolder.length + 1, -'.yaml'.length);
  for (let number = 2; ; number += 1) {
    if (!isTaken(join(sweepFolder, `${stem}-${number}.yaml`))) return `${stem}-${number}`;
  }
}

function withNote(read: ReadPlan, note: string): ReadPlan {
  return { ...read, plan: { ...read.plan, notes: [...(read.plan.notes ?? []), note] } };
}

function writeUnlessThere(path: string, text: string): void {
  if (!isTaken(path)) writeNewSweep(path, text);
}
