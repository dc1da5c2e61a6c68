import { addTo } from '../../base/group-by.js';
import { namesRepetition, type RunKind, settingOf } from './durations.js';

/** A run that has ended by itself. */
export type EndedRun = { readonly kind: RunKind; readonly seconds: number; readonly failed: boolean };

/** How probable it is that a run fails, 0 to 1, and how long those took that did, the shortest first. */
export type Failing = { readonly share: number; readonly seconds: readonly number[] };

type Ended = Pick<EndedRun, 'seconds' | 'failed'> & { readonly parts: readonly string[] };
type Tally = { runs: number; failed: number };

/** Prior probability that a value of a parameter, or a setting, always fails. */
const BROKEN = 0.05;
/** Weight, as a number of runs, of how often the others fail in the estimate for a value. */
const PRIOR_RUNS = 2;

/**
 * Which runs will fail, by those that have: a learning rate at which each run so far has ended after a second is expected to end the
 * next one as early. Seeds and names explain nothing.
 */
export class FailedRuns {
  readonly #groups = new Map<string, FailedOfGroup>();

  constructor(ended: readonly EndedRun[]) {
    const byGroup = new Map<string, Ended[]>();
    for (const { kind, ...run } of ended) addTo(byGroup, keyOf(kind), { ...run, parts: partsOf(kind) });
    for (const [key, runs] of byGroup)
      if (runs.some(({ failed }) => failed)) this.#groups.set(key, new FailedOfGroup(runs));
  }

  /** Null: no run of its group has failed. */
  of(kind: RunKind): Failing | null {
    return this.#groups.get(keyOf(kind))?.of(partsOf(kind)) ?? null;
  }
}

class FailedOfGroup {
  /** Values at which every run fails, with the probability of that. */
  readonly #broken = new Map<string, Failing>();
  /** The runs without such a value. */
  #others: readonly Ended[];
  #tallies: ReadonlyMap<string, Tally>;
  #all: Tally;
  readonly #seconds: readonly number[];

  constructor(ended: readonly Ended[]) {
    this.#others = ended;
    this.#all = tallyOf(ended);
    this.#tallies = talliesOf(ended);
    // A value that is found leaves fewer failures to explain, so that another one is seen.
    while (this.#findBroken());
    this.#seconds = timesOf(this.#others.some(({ failed }) => failed) ? this.#others : ended);
  }

  of(parts: readonly string[]): Failing {
    const broken = parts.flatMap((part) => this.#broken.get(part) ?? []);
    if (broken.length > 0) return broken.reduce((most, each) => (each.share > most.share ? each : most));
    const known = parts.flatMap((part) => this.#tallies.get(part) ?? []);
    const usual = this.#usual({ runs: 0, failed: 0 });
    // A value that fails seldom says more than one whose runs failed for another value's sake.
    const rates = known.map(({ runs, failed }) => (failed + PRIOR_RUNS * usual) / (runs + PRIOR_RUNS));
    const suspicions = known.map((tally) => this.#suspicion(tally));
    return { share: Math.max(Math.min(usual, ...rates), ...suspicions), seconds: this.#seconds };
  }

  #findBroken(): boolean {
    const found = [...this.#tallies].filter(([, tally]) => this.#suspicion(tally) > 0.5);
    for (const [part, tally] of found) {
      const seconds = timesOf(this.#others.filter(({ parts }) => parts.includes(part)));
      this.#broken.set(part, { share: this.#suspicion(tally), seconds });
    }
    if (found.length === 0) return false;
    this.#others = this.#others.filter(({ parts }) => !parts.some((part) => this.#broken.has(part)));
    this.#all = tallyOf(this.#others);
    this.#tallies = talliesOf(this.#others);
    return true;
  }

  /** Probability that a value always fails, by Bayes' rule: otherwise its runs would fail as often as the others. */
  #suspicion(tally: Tally): number {
    if (tally.failed < tally.runs) return 0;
    const odds = (BROKEN / (1 - BROKEN)) * this.#usual(tally) ** -tally.runs;
    return odds / (1 + odds);
  }

  /** The share of the runs without this value that fail. */
  #usual({ runs, failed }: Tally): number {
    return (this.#all.failed - failed + 0.5) / (this.#all.runs - runs + 1);
  }
}

function talliesOf(ended: readonly Ended[]): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  for (const { parts, failed } of ended) {
    for (const part of parts) {
      const { runs, failed: before } = tallies.get(part) ?? { runs: 0, failed: 0 };
      tallies.set(part, { runs: runs + 1, failed: before + (failed ? 1 : 0) });
    }
  }
  return tallies;
}

function tallyOf(ended: readonly Ended[]): Tally {
  return { runs: ended.length, failed: ended.filter(({ failed }) => failed).length };
}

function timesOf(runs: readonly Ended[]): number[] {
  return runs.flatMap(({ failed, seconds }) => (failed ? [seconds] : [])).sort((a, b) => a - b);
}

/** The values of a run, and all of them together. */
function partsOf({ parameters }: RunKind): string[] {
  const values = Object.entries(parameters).filter(([name]) => !namesRepetition(name));
  return [settingOf(parameters), ...values.map(([name, value]) => `${name}=${JSON.stringify(value)}`)];
}

function keyOf({ sweep, group }: RunKind): string {
  return `${sweep}\n${group}`;
}
