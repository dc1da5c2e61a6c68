import { isMapValue, type Parameters, type ParameterValue } from '../../base/scalar.js';
import type { PlannedRun } from '../planned-run.js';

/**
 * Identifies a run: a hash of its group and its parameters, whatever their order, without those that are budget. 16 hexadecimal
 * digits (FNV-1a, 64 bits). Runs of the same identity are the same experiment and share a directory. The group is a part of it, as
 * two groups may pass the same parameters to different commands.
 */
export function identityOf(group: string, parameters: Parameters, budget: readonly string[]): string {
  const entries = Object.entries(parameters)
    .filter(([name]) => !budget.includes(name))
    .map(([name, value]): [string, ParameterValue] => [name, inOrder(value)])
    .sort(byName);
  return fnv1a64(JSON.stringify([group, entries]));
}

/** A text that is equal for equal values, in whatever order their maps were written. */
export function canonicalText(value: ParameterValue | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(inOrder(value));
}

/** Numbers that PyYAML, which reads W&B's files, takes for texts. */
const exponential = /^[+-]?\d+(\.\d*)?e[+-]?\d+$/i;

/** The value with the keys of its maps sorted. */
function inOrder(value: ParameterValue): ParameterValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value === 'string') return exponential.test(value) ? Number(value) : value;
  if (!isMapValue(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, ParameterValue] => [name, inOrder(inner)]);
  return Object.fromEntries(entries.sort(byName));
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1;
}

/**
 * FNV-1a over the UTF-16 code units (low byte, then high byte) of a text. In parts of 32, 16 and 16 bits, whose products with the
 * prime 2^40 + 0x1b3 are small integers: bigints would take 50 times as long, and a plan has ten thousand of these.
 */
export function fnv1a64(text: string): string {
  let high = 0xcbf29ce4 | 0;
  let upper = 0x8422;
  let lower = 0x2325;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    for (let shift = 0; shift < 16; shift += 8) {
      lower ^= (unit >> shift) & 0xff;
      const product = lower * 0x1b3;
      const carried = upper * 0x1b3 + (product >> 16);
      high = (Math.imul(high, 0x1b3) + (carried >> 16) + (lower << 8) + (upper << 24)) | 0;
      lower = product & 0xffff;
      upper = carried & 0xffff;
    }
  }
  return hex(high >>> 0, 8) + hex(upper, 4) + hex(lower, 4);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

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
