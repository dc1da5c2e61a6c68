import { Name, unnamedGroup } from '../../base/ids.js';
import { UserError } from '../../base/user-error.js';
import { writingOf } from '../expand/compile-block.js';
import { fileMs, withinTime } from '../expand/expression/time-limit.js';
import { Breaker, EarlyTerminate, Objective, Resources, RetryRule, StopRule } from '../planned-run.js';
import { blockDiagnostics, refuseLargeSweep } from './check-sweep.js';
import { readCommandList, refuseScript } from './command-list.js';
import { diagnosticsError, type KeyPath, type LocatedDiagnostic } from './diagnostic.js';
import { schemaDiagnostics } from './schema-diagnostics.js';
import {
  type Block,
  type EachRun,
  type Located,
  type Method,
  methodFrom,
  parameterNames,
  type ParameterRule,
  type ParameterRules,
  type SweepFile,
  unset,
} from './sweep-file.js';
import { type GroupText, SweepText } from './sweep-schema.js';
import { readToml } from './toml-source.js';
import { isWandbFile, readWandbText, wandbOrder } from './wandb-file.js';
import { readYaml, type YamlSource } from './yaml-source.js';
import { rulesOf } from './parameter-schema.js';

/**
 * Parses a sweep file: YAML (`.yaml`, `.yml`, `.json`), TOML (`.toml`), else one command on each line.
 *
 * @param path For the default name of the sweep and for messages; this function opens nothing.
 * @throws {UserError} With all mistakes at once, each with its line and a mark below it.
 */
export function parseSweepFile(text: string, path: string): SweepFile {
  const other = otherFiles.find(({ ending }) => ending.test(path));
  if (other !== undefined) throw new UserError(`${path} is ${other.what}, and no list of commands.`, other.fix);
  return isStructured(path) ? parseYamlSweep(text, path) : parseCommandList(text, path);
}

/** Whether a file has keys and values, by the ending of its name. */
export function isStructured(path: string): boolean {
  return /\.(ya?ml|json|toml)$/i.test(path);
}

/** Files that must not be read as lists of commands. */
const otherFiles: readonly { ending: RegExp; what: string; fix: string }[] = [
  {
    ending: /\.(csv|tsv|jsonl|ndjson)$/i,
    what: 'a table',
    fix: 'Launch it with a command: `memrl-tui table.csv -- python train.py`.',
  },
  {
    ending: /\.(xlsx?|ods|parquet|feather|arrow)$/i,
    what: 'a table in a format that is not read',
    fix: 'Save it as CSV, and launch that: `memrl-tui table.csv -- python train.py`.',
  },
  {
    ending: /\.(py|ipynb|jl|R)$/,
    what: 'a program',
    fix: 'Make a sweep of it: `memrl-tui grid seed=0..4 -- python train.py`, or `memrl-tui init train.py`.',
  },
];

function isToml(path: string): boolean {
  return /\.toml$/i.test(path);
}

function parseYamlSweep(text: string, path: string): SweepFile {
  refuseLong(text, path, mostYaml);
  const source = readSource(text, path);
  if (source.value === null) throw emptyFile(path);
  const { sweep, notes, dialect } = sweepTextOf(source);
  refuseLargeSweep(sweep, path);
  const blocks = blocksOf(sweep, source, dialect);
  const compileAll = () => blockDiagnostics(blocks, source);
  const diagnostics = [...inexactNumbers(source), ...withinTime(`To read ${path}`, fileMs, compileAll)];
  if (diagnostics.length > 0) throw diagnosticsError(path, text, diagnostics);
  return {
    kind: 'groups',
    path,
    text,
    name: sweep.name ?? nameFrom(path),
    description: sweep.description ?? null,
    blocks,
    notify: sweep.notify ?? null,
    executor: sweep.executor ?? null,
    notes,
    placeOf: source.placeOf,
  };
}

