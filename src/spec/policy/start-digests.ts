import { fnv1a64 } from '../expand/identity.js';
import type { PlannedRun } from '../planned-run.js';

/**
 * Digests of a run's command, environment and so on, by key of the sweep file; empty parts are left out. They show that a part has
 * changed without containing it, as it may hold secrets.
 */
export function startDigests(run: PlannedRun): Readonly<Record<string, string>> {
  const known = digests.get(run);
  if (known !== undefined) return known;
  const { env, cwd, resumeArgs, snapshot } = run;
  const parts = { env: Object.entries(env).sort(byName), cwd: [snapshot?.cwd ?? cwd], resume_args: resumeArgs };
  const written = Object.entries(parts).filter(([, part]) => part.length > 0);
  const found = Object.fromEntries(written.map(([key, part]) => [key, fnv1a64(JSON.stringify(part)).slice(-8)]));
  digests.set(run, found);
  return found;
}

/** Variables that say where results are logged, which does not change what is run. */
const ofLogging = /^(WANDB_|TRACKIO_DIR$)/;

/** Digest of the variables that the sweep file sets, as far as they may affect the run. */
export function environmentDigest({ env }: PlannedRun): string {
  const own = Object.entries(env).filter(([name]) => !ofLogging.test(name));
  return fnv1a64(JSON.stringify(own.sort(byName))).slice(-8);
}

/** Computed once for each run: rows are drawn often, and a planned run never changes. */
const digests = new WeakMap<PlannedRun, Readonly<Record<string, string>>>();

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}
