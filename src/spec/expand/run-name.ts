import { addTo, groupBy } from '../../base/group-by.js';
import { Name } from '../../base/ids.js';
import type { Outcome } from '../../base/outcome.js';
import type { Parameters } from '../../base/scalar.js';
import { MASK } from '../../text/redaction.js';
import { folderText } from '../../text/romanized.js';
import { diagnosticsError, type LocatedDiagnostic } from '../file/diagnostic.js';
import type { SweepFile } from '../file/sweep-file.js';
import { growth } from '../policy/completion.js';
import type { CompiledBlock } from './compile-block.js';
import type { Value } from './expression/cel-environment.js';
import { type Point, varies } from './grid.js';
import { fnv1a64, identityOf } from './identity.js';
import type { NamedPoint } from './plan-run.js';
import { valueText } from './value-text.js';

/** Length limit of a default name; most file systems limit a folder's name to 255 bytes. */
const longest = 120;

/**
 * Names for runs whose group has no `name`: the group and the varying parameters, shortened, as in `tune_lr0.001_bs32_s0`.
 * Characters that a folder name cannot have are replaced, and other alphabets are transliterated; a hash of the run's parameters
 * separates names that become equal by this or by shortening.
 */
export function defaultNames(compiled: CompiledBlock, points: readonly Point[]): string[] {
  const { block, axes, variants } = compiled;
  // Derived parameters follow from the others, so they distinguish nothing.
  const ofRuns = new Set(points.map(({ steps = [] }) => steps));
  const computed = [...variants.map(({ steps }) => steps), ...ofRuns].flat().filter(({ expr }) => expr !== null);
  const derived = new Set(computed.map(({ name }) => name));
  const inCases = variants.flatMap((variant) => variant.axes);
  const drawn = new Set([...axes, ...inCases].filter(({ values }) => values.length === 0).map(({ name }) => name));
  const varying = nameable(compiled, points).filter((name) => !derived.has(name));
  const short = shortNames(varying);
  const prefix = block.keys.length === 0 ? [] : [block.group];
  const isDrawn = (name: string) => drawn.has(name);
  const names = points.map(({ parameters }): Draft => {
    const parts = varying.filter((name) => Object.hasOwn(parameters, name));
    const texts = parts.map((name) =>
      joined(short.get(name)!, isDrawn(name) ? rounded(parameters[name]!) : parameters[name]!),
    );
    const isWhole = !parts.some((name) => isDrawn(name) && rounded(parameters[name]!) !== parameters[name]);
    // Some file systems drop a dot at the end.
    return { name: [...prefix, ...texts].join('_').replace(/\.$/, '._') || block.group, isWhole };
  });
  return keptApart(names, points);
}

/**
 * Names for runs that come after others: the group, the name of the other run, and the parameters that the group itself varies.
 * They are shortened like the names above.
 */
export function namesAfter({ block, axes }: CompiledBlock, points: readonly Point[]): string[] {
  const varying = axes.filter((axis) => varies(axis)).map(({ name }) => name);
  const short = shortNames(varying);
  const names = points.map(({ parameters, after }): Draft => {
    const parts = varying.filter((name) => Object.hasOwn(parameters, name));
    const texts = parts.map((name) => joined(short.get(name)!, parameters[name]!));
    return { name: [block.group, after?.name ?? '', ...texts].join('_').replace(/\.$/, '._'), isWhole: true };
  });
  return keptApart(names, points);
}

/**
 * Parameters that may vary between the runs. The runs of an open group are not all known, so these are its parameters with several
 * values.
 */
function nameable({ block, axes, variants }: CompiledBlock, points: readonly Point[]): string[] {
  const { content: method } = block.method;
  if (method.kind === 'grid' || !method.open) return varyingNames(points);
  const ofCases = variants.flatMap((variant) => (variants.length > 1 ? variant.axes : variant.axes.filter(varies)));
  return [...new Set([...axes.filter(varies), ...ofCases].map(({ name }) => name))];
}

/** A name, and whether it has all digits of its values. One that has not must not depend on the other runs. */
type Draft = { readonly name: string; readonly isWhole: boolean };

/** A drawn value has 16 digits, of which a name needs three. */
function rounded(value: Value): Value {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value;
}

