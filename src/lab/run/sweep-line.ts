/**
 * `memrl sweep`: translates a line of small-rl's sweep.py to `memrl-tui grid`, which plans, starts and shows its runs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { OwnProcess } from './process-context.js';

const example =
  'memrl sweep --reward sentence_length_5 --grid seed=42,123,7 beta=0.01,0.02 --fixed lr=1e-5 --per_gpu 12 --dry_run';
export const sweepUsage =
  'memrl sweep --reward NAME --grid KEY=VALUE,… … [--fixed KEY=VALUE …] [--per_gpu N] [--dry_run]';
const options = ['reward', 'grid', 'fixed', 'per_gpu', 'dry_run'] as const;
type Option = (typeof options)[number];

/**
 * Arguments of `memrl-tui grid` for a command line of sweep.py.
 * @throws UserError for an argument that cannot be translated.
 */
export function gridWords(argv: readonly string[]): string[] {
  const words = wordsOf(argv);
  const { reward = [], grid = [], fixed = [], per_gpu: perGpu, dry_run: dryRun } = words;
  if (grid.length === 0)
    throw new UserError('memrl sweep has no --grid: nothing varies.', `Type for example: ${example}`);
  return [
    ...['grid', ...grid],
    ...(perGpu === undefined ? [] : ['--per-gpu', ...perGpu]),
    ...(dryRun === undefined ? [] : ['--dry-run']),
    ...['--', 'memrl', 'grpo', ...reward.map((name) => `reward=${name}`), ...fixed],
  ];
}

function wordsOf(argv: readonly string[]): Partial<Record<Option, string[]>> {
  const found: Partial<Record<Option, string[]>> = {};
  let own: string[] | null = null;
  for (const word of argv) {
    const option = options.find((name) => word.replaceAll('-', '_') === `__${name}`);
    if (option !== undefined) own = found[option] ??= [];
    else if (own === null || word.startsWith('--')) throw unknown(word);
    else own.push(word);
  }
  return found;
}

function unknown(word: string): UserError {
  const known = options.map((name) => `--${name}`).join(', ');
  return new UserError(`memrl sweep does not know \`${word}\`; it has ${known}.`, `Type for example: ${example}`);
}

/** Runs `memrl-tui` in this terminal until it ends. @returns its exit code. */
export async function startManager(
  words: readonly string[],
  { argv, env }: Pick<OwnProcess, 'argv' | 'env'>,
): Promise<number> {
  const beside = join(dirname(existsSync(argv[1]!) ? realpathSync(argv[1]!) : ''), 'memrl-tui.js');
  const [program, first] = existsSync(beside) ? [argv[0]!, [beside]] : ['memrl-tui', []];
  const child = spawn(program, [...first, ...words], { stdio: 'inherit', env });
  const [code] = (await once(child, 'close').catch((cause: unknown) => {
    throw new UserError(
      `memrl-tui could not be started: ${(cause as Error).message}.`,
      'Put it on your PATH; npm installs it with memrl.',
    );
  })) as [number | null];
  return code ?? 1;
}
