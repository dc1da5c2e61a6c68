/**
 * The episodes until a secret is known, and their ratio to examples, computed from the files of runs by other means than the report:
 * nothing of `src/` is used. The medians must be the report's; the ends of intervals may differ by what another stream of random
 * numbers moves them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Run = { readonly group: string; readonly secret: string; readonly base: string; readonly took: number };

const KNOWN = 0.95;

export function runsOf(sweep: string): Run[] {
  const names = readdirSync(sweep, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return names.map(({ name }) => {
    const { group, parameters } = JSON.parse(readFileSync(join(sweep, name, 'run.json'), 'utf8')) as {
      group: string;
      parameters: { N: number; seed: number; fixed_secret: number; load_checkpoint_path: string };
    };
    const { N, seed, fixed_secret: secret, load_checkpoint_path: base } = parameters;
    return { group, secret: `${seed} ${secret}`, base, took: untilKnown(join(sweep, name, 'metrics.jsonl'), N) };
  });
}

/** Backwards from the end: the first evaluation from which on each knew enough. */
function untilKnown(file: string, N: number): number {
  let took = Infinity;
  const rows = readFileSync(file, 'utf8').trim().split('\n');
  for (const line of rows.reverse()) {
    const row = JSON.parse(line) as Record<string, number>;
    if (row['test/bits/answer_raw']! < KNOWN * Math.log2(N)) break;
    took = row['progress/examples'] ?? row['progress/episodes']!;
  }
  return took;
}

export type Found = { readonly value: number; readonly low: number; readonly high: number; readonly n: number };

export function ratio(runs: readonly Run[], of: string, over: string): Found {
  const pairs = runs
    .filter(({ group }) => group === of)
    .map((run) => {
      const partner = runs.find(({ group, secret }) => group === over && secret === run.secret)!;
      return { base: `${run.base} ${partner.base}`, value: run.took / partner.took };
    });
  const draws = Array.from({ length: 4000 }, () => middle(redrawn(pairs))).sort((a, b) => a - b);
  return { value: middle(pairs), low: draws[100]!, high: draws[3899]!, n: pairs.length };
}

type Value = { readonly base: string; readonly value: number };

function redrawn(values: readonly Value[]): Value[] {
  const bases = [...new Set(values.map(({ base }) => base))];
  return bases.flatMap(() => {
    const base = bases[below(bases.length)];
    const own = values.filter((each) => each.base === base);
    return own.map(() => own[below(own.length)]!);
  });
}

/** The middle on a scale of logarithms, as for ratios. */
function middle(values: readonly Value[]): number {
  const sorted = values.map(({ value }) => value).sort((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1]!, sorted[Math.floor(sorted.length / 2)]!];
  return Math.sqrt(low * high);
}

let state = 12_345;

/** Whole numbers below a limit, by the multiplier of Park and Miller. */
function below(limit: number): number {
  state = (state * 48_271) % 2_147_483_647;
  return Math.floor((state / 2_147_483_647) * limit);
}