/** Parameters that do not have the same value at all points, in file order. */
export function varyingNames(points: readonly Pick<Point, 'parameters'>[]): string[] {
  const first = new Map<string, string>();
  const varying = new Set<string>();
  const names = new Set(points.flatMap(({ parameters }) => Object.keys(parameters)));
  for (const { parameters } of points) {
    for (const name of names) {
      const text = Object.hasOwn(parameters, name) ? JSON.stringify(parameters[name]) : '';
      if (!first.has(name)) first.set(name, text);
      if (first.get(name) !== text) varying.add(name);
    }
  }
  return [...names].filter((name) => varying.has(name));
}

/** Joins a short name and a value: `lr0.1`, but `opt-sgd` and `b1=0.9`, so that the name's end is visible. */
function joined(short: string, value: Value): string {
  const text = folderText(valueText(value));
  if (/\d$/.test(short)) return `${short}=${text}`;
  return /^[\d.-]/.test(text) || text === '' ? `${short}${text}` : `${short}-${text}`;
}

function keptApart(drafts: readonly Draft[], points: readonly Point[]): string[] {
  const count = new Map<string, number>();
  const cut = drafts.map(({ name }) => name.slice(0, longest));
  // Some file systems ignore case.
  for (const name of cut) count.set(name.toLowerCase(), (count.get(name.toLowerCase()) ?? 0) + 1);
  return cut.map((name, index) => {
    const draft = drafts[index]!;
    const isWhole = draft.isWhole && name.length === draft.name.length;
    if (isWhole && count.get(name.toLowerCase()) === 1) return name;
    return marked(name, points[index]!);
  });
}

/** The name with a hash of the point's parameters. */
export function marked(name: string, { parameters }: Pick<Point, 'parameters'>): string {
  return `${name}_${fnv1a64(JSON.stringify(parameters)).slice(0, 8)}`;
}

type Taken = {
  /** Whether a parameter may be used in the name. */
  readonly isTold: (parameter: string) => boolean;
  readonly isTaken: (name: string) => boolean;
};

/** Limit on the number of parameters that distinguish a run from the one with its name; more would make the name unreadable. */
const MOST_TOLD = 3;

/**
 * A free name for a run whose own name is taken: with the parameters in which it differs from that run, as `lr0.1_bs64`; with a
 * number where there are too many or none. `other` null: their parameters are equal.
 */
function distinctName(
  run: Pick<NamedPoint, 'name' | 'parameters'>,
  other: Pick<Point, 'parameters'> | null,
  { isTold, isTaken }: Taken,
): string {
  const differing = other === null ? [] : varyingNames([other, run]).filter(isTold);
  const own = differing.filter((name) => Object.hasOwn(run.parameters, name));
  const told = [run.name, ...toldValues(own, run.parameters)].join('_').replace(/\.$/, '._');
  if (own.length > 0 && own.length <= MOST_TOLD && told.length <= longest && !isTaken(told)) return told;
  const stem = run.name.slice(0, longest);
  for (let number = 2; ; number += 1) if (!isTaken(`${stem}_${number}`)) return `${stem}_${number}`;
}

const repetition = /(^|[._-])(seed|repeat|repetition|trial)$/i;

/** Whether a parameter numbers repetitions, so that runs with the same command are expected. */
export function isRepetition(parameter: string): boolean {
  return repetition.test(parameter);
}

/** Common abbreviations of parameters. */
const usual: Readonly<Record<string, string>> = {
  learning_rate: 'lr',
  batch_size: 'bs',
  seed: 's',
  weight_decay: 'wd',
  num_epochs: 'epochs',
  max_epochs: 'epochs',
  num_layers: 'layers',
  n_layers: 'layers',
  temperature: 'temp',
  optimizer: 'opt',
};

/** What these parameters of a run are in its name, in their order: `lr0.1`, `s0`. A parameter that it does not have is left out. */
export function toldValues(names: readonly string[], parameters: Point['parameters']): string[] {
  const short = shortNames(names);
  return names
    .filter((name) => Object.hasOwn(parameters, name))
    .map((name) => joined(short.get(name)!, parameters[name]!));
}

/**
 * Short forms of parameter names for run names: the common abbreviation, else the initials of a name of several words, else the
 * name itself. Two parameters with the same short form keep their full names.
 */
function shortNames(names: readonly string[]): ReadonlyMap<string, string> {
  const short = new Map(names.map((name) => [name, shortName(name)]));
  const count = (form: string) => [...short.values()].filter((other) => other === form).length;
  return new Map([...short].map(([name, form]) => [name, count(form) > 1 ? name : form]));
}

