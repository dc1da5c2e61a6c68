import { isMapValue } from '../../base/scalar.js';
import type { Value } from '../expand/expression/cel-environment.js';
import { hydraText } from '../expand/hydra-text.js';
import type { KeyPath } from '../file/diagnostic.js';
import { parameterName } from '../file/parameter-schema.js';
import { elementsValue } from '../grid-line/grid-value.js';
import { asksForMultirun, withoutMultirun } from '../grid-line/multirun.js';
import { parseValue, ValueMistake, type ValueNode } from '../grid-line/value-syntax.js';
import {
  demandedCommand,
  type ForeignYaml,
  type ImportFormat,
  type ImportSource,
  pythonNumber,
  yamlOf,
} from './import-format.js';
import {
  type Conversion,
  type ImportNote,
  isMap,
  plainWord,
  type Written,
  type WrittenMap,
  WrittenNumber,
} from './sweep-text.js';

/** A configuration of Hydra with the parameters of a multirun (`hydra.sweeper.params`), also of the Optuna sweeper. */
export const hydraFormat: ImportFormat = {
  name: 'a configuration of Hydra',
  recognises: (text, value) => isMap(value) && (isMap(value['hydra']) || isSweeperPackage(text, value)),
  convert: convertHydra,
  takesCommand: true,
};

