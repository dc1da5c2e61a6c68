/**
 * Watches the KL between the policy that samples and the one that is trained. Tinker's guide to reinforcement
 * learning: `kl_sample_train_v1` and `v2` should stay below 0.01 for stable training; above it the training data no
 * longer represents the policy.
 */
import { limitPrefix } from '../../contract/metric-names.js';
import { shortNumber } from '../../text/numbers.js';
import type { Row } from './metrics-file.js';

const stableKl = 0.01;

type HighestKl = { readonly name: string; readonly value: number; readonly step: number };

export class KlWatch {
  #rows = 0;
  #above = 0;
  #highest: HighestKl | null = null;

  #isDeclared: boolean;

  /** @param isDeclared Whether a row in the file has the limits already. */
  constructor(isDeclared = false) {
    this.#isDeclared = isDeclared;
  }

  /**
   * Adds the bound of each KL as its declared limit to the first row that has them; the manager watches and draws
   * declared limits.
   */
  withLimits<R extends Row>(row: R): R {
    const distances = this.#isDeclared ? [] : distancesIn(row);
    if (distances.length === 0) return row;
    this.#isDeclared = true;
    return { ...row, ...Object.fromEntries(distances.map(([name]) => [`${limitPrefix}${name}`, stableKl])) };
  }

  /** @returns a message at the first row above the bound. */
  see(row: Row & { readonly step: number }): string | null {
    const found = distancesIn(row);
    if (found.length === 0) return null;
    this.#rows++;
    const [name, value] = found.reduce((a, b) => (size(b[1]) > size(a[1]) ? b : a));
    if (size(value) <= stableKl) return null;
    this.#above++;
    if (size(value) > (this.#highest?.value ?? 0)) this.#highest = { name, value: size(value), step: row.step };
    if (this.#above > 1) return null;
    return `warning: ${name} is ${shortNumber(size(value))} at step ${row.step}; above ${stableKl} training is not stable. Lower learning_rate, num_substeps or max_steps_off_policy.`;
  }

  /** The message at the end; null when the KL stayed below the bound. */
  summary(): string | null {
    if (this.#highest === null) return null;
    const { name, value, step } = this.#highest;
    return `warning: KL above ${stableKl} in ${this.#above} of ${this.#rows} rows; ${name} was ${shortNumber(value)} at step ${step}`;
  }
}

function distancesIn(row: Row) {
  return Object.entries(row).filter(([name]) => /(^|\/)kl_sample_train_v[12]$/.test(name));
}

/** An estimate of a KL may be below zero. */
function size(value: unknown): number {
  return typeof value === 'number' ? Math.abs(value) : 0;
}