/** Parses the file, which shows by its keys whether it is a W&B file; that is parsed again as W&B does. */
function readSource(text: string, path: string): YamlSource {
  const read = isToml(path) ? readToml(text, path) : readYaml(text, path);
  const isYamlOfWandb = 'value' in read && isWandbFile(read.value) && !isToml(path);
  const source = isYamlOfWandb ? readYaml(text, path, 'wandb') : read;
  if (!('value' in source)) throw diagnosticsError(path, text, source);
  return source;
}

type Said = { sweep: SweepText; notes: readonly string[]; dialect: Block['dialect'] };

function sweepTextOf(source: YamlSource): Said {
  const said = isWandbFile(source.value)
    ? readWandbText(source.value, { safeName, writtenAsDouble: source.writtenAsDouble })
    : SweepText.safeParse(source.value);
  if (!said.success) throw diagnosticsError(source.path, source.text, schemaDiagnostics(source, said.error.issues));
  return 'notes' in said
    ? { sweep: said.data, notes: said.notes, dialect: 'wandb' }
    : { sweep: said.data, notes: [], dialect: 'own' };
}

/** Length limits in characters. A larger file was not written by hand, and parsing it would take minutes. */
const mostYaml = 4_000_000;
const mostCommands = 64_000_000;

function refuseLong(text: string, path: string, most: number): void {
  if (text.length <= most) return;
  throw new UserError(
    `${path} has ${text.length.toLocaleString('en-US')} characters; the limit is ${most.toLocaleString('en-US')}.`,
    'Check that it is a sweep file. Long lists of values are better computed: {expr: "…"}.',
  );
}

function parseCommandList(text: string, path: string): SweepFile {
  refuseLong(text, path, mostCommands);
  refuseScript(text, path);
  const { lines, diagnostics } = readCommandList(text);
  if (diagnostics.length > 0) throw diagnosticsError(path, text, diagnostics);
  if (lines.length === 0) throw emptyFile(path);
  return { kind: 'commands', path, text, name: nameFrom(path), description: null, lines };
}

function emptyFile(path: string): UserError {
  return new UserError(
    `${path} is empty.`,
    'Write at least `command: [python, train.py, "${args}"]` and `parameters:`, or one command on each line of a text file.',
  );
}

/** The file's name without folders and ending, in characters that a folder name may have. */
function nameFrom(path: string): string {
  return safeName(path.replace(/^.*[/\\]/, '').replace(/(?<=.)\.[^.]*$/, ''));
}

function safeName(text: string): string {
  const safe = text
    .replace(/[^A-Za-z0-9._=+,@-]+/g, '-')
    .replace(/^[^A-Za-z0-9_]+/, '')
    .slice(0, 100);
  return Name.parse(safe === '' ? 'sweep' : safe);
}

/** Reports whole numbers beyond 2^53, which parsing would change silently; a seed must not change. */
function inexactNumbers(source: YamlSource): LocatedDiagnostic[] {
  const diagnostics: LocatedDiagnostic[] = [];
  const look = (value: unknown, keys: (string | number)[]): void => {
    if (typeof value === 'object' && value !== null) {
      Object.entries(value).forEach(([key, inner]) => look(inner, [...keys, Array.isArray(value) ? Number(key) : key]));
    } else if (Number.isInteger(value) && !Number.isSafeInteger(value) && !source.writtenAsDouble(keys)) {
      const problem = 'this whole number is too large to be kept exactly.';
      diagnostics.push({
        place: source.placeOf(keys),
        keys,
        problem,
        fix: 'Put it in quotes; programs get the same text.',
      });
    }
  };
  look(source.value, []);
  return diagnostics;
}

/** The command that W&B uses when a file names a program and no command. */
const programCommand = ['${env}', '${interpreter}', '${program}', '${args}'];

type Reading = Layers & { source: YamlSource; dialect: Block['dialect'] };

