import { addTo, groupBy } from '../../base/group-by.js';
import type { Outcome } from '../../base/outcome.js';
import type { Parameters } from '../../base/scalar.js';
import { MASK } from '../../text/redaction.js';
import { growth } from '../policy/completion.js';
import { identityOf } from './identity.js';
import { distinctName } from './run-name.js';

/** A run of the sweep that exists, by its record or by the supervisor. */
export type KnownRun = {
  readonly name: string;
  readonly group: string;
  /** Its recorded identity; null: unknown. */
  readonly identity: string | null;
  readonly parameters: Parameters;
  /** Unix ms. */
  readonly attempts: readonly { readonly startedAt: number; readonly outcome: Outcome | null }[];
  /** Whether the run has a directory, so that no other run may take its name. */
  readonly isStarted: boolean;
};

/** How names differ from those by the file alone. Both maps have the run's actual name as their key. */
export type NameChanges = {
  /** Existing runs with an older name, and their name by the file. */
  readonly kept: ReadonlyMap<string, string>;
  /** New runs whose name by the file is taken, with that name and the parameters of its run; null: the parameters are the same. */
  readonly distinct: ReadonlyMap<string, { readonly taken: string; readonly parameters: Parameters | null }>;
};

/** A run of the file, under the name that the file gives it. */
type WantedRun = {
  readonly name: string;
  readonly parameters: Parameters;
  readonly after?: unknown;
};

/** Properties that the runs of a group share. */
type WantedGroup = {
  readonly group: string;
  readonly budget: readonly string[];
  /** Parameters that are computed from others, so that they add nothing to a name. */
  readonly derived: ReadonlySet<string>;
};

/**
 * Names the runs of a sweep beside existing ones: an existing run, by group and parameters, keeps its name whatever the file would
 * call it now, and no other run gets that name.
 *
 * A run that never started gives up its name to a run with other parameters, as an edit of the file before the start refers to it.
 */
export class KeptNames {
  readonly #known: ReadonlyMap<string, readonly KnownRun[]>;
  /** Taken names in lower case, as some file systems ignore case; null: a run of this plan has the name. */
  readonly #taken = new Map<string, KnownRun | null>();
  readonly #kept = new Map<string, string>();
  readonly #distinct = new Map<string, { taken: string; parameters: Parameters | null }>();

  constructor(known: readonly KnownRun[]) {
    this.#known = groupBy(known, ({ group }) => group);
    for (const run of known) if (run.isStarted) this.#taken.set(run.name.toLowerCase(), run);
  }

  get changes(): NameChanges {
    return { kept: this.#kept, distinct: this.#distinct };
  }

  /** The existing runs of a group, the earliest first. */
  ofGroup(group: string): KnownRun[] {
    const startOf = ({ attempts }: KnownRun) => attempts[0]?.startedAt ?? Infinity;
    return [...(this.#known.get(group) ?? [])].sort((a, b) => startOf(a) - startOf(b));
  }

  /** Names of the runs of one group, in their order. */
  namesOf(group: WantedGroup, wanted: readonly WantedRun[]): string[] {
    const matches = this.#matches(group, wanted);
    const kept = wanted.map((run) => this.#keep(run, matches.get(run)));
    return wanted.map((run, index) => kept[index] ?? this.#name(group, run));
  }

  /** The existing run for each wanted one. */
  #matches({ group, budget }: WantedGroup, wanted: readonly WantedRun[]): ReadonlyMap<WantedRun, KnownRun> {
    const matches = new Map<WantedRun, KnownRun>();
    const known = this.#known.get(group);
    if (known === undefined) return matches;
    const there = new Map<string, KnownRun[]>();
    for (const run of known) {
      for (const identity of identitiesOf(run, budget)) addTo(there, identity, run);
    }
    const alike = groupBy(wanted, ({ parameters }) => identityOf(group, parameters, budget));
    for (const [identity, runs] of alike) match(runs, there.get(identity) ?? [], matches);
    return matches;
  }

  #keep({ name }: WantedRun, run: KnownRun | undefined): string | null {
    if (run === undefined) return null;
    const lower = run.name.toLowerCase();
    // The existing run never started, and a run of this plan has taken its name.
    if (this.#taken.get(lower) === null) return null;
    this.#taken.set(lower, null);
    if (run.name !== name) this.#kept.set(run.name, name);
    return run.name;
  }

  #name({ budget, derived }: WantedGroup, run: WantedRun): string {
    const other = this.#taken.get(run.name.toLowerCase());
    const isTaken = (name: string) => this.#taken.has(name.toLowerCase());
    let { name } = run;
    if (other !== undefined) {
      const isTold = (key: string) => !budget.includes(key) && !derived.has(key);
      name = distinctName(run, other, { isTold, isTaken });
      this.#distinct.set(name, { taken: run.name, parameters: other?.parameters ?? null });
    }
    this.#taken.set(name.toLowerCase(), null);
    return name;
  }
}

/** Its recorded identity, and its identity by the present `extends`. */
function identitiesOf({ group, identity, parameters }: KnownRun, budget: readonly string[]): Set<string> {
  const isWhole = !JSON.stringify(parameters).includes(MASK);
  const own = isWhole ? [identityOf(group, parameters, budget)] : [];
  return new Set(identity === null ? own : [...own, identity]);
}

/** Pairs runs of the same identity. Several wanted ones are repetitions, or differ in their budget. */
function match(wanted: readonly WantedRun[], known: readonly KnownRun[], matches: Map<WantedRun, KnownRun>): void {
  if (known.length === 0) return;
  const [only, ...others] = wanted;
  if (others.length === 0) return void matches.set(only!, bestOf(only!, known));
  const left = new Set(known);
  const pairBy = (keyOf: (run: Pick<KnownRun, 'name' | 'parameters'>) => string) => {
    const there = groupBy([...left].reverse(), keyOf);
    for (const run of wanted) {
      const found = matches.has(run) ? undefined : there.get(keyOf(run))?.pop();
      if (found === undefined) continue;
      matches.set(run, found);
      left.delete(found);
    }
  };
  pairBy(({ name }) => name);
  // Each comes after its own run, so only the name identifies it.
  if (wanted.some(({ after }) => after !== undefined)) return;
  pairBy(({ parameters }) => identityOf('', parameters, []));
  pairBy(() => '');
}

/**
 * The best match: a run that is done with this budget, else one with this name, else one that is done, else the one with most
 * attempts.
 */
function bestOf(run: WantedRun, known: readonly KnownRun[]): KnownRun {
  const rank = ({ name, parameters, attempts }: KnownRun) => {
    const isDone = attempts.at(-1)?.outcome?.kind === 'done';
    const isEnough = isDone && growth(parameters, run.parameters) === null;
    return [isEnough ? 1 : 0, name === run.name ? 1 : 0, isDone ? 1 : 0, attempts.length];
  };
  return known.reduce((best, other) => (isAbove(rank(other), rank(best)) ? other : best));
}

function isAbove(a: readonly number[], b: readonly number[]): boolean {
  const index = a.findIndex((value, place) => value !== b[place]);
  return index >= 0 && a[index]! > b[index]!;
}