/** A file of the config group `hydra/sweeper`, whose keys are those of the sweeper. */
function isSweeperPackage(text: string, value: unknown): boolean {
  const isSweeper = isMap(value) && (isMap(value['params']) || isMap(value['search_space']));
  return (
    isSweeper &&
    (/^# *@package +hydra\.sweeper\b/m.test(text) || /[Ss]weeper/.test(JSON.stringify(value['_target_'] ?? '')))
  );
}

function convertHydra(source: ImportSource): Conversion {
  const yaml = yamlOf(source);
  const place: KeyPath = isMap(yaml.at(['hydra'])) ? ['hydra', 'sweeper'] : [];
  const search = searchOf(yaml, place);
  const parameters = new Map([...paramsOf(yaml, place, search !== null), ...searchSpace(yaml, place)]);
  if (parameters.size === 0) {
    const fix =
      'Give a file with `hydra.sweeper.params`, or type the sweep: `memrl-tui grid lr=0.1,0.01 --args hydra -- python train.py`.';
    throw yaml.refusal(place, 'there are no parameters of a sweep.', fix);
  }
  const typed = demandedCommand(source, 'python train.py');
  const command = withoutMultirun(typed);
  const text = '`--multirun` is left out of the command: the sweep takes its place.';
  const notes = asksForMultirun(typed) ? [{ line: null, text }] : [];
  const isMultirun = /multirun/i.test(yaml.textAt(['hydra', 'mode']));
  const words = argumentWords(parameters, yaml, place);
  return {
    sweep: {
      command: [...command.map(plainWord), ...(isMultirun ? ['hydra.mode=RUN'] : []), ...words],
      parameters: Object.fromEntries([...parameters].map(([name, value]) => [safeName(name), formOf(value)])),
      ...(search === null ? drawnKeys(parameters, yaml, place) : search.keys),
    },
    notes: [...notes, ...(search?.notes ?? []), ...leftOut(yaml, place)],
    options: search?.options ?? [],
  };
}

function paramsOf(yaml: ForeignYaml, place: KeyPath, isSearch: boolean): [string, HydraValue][] {
  return Object.keys(yaml.mapAt([...place, 'params'])).map((name) => {
    const keys = [...place, 'params', name];
    const value = yaml.written(keys);
    if (/^[~+]/.test(name)) {
      throw yaml.refusal(
        keys,
        '`+`, `++` and `~` have no form among parameters.',
        'Remove it here, and put it into the command behind `--`.',
      );
    }
    if (isMap(value)) throw yaml.refusal(keys, 'a map is no value of an override.', 'Write a text: `lr: 0.1,0.01`.');
    if (typeof value !== 'string') return [name, { kind: 'constant', value }];
    try {
      return [name, hydraValue(value, isSearch)];
    } catch (error) {
      if (error instanceof ValueMistake) throw yaml.refusal(keys, error.message, error.fix);
      throw error;
    }
  });
}

/** A grid with an interval, which only sweepers that search can draw from. */
function drawnKeys(
  parameters: ReadonlyMap<string, HydraValue>,
  yaml: ForeignYaml,
  place: KeyPath,
): Record<string, Written> {
  const drawn = [...parameters].find(([, { kind }]) => kind === 'drawn');
  if (drawn === undefined) return {};
  const keys = [...place, 'params', drawn[0]];
  throw yaml.refusal(
    keys,
    "Hydra's own sweeper cannot draw from an interval.",
    'List values, or name the sweeper (`override hydra/sweeper: optuna`, `n_trials: 20`).',
  );
}

function formOf(value: HydraValue): Written {
  if (value.kind === 'drawn') return value.distribution;
  if (value.kind === 'list') return value.values;
  return typeof value.value === 'object' && value.value !== null && !(value.value instanceof WrittenNumber)
    ? { value: value.value }
    : value.value;
}

/** A config group (`model/opt`, `db@src`) under a name that a parameter may have. */
function safeName(name: string): string {
  return parameterName.safeParse(name).success ? name : name.replace(/[^\w.-]+/g, '_').replace(/^(?=[^A-Za-z_])/, '_');
}

/** The words that pass the parameters. Config groups are passed by their own names, and have plain words as values. */
function argumentWords(parameters: ReadonlyMap<string, HydraValue>, yaml: ForeignYaml, place: KeyPath): string[] {
  const names = [...parameters.keys()];
  const odd = names.find((name) => safeName(name) !== name);
  if (odd === undefined) return ['${args_hydra}'];
  for (const [name, value] of parameters) {
    const values = value.kind === 'list' ? value.values : value.kind === 'constant' ? [value.value] : [];
    const isPlain = values.every(
      (each) => each instanceof WrittenNumber || typeof each === 'boolean' || isPlainText(each),
    );
    if (isPlain) continue;
    const fix = `Put \`${odd}\` into the command instead, and import again.`;
    throw yaml.refusal(
      [...place, 'params', name],
      `this value needs quotes of Hydra, and stands beside the config group \`${odd}\`.`,
      fix,
    );
  }
  return names.map((name) => `${plainWord(name)}=\${${safeName(name)}}`);
}

function isPlainText(value: Written): boolean {
  return typeof value === 'string' && hydraText(value) === value;
}

function leftOut(yaml: ForeignYaml, place: KeyPath): ImportNote[] {
  const launcher = yaml.at(['hydra', 'launcher']);
  const sweep = yaml.at(['hydra', 'sweep']);
  return [
    ...(launcher === undefined
      ? []
      : [
          {
            line: yaml.lineOf(['hydra', 'launcher']),
            text: '`hydra.launcher` is left out: runs are started here, or with `executor: slurm`.',
          },
        ]),
    ...(sweep === undefined
      ? []
      : [
          {
            line: yaml.lineOf(['hydra', 'sweep']),
            text: "`hydra.sweep` is left out: each run is a single run of Hydra; pass 'hydra.run.dir=${run_dir}' to have its output in the directory of the run.",
          },
        ]),
    ...(yaml.at([...place, 'max_batch_size'])
      ? [
          {
            line: yaml.lineOf([...place, 'max_batch_size']),
            text: '`max_batch_size` is left out: it is `--slots` here.',
          },
        ]
      : []),
  ];
}

/** What a sweep with Optuna comes to: the keys of the sweep file besides command and parameters. */
type Search = { readonly keys: WrittenMap; readonly notes: readonly ImportNote[]; readonly options: readonly string[] };

/** Optuna's sweeper has this many trials where the file does not say. */
const usualTrials = 20;

/** The search of Optuna's sweeper; null: the sweeper is Hydra's own, which runs the grid. */
function searchOf(yaml: ForeignYaml, place: KeyPath): Search | null {
  if (!isSearching(yaml, place)) return null;
  const sampler = (yaml.textAt([...place, 'sampler', '_target_']) || 'TPESampler').replace(/^.*\./, '');
  const metric = metricOf(yaml, place);
  const method = methodOf(sampler, metric !== null);
  const trials = yaml.at([...place, 'n_trials']);
  const isCounted = typeof trials === 'number' && Number.isInteger(trials) && trials > 0;
  const jobs = yaml.textAt([...place, 'n_jobs']);
  const cap = { run_cap: isCounted ? trials : usualTrials };
  return {
    keys: {
      ...(metric === null ? {} : { metric }),
      ...(method === 'grid' ? {} : { ...cap, groups: { [method]: { method } } }),
    },
    notes: notesOf(yaml, place, { sampler, method, metric, isCounted }),
    options: /^[1-9]\d*$/.test(jobs) ? ['--slots', jobs] : [],
  };
}

function isSearching(yaml: ForeignYaml, place: KeyPath): boolean {
  const target = yaml.textAt([...place, '_target_']);
  if (target !== '') return !target.includes('Basic');
  const sweeper = yaml.mapAt(place);
  if (sweeper['n_trials'] !== undefined || sweeper['search_space'] !== undefined) return true;
  const defaults = yaml.at(['defaults']);
  const isSweeper = (each: unknown) =>
    isMap(each) && Object.entries(each).some(([key, name]) => /hydra\/sweeper$/.test(key) && name !== 'basic');
  return Array.isArray(defaults) && defaults.some(isSweeper);
}

type Method = 'grid' | 'random' | 'bayes';

function methodOf(sampler: string, hasMetric: boolean): Method {
  if (sampler === 'GridSampler') return 'grid';
  return sampler === 'RandomSampler' || !hasMetric ? 'random' : 'bayes';
}

/** The metric of the search; null: the file only says that the program returns it. */
function metricOf(yaml: ForeignYaml, place: KeyPath): { name: string; goal: string } | null {
  const name = yaml.textAt(['optimized_metric']);
  const direction = yaml.at([...place, 'direction']);
  if (name === '' || Array.isArray(direction)) return null;
  return { name, goal: direction === 'maximize' ? 'maximize' : 'minimize' };
}

type Found = { sampler: string; method: Method; metric: { name: string } | null; isCounted: boolean };

function notesOf(yaml: ForeignYaml, place: KeyPath, { sampler, method, metric, isCounted }: Found): ImportNote[] {
  const note = (isSaid: boolean, key: string | null, text: string): ImportNote[] =>
    isSaid ? [{ line: key === null ? null : yaml.lineOf([...place, key]), text }] : [];
  const { direction, storage } = yaml.mapAt(place);
  const isUnguided = method === 'random' && sampler !== 'RandomSampler';
  return [
    ...note(
      method === 'bayes',
      null,
      `points are proposed by our own search from the metric \`${metric?.name ?? ''}\`, not by Optuna's ${sampler}.`,
    ),
    ...note(
      isUnguided,
      null,
      `points are drawn at random: ${sampler} goes by the value that the program returns, and the file names no metric for it. Write \`metric: { name: …, goal: … }\`, and \`method: bayes\` into the group.`,
    ),
    ...note(method === 'random', null, 'other points are drawn than by Optuna.'),
    ...note(
      method !== 'grid' && !isCounted,
      null,
      `there is no \`n_trials\`; \`run_cap\` is ${usualTrials}, as for Optuna's sweeper.`,
    ),
    ...note(Array.isArray(direction), 'direction', 'several directions are left out: a sweep has one metric.'),
    ...note(Boolean(storage), 'storage', '`storage` is left out: runs of an earlier study are not known here.'),
  ];
}

/** The parameters in the form of Hydra 1.1: `x: {type: float, low: 0, high: 1}`. */
function searchSpace(yaml: ForeignYaml, place: KeyPath): [string, HydraValue][] {
  return Object.keys(yaml.mapAt([...place, 'search_space'])).map((name) => {
    const keys = [...place, 'search_space', name];
    if (yaml.textAt([...keys, 'type']) === 'categorical') {
      return [name, { kind: 'list', values: yaml.written([...keys, 'choices']) as Written[] }];
    }
    return [name, { kind: 'drawn', distribution: intervalOf(yaml, keys) }];
  });
}

function intervalOf(yaml: ForeignYaml, keys: KeyPath): Readonly<Record<string, string | number>> {
  const { type, low: min, high: max, step, log } = yaml.mapAt(keys);
  const isKnown = type === 'float' || type === 'int';
  if (!isKnown || typeof min !== 'number' || typeof max !== 'number' || step !== undefined) {
    const fix = 'Write it as an override in `params`: `interval(0,1)`, `range(0,10)`, `choice(a,b)`.';
    throw yaml.refusal(keys, 'this form cannot be taken over.', fix);
  }
  if (log === true) {
    return type === 'int'
      ? { distribution: 'q_log_uniform_values', q: 1, min, max }
      : { distribution: 'log_uniform_values', min, max };
  }
  return { distribution: type === 'int' ? 'int_uniform' : 'uniform', min, max };
}

/** How a parameter of Hydra gets its values; numbers are written as Python writes them. */
type HydraValue =
  | { readonly kind: 'constant'; readonly value: Written }
  | { readonly kind: 'list'; readonly values: readonly Written[] }
  | { readonly kind: 'drawn'; readonly distribution: Readonly<Record<string, string | number>> };

/**
 * Parses the text of an override by Hydra's grammar alone: brackets are one value, `0..4` and `yes` are texts.
 *
 * @param isEndIncluded Whether `range` includes its end, as it does for the Optuna sweeper.
 * @throws {ValueMistake} For a form that cannot be taken over, with its place.
 */
function hydraValue(text: string, isEndIncluded = false): HydraValue {
  const nodes = parseValue(text).map((node) => settled(node, isEndIncluded));
  const [only] = nodes;
  const numbers = new NumberTexts(nodes);
  // A list alone is one value.
  if (nodes.length === 1 && (only?.kind === 'list' || only?.kind === 'map')) {
    return { kind: 'constant', value: numbers.written(wholeValue(only)) };
  }
  const meaning = elementsValue(nodes);
  if (meaning.kind === 'drawn') return meaning;
  if (meaning.kind === 'constant') return { kind: 'constant', value: numbers.written(meaning.value) };
  return { kind: 'list', values: meaning.values.map((value) => numbers.written(value)) };
}

function wholeValue(node: ValueNode): Value {
  const read = elementsValue([
    { kind: 'call', name: 'choice', args: [node], named: [], start: node.start, end: node.end },
  ]);
  return read.kind === 'list' ? read.values[0]! : '';
}

const disputedTexts = /^(?:yes|no|on|off|~|[-+]?0\d+|0[xob][\da-f_]+|[-+]?\d+\.\.[-+]?\d+(?:\.\.[-+]?\d+)?)$/i;

/** A node whose words mean what they mean to Hydra, where guild or our own lines read them otherwise. */
function settled(node: ValueNode, isEndIncluded: boolean): ValueNode {
  const inner = (each: ValueNode) => settled(each, isEndIncluded);
  switch (node.kind) {
    case 'word':
      return settledWord(node);
    case 'quoted':
      return node;
    case 'list':
      return { ...node, items: node.items.map(inner) };
    case 'map':
      return { ...node, entries: node.entries.map(([key, value]) => [key, inner(value)] as const) };
    case 'slice':
      throw new ValueMistake('brackets with colons are no values of Hydra.', 'Correct it in the file.', node);
    case 'call': {
      if (node.name === 'unset') throw new ValueMistake('`unset` is no function of Hydra.', 'Correct it.', node);
      const call = {
        ...node,
        args: node.args.map(inner),
        named: node.named.map(([name, value]) => [name, inner(value)] as const),
      };
      return node.name === 'range' && isEndIncluded ? withEnd(call) : call;
    }
  }
}

type Word = Extract<ValueNode, { kind: 'word' }>;

function settledWord(node: Word): ValueNode {
  if (node.escaped) return node;
  if (/^[-+]?(?:inf|nan)$/i.test(node.text)) {
    throw new ValueMistake(`\`${node.text}\` is no number for a sweep file.`, 'Put it into the command.', node);
  }
  if (disputedTexts.test(node.text)) return { kind: 'quoted', text: node.text, start: node.start, end: node.end };
  const isNumber = /^[-+]?\d[\d_]*(?:\.[\d_]*)?(?:[eE][-+]?\d+)?$/.test(node.text);
  return isNumber ? { ...node, text: node.text.replaceAll('_', '') } : node;
}

type Call = Extract<ValueNode, { kind: 'call' }>;

/** `range(a,b)` as the list of its values with the end. */
function withEnd(call: Call): ValueNode {
  const texts = [...call.args, ...call.named.map(([, value]) => value)].map((node) =>
    node.kind === 'word' ? node.text : '',
  );
  const isPlain = call.named.every(([name]) => name === 'step') && texts.length >= 2;
  const [start = NaN, stop = NaN, step = 1] = texts.map(Number);
  if (!isPlain || ![start, stop, step].every(Number.isInteger) || step <= 0) {
    throw new ValueMistake(
      'only a `range` of whole numbers can be taken over from a search.',
      'List the values.',
      call,
    );
  }
  const end = { kind: 'word', text: String(stop + 1), escaped: false, start: call.start, end: call.end } as const;
  return { ...call, args: [call.args[0]!, end, ...call.args.slice(2)], named: call.named };
}

/** How the numbers of a value are written. */
class NumberTexts {
  readonly #doubles = new Map<number, boolean>();
  readonly #isDouble: boolean;

  constructor(nodes: readonly ValueNode[]) {
    this.#isDouble = nodes.length === 1 && isOfFloats(nodes[0]!);
    for (const node of nodes) this.#look(node);
  }

  written(value: Value): Written {
    if (typeof value === 'number') return pythonNumber(value, this.#doubles.get(value) ?? this.#isDouble);
    if (Array.isArray(value)) return value.map((item) => this.written(item));
    if (!isMapValue(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.written(inner)]));
  }

  #look(node: ValueNode): void {
    if (node.kind === 'list') node.items.forEach((item) => this.#look(item));
    else if (node.kind === 'map') node.entries.forEach(([, inner]) => this.#look(inner));
    else if (node.kind === 'call' && /^(?:choice|sort|tag)$/.test(node.name))
      node.args.forEach((arg) => this.#look(arg));
    else if (node.kind === 'word') this.#note(node);
  }

  #note(node: Word): void {
    const value = Number(node.text);
    if (node.text.trim() === '' || Number.isNaN(value)) return;
    const isDouble = /[.eE]/.test(node.text);
    if ((this.#doubles.get(value) ?? isDouble) !== isDouble) {
      throw new ValueMistake(`${value} is there as a whole number and as one with a point.`, 'Write both alike.', node);
    }
    this.#doubles.set(value, isDouble);
  }
}

/** Whether the values of a node are Python's floats. */
function isOfFloats(node: ValueNode): boolean {
  if (node.kind !== 'call') return false;
  if (node.name === 'float') return true;
  const numbers = [...node.args, ...node.named.map(([, value]) => value)];
  return node.name === 'range' && numbers.some((each) => each.kind === 'word' && /[.eE]/.test(each.text));
}