/**
 * The groups of a file, each with what it inherits. A group's key replaces the inherited one, except that `parameters`, `env`,
 * `metrics`, `resources` and `slurm` are merged key by key, the inherited ones first.
 */
function blocksOf(sweep: SweepText, source: YamlSource, dialect: Block['dialect']): Block[] {
  const groups = Object.entries(sweep.groups ?? {});
  if (groups.length === 0) return [blockOf(unnamedGroup, { sweep, group: {}, above: [], source, dialect })];
  return groups.reduce<Block[]>((above, [name, group]) => {
    const layers = { sweep, group, above: ['groups', name], source, dialect };
    return [...above, withRunsOf(above, blockOf(name, layers), ownParameters(layers))];
  }, []);
}

function blockOf(group: string, layers: Reading): Block {
  const own = layers.group;
  return {
    group,
    keys: layers.above,
    title: own.title ?? null,
    needs: own.needs ?? [],
    optional: own.optional ?? false,
    name: ownText(layers, 'name'),
    subgroup: ownText(layers, 'subgroup'),
    ...commandOf(layers),
    ...parametersOf(layers),
    cases: casesOf(layers),
    ...includeOf(layers),
    exclude: inherited(layers, 'exclude') ?? { content: [], keys: layers.above },
    method: methodOf(layers),
    each: eachOf(layers),
    dialect: layers.dialect,
    when: inherited(layers, 'when') ?? null,
    extends: inherited(layers, 'extends') ?? { content: [], keys: layers.above },
    stopWhen: stopWhenOf(layers),
    done: inherited(layers, 'done') ?? { content: { exit: 0 }, keys: layers.above },
    ...policyOf(layers),
    ...metricsOf(layers),
  };
}

function ownText({ group, above }: Layers, key: 'name' | 'subgroup'): Located<string> | null {
  const content = group[key];
  return content === undefined ? null : { content, keys: [...above, key] };
}

function commandOf(layers: Layers): Pick<Block, 'command' | 'program' | 'resumeArgs' | 'env' | 'cwd' | 'code'> {
  const program = layers.group.program ?? layers.sweep.program ?? null;
  const standIn = { content: program === null ? [] : programCommand, keys: layers.above };
  return {
    command: inherited(layers, 'command') ?? standIn,
    program,
    resumeArgs: inherited(layers, 'resume_args') ?? { content: [], keys: layers.above },
    env: {
      content: { ...layers.sweep.env, ...layers.group.env },
      keys: layers.group.env ? [...layers.above, 'env'] : ['env'],
    },
    cwd: inherited(layers, 'cwd') ?? null,
    code: inherited(layers, 'code')?.content ?? 'live',
  };
}

function includeOf(layers: Reading): Pick<Block, 'include' | 'writtenInInclude'> {
  const include = inherited(layers, 'include') ?? { content: [], keys: layers.above };
  const names = new Set(include.content.flatMap((edit) => Object.keys(edit)));
  const placesOf = (name: string) => include.content.map((_, index) => [...include.keys, index, name]);
  const written = [...names].map((name) => [name, layers.source.writtenNumbers(placesOf(name))] as const);
  return { include, writtenInInclude: new Map(written) };
}

function methodOf(layers: Reading): Located<Method> {
  const said = inherited(layers, 'method');
  const kind = said?.content ?? 'grid';
  const cap = inherited(layers, 'run_cap')?.content ?? null;
  const seed = inherited(layers, 'sample_seed')?.content ?? 0;
  return { content: methodFrom(kind, { cap, seed, dialect: layers.dialect }), keys: said?.keys ?? layers.above };
}

function stopWhenOf(layers: Layers): Block['stopWhen'] {
  const said = inheritedOrNone(layers, 'stop_when');
  if (said === null) return null;
  return {
    content: stopRule(said.content),
    keys: typeof said.content === 'string' ? said.keys : [...said.keys, 'when'],
  };
}

