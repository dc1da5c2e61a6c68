import { isMapValue, type ParameterValue } from '../../base/scalar.js';
import { didYouMean } from '../../text/nearest.js';
import type { ParameterRule, ParameterRules } from './sweep-file.js';
import type { KeyPath } from './diagnostic.js';
import type { ParametersText, ParameterText } from './parameter-schema.js';
import { launchKeys } from './schema-diagnostics.js';
import { type SweepText, wandbKeys, WandbText } from './sweep-schema.js';
import type { YamlSource } from './yaml-source.js';

/**
 * Whether a file is one of W&B's: it has a `method` and no `groups`. Then W&B's rules apply: parameters in alphabetical order at
 * every level of nesting, each point once, nested parameters passed as one argument, unknown macros left out. Our own keys may
 * still be added to it.
 */
export function isWandbFile(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && 'method' in value && !('groups' in value);
}

/** Parameters sorted as Python's `sorted(…)` does at every level of nesting; so are the keys of map values. */
export function wandbOrder(rules: ParameterRules): ParameterRules {
  return new Map([...rules].sort(byPath).map(([name, rule]) => [name, withSortedMaps(rule)]));
}

function byPath([, left]: readonly [string, ParameterRule], [, right]: readonly [string, ParameterRule]): number {
  for (let level = 0; ; level += 1) {
    const [a, b] = [left.path[level], right.path[level]];
    if (a !== b) return a === undefined || (b !== undefined && a < b) ? -1 : 1;
    if (a === undefined) return 0;
  }
}

function withSortedMaps(rule: ParameterRule): ParameterRule {
  return rule.kind === 'axis' ? { ...rule, values: rule.values.map(sortedMaps) } : rule;
}

function sortedMaps(value: ParameterValue): ParameterValue {
  if (Array.isArray(value)) return value.map(sortedMaps);
  if (!isMapValue(value)) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortedMaps(inner)]));
}

type Read =
  | { success: true; data: SweepText; notes: string[] }
  | Extract<ReturnType<typeof WandbText.safeParse>, { success: false }>;

type Reading = { safeName: (text: string) => string; writtenAsDouble: YamlSource['writtenAsDouble'] };

/**
 * Translates a W&B file into our keys. Its name may be any text, so it is made safe for a folder.
 *
 * `project` and `entity` become variables of the runs, so that their `wandb.init()` uses them; a variable of that name in `env`
 * takes precedence. Unknown keys are skipped with a note, as in `wandb sweep`.
 */
export function readWandbText(value: Readonly<Record<string, unknown>>, { safeName, writtenAsDouble }: Reading): Read {
  const strange = Object.keys(value).filter((key) => !wandbKeys.includes(key) && !launchKeys.has(key));
  const known = Object.entries(value).filter(([key, said]) => !strange.includes(key) && !isBareCommand(key, said));
  const said = WandbText.safeParse(Object.fromEntries(known));
  if (!said.success) return said;
  const { name, project, entity, ...rest } = said.data;
  const place = {
    ...(project === undefined ? {} : { WANDB_PROJECT: project }),
    ...(entity === undefined ? {} : { WANDB_ENTITY: entity }),
  };
  const named = name === undefined ? {} : { name: safeName(name) };
  const data = { ...rest, ...named, env: { ...place, ...rest.env } };
  const faults = isForWandb(value, wandbKeys) ? wandbFaults(value, writtenAsDouble) : [];
  const notes = [...strange.slice(0, mostNotes).map(strangeNote), ...faultNotes(faults), ...notesOf(said.data)];
  return { success: true, data, notes };
}

function notesOf({ controller, early_terminate: rule, metric, method, parameters }: WandbText): string[] {
  return [
    ...(rule && !metric ? ['`early_terminate` ends no runs without a `metric`, as in W&B.'] : []),
    ...(controller === undefined ? [] : ["`controller` is for W&B's server; nothing here depends on it."]),
    ...(method === 'bayes' ? [] : searchNotes(metric ?? {})),
    ...distributionNotes(parameters ?? {}),
  ];
}

/** W&B uses its default command where the file has an empty one. */
function isBareCommand(key: string, said: unknown): boolean {
  return key === 'command' && Array.isArray(said) && said.length === 0;
}

const mostNotes = 20;

function faultNotes(faults: readonly string[]): string[] {
  return faults.length === 0 ? [] : [`W&B calls this file malformed: ${faults.slice(0, mostNotes).join('; ')}.`];
}

function strangeNote(key: string): string {
  return `\`${key}\` is not a key of a W&B sweep file and is passed over, as in W&B. ${didYouMean(key, wandbKeys)}`.trim();
}

/** Notes that some keys only affect a Bayesian search. */
function searchNotes(metric: { impute?: unknown; impute_while_running?: unknown }): string[] {
  const keys = ['impute', 'impute_while_running'] as const;
  return keys
    .filter((key) => metric[key] !== undefined)
    .map((key) => `\`metric.${key}\` matters to \`method: bayes\` only.`);
}

