import { addTo, groupBy } from '../../base/group-by.js';
import type { Outcome } from '../../base/outcome.js';
import type { Parameters } from '../../base/scalar.js';
import { MASK } from '../../text/redaction.js';
import { growth } from '../policy/completion.js';
import { identityOf } from './identity.js';
import { distinctName } from './run-name.js';

/** A run of the sweep that exists, by its record or by the word of the supervisor. */
export type KnownRun = {
  readonly name: string;
  readonly group: string;
  /** Identity as it was written down; null: unknown. */
  readonly identity: string | null;
  readonly parameters: Parameters;
  /** Unix ms. */
  readonly attempts: readonly { readonly startedAt: number; readonly outcome: Outcome | null }[];
  /** Whether the run has a directory, so that no other run may take its name. */
  readonly isStarted: boolean;
};

/** How names differ from those that the file alone would give; both by the name that the run has. */
export type NameChanges = {
  /** Runs that exist under an older name, with the name by the file. */
  readonly kept: ReadonlyMap<string, string>;
  /** New runs whose name by the file is taken, with that name and the parameters of its run; null: they are the same. */
  readonly distinct: ReadonlyMap<string, { readonly taken: string; readonly parameters: Parameters | null }>;
};

/** A run that the file wants, under the name that the file gives it. */
export type WantedRun = {
  readonly name: string;
  readonly parameters: Parameters;
  readonly after?: unknown;
};

/** What the runs of a group have in common. */
type WantedGroup = {
  readonly group: string;
  readonly budget: readonly string[];
  /** Parameters that follow from others, and say nothing in a name. */
  readonly derived: ReadonlySet<string>;
};

/**
 * Gives names to the runs of a sweep beside the runs that exist already: a run that exists, by group and parameters, keeps its
 * name whatever the file would call it now, and no other run gets that name.
 *
 * A run that never started gives up its name to a run of other parameters: who edits the file before it starts means that run.
 */
export class KeptNames {
  readonly #known: ReadonlyMap<string, readonly KnownRun[]>;
  /** Names in small letters, as some file systems take `Adam` and `adam` for one; null: a run of this plan has it. */
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

  /** The runs of a group that exist, the earliest first. */
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

  /** By run: the one that exists and is the same. */
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
    // A run of this plan has the name of one that never started.
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

/** The identity by what the file calls budget today, and the one that was written down. */
function identitiesOf({ group, identity, parameters }: KnownRun, budget: readonly string[]): Set<string> {
  const isWhole = !JSON.stringify(parameters).includes(MASK);
  const own = isWhole ? [identityOf(group, parameters, budget)] : [];
  return new Set(identity === null ? own : [...own, identity]);
}

/** Pairs runs of one identity. Several of a plan are repetitions, or have different budgets. */
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
  // Each comes after its own run, which only the name tells.
  if (wanted.some(({ after }) => after !== undefined)) return;
  pairBy(({ parameters }) => identityOf('', parameters, []));
  pairBy(() => '');
}

/** What is done with this budget, else what the file calls so, else the run that came furthest. */
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