/** A bare expression means the first row at which it holds. */
export function stopRule(said: NonNullable<SweepText['stop_when']>): StopRule {
  return StopRule.parse(typeof said === 'string' ? { when: said } : said);
}

function metricsOf(layers: Layers): Pick<Block, 'show' | 'x' | 'progress' | 'folders' | 'patterns'> {
  const own = layers.group.metrics ?? {};
  const { show = [], x = 'step', progress, folders = [], patterns = {} } = { ...layers.sweep.metrics, ...own };
  const keysOf = (key: keyof typeof own) => [...(own[key] === undefined ? [] : layers.above), 'metrics', key];
  return {
    show,
    x,
    progress: progress ? { content: progress, keys: keysOf('progress') } : null,
    folders: { content: folders, keys: keysOf('folders') },
    patterns,
  };
}

function parametersOf({ sweep, group, above, source, dialect }: Reading): Pick<Block, 'parameters' | 'twice'> {
  const outer = rulesOf(sweep.parameters ?? {}, ['parameters'], source);
  const own = ownParameters({ group, above, source });
  const all = new Map([...outer, ...own]);
  return {
    parameters: dialect === 'wandb' ? wandbOrder(all) : all,
    twice: [...namedTwice(outer), ...namedTwice(own)],
  };
}

function ownParameters({
  group,
  above,
  source,
}: Pick<Reading, 'group' | 'above' | 'source'>): [string, ParameterRule][] {
  return rulesOf(group.parameters ?? {}, [...above, 'parameters'], source);
}

function namedTwice(rules: readonly [string, ParameterRule][]): Located<string>[] {
  const first = new Map<string, ParameterRule>();
  for (const [name, rule] of rules) if (!first.has(name)) first.set(name, rule);
  return rules
    .filter(([name, rule]) => first.get(name) !== rule)
    .map(([name, rule]) => ({ content: name, keys: rule.keys! }));
}

function casesOf(layers: Reading): ParameterRules[] {
  const cases = inherited(layers, 'cases');
  return (cases?.content ?? []).map((one, index) => new Map(rulesOf(one, [...cases!.keys, index], layers.source)));
}

type Policy = Pick<
  Block,
  | 'grace'
  | 'timeout'
  | 'priority'
  | 'stdin'
  | 'terminal'
  | 'retry'
  | 'breaker'
  | 'start'
  | 'objective'
  | 'earlyTerminate'
  | 'resources'
>;

/** How the runs of a group are treated, with all defaults. */
function policyOf(layers: Layers): Policy {
  const early = inheritedOrNone(layers, 'early_terminate');
  const breaker = said(layers, 'breaker', {});
  return {
    grace: said(layers, 'grace', 10),
    timeout: said(layers, 'timeout', null),
    priority: said(layers, 'priority', 0),
    stdin: said(layers, 'stdin', 'none'),
    terminal: said(layers, 'terminal', false),
    retry: RetryRule.parse(said(layers, 'retry', { max: 0 })),
    breaker: breaker === false ? null : Breaker.parse(breaker),
    start: said(layers, 'start', null),
    objective: objectiveOf(layers),
    earlyTerminate: early && { content: EarlyTerminate.parse(early.content), keys: early.keys },
    resources: Resources.parse({ ...layers.sweep.resources, ...layers.group.resources, ...slurmOf(layers) }),
  };
}

function said<Key extends SharedKey>(layers: Layers, key: Key, usual: Content<Key>): Content<Key> {
  return inherited(layers, key)?.content ?? usual;
}

function slurmOf({ sweep, group }: Layers): Pick<Resources, 'slurm'> {
  const slurm = { ...sweep.slurm, ...group.slurm };
  return Object.keys(slurm).length === 0 ? {} : { slurm };
}

function objectiveOf(layers: Layers): Objective | null {
  const said = inheritedOrNone(layers, 'metric')?.content;
  if (said === undefined) return null;
  return Objective.parse(said);
}