function shortName(name: string): string {
  const leaf = name.split('.').at(-1)!;
  const known = leaf.toLowerCase();
  if (Object.hasOwn(usual, known)) return usual[known]!;
  const words = leaf.split(/[_-]+/).filter((part) => part !== '');
  return words.length > 1 ? words.map((part) => part[0]!.toLowerCase()).join('') : leaf;
}

type GroupsFile = Extract<SweepFile, { kind: 'groups' }>;
export type NamedGroup = { readonly group: CompiledBlock; readonly points: readonly NamedPoint[] };
type Named = { readonly group: CompiledBlock; readonly point: NamedPoint };

/** Names of the sweep's own files, which are beside the directories of its runs. Lower case. */
const reserved =
  /^(sweep(-.*)?\.(yaml|toml)(\.new)?|code|captured\.json|origin\.txt(\.new)?|launch\.json(\.new)?|report\.cache(\.tmp)?)$/;

/** Whether a run of this name would conflict with the sweep's own files, on any file system. */
export function isReservedName(name: string): boolean {
  return reserved.test(name.toLowerCase());
}

/** Checks names. @throws {UserError} When one is not safe as a folder name, or two runs have the same one; it shows both points. */
export function refuseClashes(file: GroupsFile, groups: readonly NamedGroup[]): void {
  const taken = new Map<string, Named>();
  const diagnostics: LocatedDiagnostic[] = [];
  for (const { group, points } of groups) {
    for (const point of points) {
      const other = taken.get(point.name.toLowerCase());
      const problem = other ? clash(other, { group, point }) : unsafe(point);
      taken.set(point.name.toLowerCase(), { group, point });
      if (problem === null) continue;
      const keys = group.name?.keys ?? group.block.keys;
      diagnostics.push({ place: file.placeOf(keys), keys, ...problem });
      // One example of each group is enough.
      break;
    }
  }
  if (diagnostics.length > 0) throw diagnosticsError(file.path, file.text, diagnostics);
}

function unsafe({ name, parameters }: NamedPoint): { problem: string; fix: string } | null {
  if (isReservedName(name)) {
    const problem = `no run can be called \`${name}\`: the sweep's own files are beside the directories of its runs.`;
    return { problem, fix: 'Change `name`, for example by beginning it with the group.' };
  }
  const read = Name.safeParse(name);
  if (read.success && name.endsWith('.')) {
    const problem = `the name \`${name}\` ends with a dot, which some file systems drop.`;
    return { problem, fix: 'Change the template.' };
  }
  if (read.success) return null;
  const values = valuesText(parameters, Object.keys(parameters).slice(0, 4));
  return {
    problem: `the name ${JSON.stringify(name)} (${values}) is not safe as a folder name.`,
    fix: `Change the template: ${read.error.issues[0]!.message}.`,
  };
}

function clash(first: Named, second: Named): { problem: string; fix: string } {
  const { name } = second.point;
  const differing = varyingNames([first.point, second.point]);
  if (first.point.name !== name) {
    const both = `\`${first.point.name}\` and \`${name}\``;
    const problem = `${both} differ only in small and capital letters, which some file systems take for one.`;
    return { problem, fix: 'Let `name` differ in something else.' };
  }
  if (first.group !== second.group) {
    const groups = `\`${first.group.block.group}\` and \`${second.group.block.group}\``;
    return { problem: `groups ${groups} both have a run \`${name}\`.`, fix: 'Begin `name` with the group.' };
  }
  if (differing.length === 0) {
    const values = valuesText(second.point.parameters, varyingFirst(second));
    const problem = `the point ${values} exists twice, as \`${name}\`.`;
    return { problem, fix: 'Remove the repeated value or case.' };
  }
  const one = valuesText(first.point.parameters, differing);
  const two = valuesText(second.point.parameters, differing);
  return {
    problem: `two runs are called \`${name}\`: one with ${one}, one with ${two}.`,
    fix: `Put ${differing.map((parameter) => `{${parameter}}`).join(' or ')} into \`name\`.`,
  };
}

function varyingFirst({ group, point }: Named): string[] {
  const axes = group.axes.filter(({ values }) => values.length > 1).map(({ name }) => name);
  return (axes.length > 0 ? axes : Object.keys(point.parameters)).slice(0, 6);
}

function valuesText(parameters: NamedPoint['parameters'], names: readonly string[]): string {
  return names
    .map((name) => (Object.hasOwn(parameters, name) ? `${name}=${valueText(parameters[name]!)}` : `no ${name}`))
    .join(', ');
}

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
