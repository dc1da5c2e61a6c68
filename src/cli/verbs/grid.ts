import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import { textOrNull } from '../../files/regular-file.js';
import type { ArgumentStyle } from '../../spec/grid-line/argument-style.js';
import type { SamplingKind } from '../../spec/expand/sampling/unit-points.js';
import { gridSweepText } from '../../spec/grid-line/grid-line.js';
import { sweepFolder, sweepNameOf, sweepPath } from '../new-sweep-file.js';
import { type LaunchOptions, requestedSlots } from '../options.js';
import { planOfText, type ReadPlan } from '../read-plan.js';
import { print } from '../terminal.js';
import { launchPlan } from './launch.js';

type GridOptions = LaunchOptions & {
  name?: string;
  print?: boolean;
  args?: ArgumentStyle;
  runCap?: number;
  sample?: SamplingKind;
  baseline?: string[];
  then?: string;
};

/**
 * `memrl-tui grid seed=0..4 lr=1e-4,3e-4 -- python train.py`: writes the sweep file that the line stands for, and launches
 * it. With `--print` and `--dry-run` nothing is written. Gives the exit code.
 */
export async function grid(
  assignments: readonly string[],
  { name, print: prints, args: style, runCap, sample, baseline, then, ...options }: GridOptions,
  command: readonly string[],
): Promise<number> {
  requestedSlots(options);
  const text = gridSweepText({
    ...{ assignments, command },
    style: style ?? 'equals',
    runCap: runCap ?? null,
    sample: sample ?? null,
    baselines: baseline ?? [],
    then: then ?? null,
  });
  const path = sweepPath(name, sweepNameOf(command));
  const read = planOfText(text, path, options);
  if (prints === true) {
    print(text.trimEnd().split('\n'));
    return 0;
  }
  const other = otherFileAt(path, text);
  if (options.dryRun === true) return launchPlan(other === null ? read : withNote(read, other), path, options);
  if (other !== null) throw other;
  write(path, text);
  return launchPlan(read, path, options);
}

/** Bytes: more than a sweep file may have. */
const MOST = 2 ** 26;

/** Why the text cannot be written there; null: it can, or is there already. */
function otherFileAt(path: string, text: string): UserError | null {
  if (!existsSync(path) || textOrNull(path, MOST) === text) return null;
  return new UserError(
    `${path} exists and says something else; it is not overwritten.`,
    `Choose another name (\`--name ${freeName(path)}\`), launch what is there (\`memrl-tui ${path}\`), or remove it.`,
  );
}

function freeName(path: string): string {
  const stem = path.slice(sweepFolder.length + 1, -'.yaml'.length);
  for (let number = 2; ; number += 1) {
    if (!existsSync(join(sweepFolder, `${stem}-${number}.yaml`))) return `${stem}-${number}`;
  }
}

function withNote(read: ReadPlan, { message, fix }: UserError): ReadPlan {
  return { ...read, plan: { ...read.plan, notes: [...(read.plan.notes ?? []), `${message} ${fix}`] } };
}

function write(path: string, text: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true });
  // Another program may have been faster.
  writeFileSync(path, text, { flag: 'wx' });
}