/** A group and the keys above all groups. `above`: the place of the group. */
type Layers = { readonly sweep: SweepText; readonly group: GroupText; readonly above: KeyPath };

type SharedKey = keyof SweepText & keyof GroupText;
type Content<Key extends SharedKey> = Exclude<SweepText[Key], undefined>;

/** The group's value if it has one, else the sweep's, with its place. */
function inherited<Key extends SharedKey>(layers: Layers, key: Key): Located<Content<Key>> | undefined {
  const { sweep, group, above } = layers;
  const own: SweepText[Key] = group[key];
  if (own !== undefined) return { content: own as Content<Key>, keys: [...above, key] };
  const outer = sweep[key];
  return outer === undefined ? undefined : { content: outer as Content<Key>, keys: [key] };
}

/** Like `inherited`, for a key whose `null` means none: in a group it cancels the inherited value. */
function inheritedOrNone<Key extends SharedKey>(layers: Layers, key: Key): Located<NonNullable<SweepText[Key]>> | null {
  const said = inherited(layers, key);
  return said === undefined || said.content === null ? null : { content: said.content, keys: said.keys };
}

/** Keys that define points in another way. */
const otherPoints = ['cases', 'include', 'exclude', 'method', 'run_cap', 'sample_seed'] as const;

/** The `for_each` or `after_each` of a group, before its source groups are resolved. */
function eachOf({ group, above }: Layers): EachRun | null {
  const key = group.after_each === undefined ? 'for_each' : 'after_each';
  const names = group[key];
  if (names === undefined) return null;
  const groups = names.map((name, index) => ({ name, at: [index] }));
  const others = key === 'after_each' ? ([...otherPoints, 'for_each'] as const) : otherPoints;
  const beside = others.find((other) => group[other] !== undefined) ?? null;
  return { groups, keys: [...above, key], carried: new Map(), after: key === 'after_each', beside };
}

/**
 * Adds the parameters of its source groups to a block; any other block stays as it is. The source runs bring these parameters, so
 * parameters above all groups count only through them.
 *
 * @param above Blocks of earlier groups: only these can be named, so no group is made of itself.
 * @param own Parameters that the group itself sets.
 */
function withRunsOf(above: readonly Block[], block: Block, own: readonly (readonly [string, ParameterRule])[]): Block {
  const { each } = block;
  if (each === null) return block;
  const sources = above.filter(({ group }) => each.groups.some(({ name }) => name === group));
  const names = sources.flatMap(parameterNames);
  const writings = sources.map(writingOf);
  const writtenOf = (name: string) => new Map(writings.flatMap((writing) => [...(writing.get(name) ?? [])]));
  const carried = new Map(names.map((name) => [name, { ...carriedRule(name, sources), written: writtenOf(name) }]));
  const none = { content: [], keys: block.keys };
  return {
    ...block,
    each: { ...each, carried },
    parameters: new Map([...carried, ...own]),
    cases: [],
    include: none,
    writtenInInclude: new Map(),
    exclude: none,
    method: { content: methodFrom('grid', { cap: null, seed: 0, dialect: block.dialect }), keys: block.keys },
    when: block.when?.keys[0] === 'groups' ? block.when : null,
  };
}

type AxisRule = Extract<ParameterRule, { kind: 'axis' }>;

/** A rule without values, since the source run brings the value; the path of a nested parameter is kept. */
function carriedRule(name: string, sources: readonly Block[]): Omit<AxisRule, 'written'> {
  const rules = sources.flatMap((source) => [source.parameters, ...source.cases].map((each) => each.get(name)));
  const { path = [name], keys = null } = rules.find((rule) => rule !== undefined) ?? {};
  const one = { kind: 'axis', values: [unset], double: false, constant: true } as const;
  return { ...one, keys, path, when: null, probabilities: null, crossed: false };
}
