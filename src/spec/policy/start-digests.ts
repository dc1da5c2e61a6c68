import { fnv1a64 } from '../expand/identity.js';
import type { PlannedRun } from '../planned-run.js';

/**
 * Digests of what a run is started with, by key of the sweep file; what is empty is left out. They tell that it is another than
 * before, and nothing of it: there may be secrets in it.
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

/** Variables that say where results are sent to, and not what is run. */
const ofLogging = /^(WANDB_|TRACKIO_DIR$)/;

/** Digest of what the sweep file adds to the environment of a run, as far as that may change what it does. */
export function environmentDigest({ env }: PlannedRun): string {
  const own = Object.entries(env).filter(([name]) => !ofLogging.test(name));
  return fnv1a64(JSON.stringify(own.sort(byName))).slice(-8);
}

/** A row is drawn often; what its run is started with never changes. */
const digests = new WeakMap<PlannedRun, Readonly<Record<string, string>>>();

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}
