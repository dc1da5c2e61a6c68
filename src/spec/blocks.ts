import type { Block, ParameterRule, ParameterRules, Written } from './block.js';
import type { Value } from './cel-value.js';
import type { KeyPath } from './complaint.js';
import { Resources, StopRule } from './planned-run.js';
import type { GroupText, ParameterText, SweepText } from './sweep-schema.js';
import type { YamlSource } from './yaml-source.js';

/** Group of a file that has none. */
const onlyGroup = 'runs';
/** What W&B runs when a file names a program and no command. */
const programCommand = ['${env}', '${interpreter}', '${program}', '${args}'];

/**
 * The groups of a file, each with what it inherits. A group's key replaces the inherited one; `parameters`, `env`,
 * `metrics` and `resources` are merged key by key, the inherited ones first.
 */
export function blocksOf(sweep: SweepText, source: YamlSource): Block[] {
  const groups = Object.entries(sweep.groups ?? {});
  if (groups.length === 0) return [blockOf(onlyGroup, { sweep, group: {}, above: [], source })];
  return groups.map(([name, group]) => blockOf(name, { sweep, group, above: ['groups', name], source }));
}

type Layers = { sweep: SweepText; group: GroupText; above: KeyPath; source: YamlSource };
type SharedKey = keyof SweepText & keyof GroupText;

function blockOf(group: string, layers: Layers): Block {
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
    parameters: parametersOf(layers),
    cases: casesOf(layers),
    when: inherited(layers, 'when') ?? null,
    extends: inherited(layers, 'extends') ?? { content: [], keys: layers.above },
    ...endingOf(layers),
    resources: Resources.parse({ ...layers.sweep.resources, ...own.resources }),
    ...metricsOf(layers),
  };
}

function ownText({ group, above }: Layers, key: 'name' | 'subgroup'): Written<string> | null {
  const content = group[key];
  return content === undefined ? null : { content, keys: [...above, key] };
}

/** The group's value if it has one, else the sweep's, with the place it came from. */
function inherited<Key extends SharedKey>(layers: Layers, key: Key): Written<NonNullable<SweepText[Key]>> | undefined {
  const { sweep, group, above } = layers;
  const content = group[key];
  if (content !== undefined) return { content: content, keys: [...above, key] };
  const outer = sweep[key];
  return outer === undefined ? undefined : { content: outer, keys: [key] };
}

function commandOf(layers: Layers): Pick<Block, 'command' | 'program' | 'resumeArgs' | 'env' | 'cwd'> {
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
  };
}

function endingOf(layers: Layers): Pick<Block, 'stopWhen' | 'done' | 'grace'> {
  // `null` in a group switches the inherited rule off, so "not said" and "null" differ here.
  const { group, sweep, above } = layers;
  const said = group.stop_when !== undefined ? group.stop_when : sweep.stop_when;
  const rule = group.stop_when !== undefined ? [...above, 'stop_when'] : ['stop_when'];
  const keys = typeof said === 'string' ? rule : [...rule, 'when'];
  return {
    stopWhen: said === undefined || said === null ? null : { content: stopRule(said), keys },
    done: inherited(layers, 'done') ?? { content: { exit: 0 }, keys: above },
    grace: layers.group.grace ?? layers.sweep.grace ?? 10,
  };
}

/** A bare expression stands for the first row at which it holds. */
export function stopRule(said: NonNullable<SweepText['stop_when']>): StopRule {
  return StopRule.parse(typeof said === 'string' ? { when: said } : said);
}

function metricsOf(layers: Layers): Pick<Block, 'show' | 'x' | 'progress'> {
  const own = layers.group.metrics ?? {};
  const { show = [], x = 'step', progress } = { ...layers.sweep.metrics, ...own };
  const above = own.progress === undefined ? [] : layers.above;
  return {
    show,
    x,
    progress: progress ? { content: progress, keys: [...above, 'metrics', 'progress'] } : null,
  };
}

function parametersOf({ sweep, group, above, source }: Layers): ParameterRules {
  return new Map([
    ...rulesOf(sweep.parameters ?? {}, ['parameters'], source),
    ...rulesOf(group.parameters ?? {}, [...above, 'parameters'], source),
  ]);
}

function casesOf(layers: Layers): ParameterRules[] {
  const cases = inherited(layers, 'cases');
  return (cases?.content ?? []).map((one, index) => new Map(rulesOf(one, [...cases!.keys, index], layers.source)));
}

function rulesOf(
  texts: Readonly<Record<string, ParameterText>>,
  above: KeyPath,
  source: YamlSource,
): [string, ParameterRule][] {
  return Object.entries(texts).map(([name, text]) => {
    const keys = [...above, name];
    const written = [keys, [...keys, 'value'], ...itemKeys(keys, text)];
    return [name, parameterRule(text, keys, written.some(source.writtenAsDouble))];
  });
}

function itemKeys(keys: KeyPath, text: ParameterText): KeyPath[] {
  const values = Array.isArray(text) ? text : isForm(text) ? (text.values ?? []) : [];
  const above = Array.isArray(text) ? keys : [...keys, 'values'];
  return values.map((_, index) => [...above, index]);
}

type ParameterForm = Exclude<ParameterText, Value | Value[]>;

function isForm(text: ParameterText): text is ParameterForm {
  return typeof text === 'object' && text !== null && !Array.isArray(text);
}

/**
 * What a parameter's text means. `double`: whether one of its values was written as a double (`1.0`), which JavaScript
 * forgets; a value with a fraction makes the whole axis double by itself.
 */
export function parameterRule(text: ParameterText, keys: KeyPath | null, double = false): ParameterRule {
  const form: ParameterForm = isForm(text) ? text : Array.isArray(text) ? { values: text } : { value: text };
  const when = form.when ?? null;
  if (form.expr !== undefined) return { kind: 'derived', keys, when, expr: form.expr };
  const values = form.values ?? [form.value!];
  const fraction = values.flat().some((value) => typeof value === 'number' && !Number.isInteger(value));
  return { kind: 'axis', keys, when, values, double: double || fraction };
}
