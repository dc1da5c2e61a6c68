import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Name } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { textOrNull } from '../../files/regular-file.js';
import type { ArgumentStyle } from '../../spec/grid-line/argument-style.js';
import { gridSweepText } from '../../spec/grid-line/grid-line.js';
import { type LaunchOptions, requestedSlots } from '../options.js';
import { planOfText, type ReadPlan } from '../read-plan.js';
import { print } from '../terminal.js';
import { launchPlan } from './launch.js';

type GridOptions = LaunchOptions & { name?: string; print?: boolean; args?: ArgumentStyle; runCap?: number };

/** Folder of the sweep files that are written, from where the person is. */
const folder = 'sweeps';

/**
 * `memrl-tui grid seed=0..4 lr=1e-4,3e-4 -- python train.py`: writes the sweep file that the line stands for, and launches
 * it. With `--print` and `--dry-run` nothing is written. Gives the exit code.
 */
export async function grid(
  assignments: readonly string[],
  { name, print: prints, args: style, runCap, ...options }: GridOptions,
  command: readonly string[],
): Promise<number> {
  requestedSlots(options);
  const text = gridSweepText({ assignments, command, style: style ?? 'equals', runCap: runCap ?? null });
  const path = join(folder, `${nameOf(name, command)}.yaml`);
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

/** What was asked for, or the name of the script. */
function nameOf(asked: string | undefined, command: readonly string[]): string {
  const name = asked ?? sweepNameOf(command);
  const read = Name.safeParse(name);
  if (read.success) return read.data;
  const problem = `${JSON.stringify(name)} cannot be the name of a sweep: ${read.error.issues[0]?.message ?? 'it is none'}.`;
  throw new UserError(problem, 'Name it with `--name lr-search`.');
}

/** `train` for `python -u train.py --fast` and `python -m lab.train`, else the program. */
export function sweepNameOf(command: readonly string[]): string {
  const script = command.find((word, index) => index > 0 && /\.(py|sh|R|jl|m?js|ts|rb|pl|ipynb)$/.test(word));
  const module = command[command.indexOf('-m') + 1];
  const word = script ?? (command.includes('-m') ? module?.split('.').at(-1) : undefined) ?? command[0] ?? '';
  const stem = word.replace(/^.*\//, '').replace(/(?<=.)\.\w+$/, '');
  const safe = stem.replace(/[^A-Za-z0-9._=+,@-]+/g, '-').replace(/^[^A-Za-z0-9_]+/, '');
  return safe.slice(0, 100) || 'grid';
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
  const stem = path.slice(folder.length + 1, -'.yaml'.length);
  for (let number = 2; ; number += 1) {
    if (!existsSync(join(folder, `${stem}-${number}.yaml`))) return `${stem}-${number}`;
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
