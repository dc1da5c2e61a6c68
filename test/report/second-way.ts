/**
 * The episodes until a secret is known, and their ratio to examples, computed from the files of runs by other means than the report:
 * nothing of `src/` is used.
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
  const left = pairs.map(({ value }) => value).sort((a, b) => a - b).filter((value, at, all) => isLeft(pairs, value) || isLeft(pairs, all[at - 1] ?? 0)); // prettier-ignore
  return { value: middle(pairs), low: left[0]!, high: left.at(-1)!, n: pairs.length };
}

type Value = { readonly base: string; readonly value: number };

/** The 97.5 % quantile of Student's t, by the number of clusters. */
const limits: Readonly<Record<number, number>> = { 2: 12.7062, 3: 4.30265, 4: 3.18245, 5: 2.77645, 12: 2.20099 };

/** Whether just above this value may be the median: the mean share of the clusters below is no further from a half than their spread allows. */
function isLeft(values: readonly Value[], limit: number): boolean {
  const bases = [...new Set(values.map(({ base }) => base))];
  const shares = bases.map((base) => {
    const own = values.filter((each) => each.base === base);
    return own.filter(({ value }) => value <= limit).length / own.length;
  });
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const variance = shares.reduce((sum, share) => sum + (share - mean) ** 2, 0) / (shares.length - 1);
  return Math.abs(mean - 0.5) <= limits[shares.length]! * Math.sqrt(variance / shares.length);
}

/** The middle on a scale of logarithms, as for ratios. */
function middle(values: readonly Value[]): number {
  const sorted = values.map(({ value }) => value).sort((a, b) => a - b);
  const [low, high] = [sorted[Math.ceil(sorted.length / 2) - 1]!, sorted[Math.floor(sorted.length / 2)]!];
  return Math.sqrt(low * high);
}
