import { unnamedGroup } from '../../base/ids.js';
import { Breaker, EarlyTerminate, Objective, Resources, RetryRule, StopRule } from '../planned-run.js';
import { type Block, type Located, type Method, methodFrom, type ParameterRule, type ParameterRules } from './block.js';
import { eachOf, withRunsOf } from './each-run.js';
import { type Content, inherited, inheritedOrNone, type Layers, type SharedKey } from './layers.js';
import { rulesOf } from './parameter-schema.js';
import type { SweepText } from './sweep-schema.js';
import { wandbOrder } from './wandb-file.js';
import type { YamlSource } from './yaml-source.js';

/** The command that W&B uses when a file names a program and no command. */
const programCommand = ['${env}', '${interpreter}', '${program}', '${args}'];

type Reading = Layers & { source: YamlSource; dialect: Block['dialect'] };

/**
 * The groups of a file, each with what it inherits. A group's key replaces the inherited one, except that `parameters`, `env`,
 * `metrics`, `resources` and `slurm` are merged key by key, the inherited ones first.
 */
export function blocksOf(sweep: SweepText, source: YamlSource, dialect: Block['dialect']): Block[] {
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