/** Distributions whose bounds are exponents, which are often mistaken for values; W&B warns of them. */
const byExponent = new Set(['log_uniform', 'inv_log_uniform', 'q_log_uniform']);

function distributionNotes(parameters: ParametersText, outer = ''): string[] {
  return Object.entries(parameters).flatMap(([name, text]: [string, ParameterText]) => {
    if (typeof text !== 'object' || text === null || Array.isArray(text)) return [];
    if (text.parameters) return distributionNotes(text.parameters, `${outer}${name}.`);
    const { distribution = '', sigma } = text;
    if (sigma === 0)
      return [`\`${outer}${name}\` has \`sigma: 0\`, so all runs have one value; W&B draws NaN from it.`];
    if (!byExponent.has(distribution)) return [];
    return [
      `\`${outer}${name}\` is drawn from ${distribution}, whose \`min\` and \`max\` are exponents of e; ${distribution}_values has the values themselves.`,
    ];
  });
}

type Form = Readonly<Record<string, unknown>>;
type WrittenAsDouble = YamlSource['writtenAsDouble'];

/** Keys of W&B's schema that have a meaning here, and the others. */
const ownKeys = ['method', 'program', 'command', 'parameters', 'metric', 'early_terminate', 'run_cap', 'name'];
const otherKeys = ['description', 'project', 'entity', 'apiVersion', 'kind', 'controller'];
const methods: readonly unknown[] = ['grid', 'random', 'bayes'];

/** Whether a file may be meant for W&B too, as it has none of our own keys. @param known Keys that are accepted here. */
function isForWandb(file: Form, known: readonly string[]): boolean {
  const isOurs = (key: string) => known.includes(key) && !ownKeys.includes(key) && !otherKeys.includes(key);
  return methods.includes(file['method']) && !Object.keys(file).some(isOurs);
}

/**
 * What W&B's own schema rejects in a file that is accepted here: `wandb sweep` warns of it, and its library refuses the file. Our
 * own forms of parameters do not count.
 */
function wandbFaults(file: Form, isDouble: WrittenAsDouble): string[] {
  const { parameters, metric, early_terminate: rule, apiVersion: version, kind } = file;
  const impute = isForm(metric) ? metric['impute_while_running'] : undefined;
  const faults: readonly [boolean, string][] = [
    [!isFilled(parameters), 'there are no `parameters`'],
    [metric === null, '`metric` is null'],
    [impute === false, '`metric.impute_while_running` is false, and not the text "false"'],
    [rule === null, '`early_terminate` is null'],
    [version !== undefined && typeof version !== 'string', '`apiVersion` is not a text'],
    [kind !== undefined && kind !== 'sweep', '`kind` is not `sweep`'],
  ];
  const found = faults.filter(([isThere]) => isThere).map(([, fault]) => fault);
  return [...found, ...parameterFaults(parameters, [], isDouble)];
}

/** @param path Names of the parameters around these. */
function parameterFaults(parameters: unknown, path: readonly string[], isDouble: WrittenAsDouble): string[] {
  if (!isForm(parameters)) return [];
  return Object.entries(parameters).flatMap(([name, text]) => {
    const names = [...path, name];
    const shown = `\`${names.join('.')}\``;
    if (!isForm(text)) return [`${shown} is a bare value, and not \`${Array.isArray(text) ? 'values' : 'value'}: …\``];
    if ('parameters' in text && isFilled(text['parameters'])) {
      return parameterFaults(text['parameters'], names, isDouble);
    }
    const keys = names.flatMap((each) => ['parameters', each]);
    const fault = 'parameters' in text ? 'has no `parameters`' : formFault(text, keys, isDouble);
    return fault === null ? [] : [`${shown} ${fault}`];
  });
}

function formFault(text: Form, keys: KeyPath, isDouble: WrittenAsDouble): string | null {
  const { distribution } = text;
  if (typeof distribution !== 'string') return null;
  const own = listedBy(text);
  if (own !== null && own !== distribution) {
    return `has \`distribution: ${distribution}\`, and what it says is \`${own}\` there`;
  }
  const isOff = distribution === 'int_uniform' && ['min', 'max'].some((key) => isDouble([...keys, key]));
  return isOff ? 'is int_uniform, and its `min` and `max` are not written as whole numbers' : null;
}

/** W&B's distribution of a parameter that is a value or a list of values. */
function listedBy(text: Form): string | null {
  if ('value' in text) return 'constant';
  if (!('values' in text)) return null;
  return 'probabilities' in text ? 'categorical_w_probabilities' : 'categorical';
}

function isForm(value: unknown): value is Form {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isFilled(value: unknown): boolean {
  return isForm(value) && Object.keys(value).length > 0;
}
