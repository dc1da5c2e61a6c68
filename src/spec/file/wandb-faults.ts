import type { KeyPath } from './diagnostic.js';
import type { YamlSource } from './yaml-source.js';

type Form = Readonly<Record<string, unknown>>;
type WrittenAsDouble = YamlSource['writtenAsDouble'];

/** Keys of W&B's schema that have a meaning here, and the others. */
const ownKeys = ['method', 'program', 'command', 'parameters', 'metric', 'early_terminate', 'run_cap', 'name'];
const otherKeys = ['description', 'project', 'entity', 'apiVersion', 'kind', 'controller'];
const methods: readonly unknown[] = ['grid', 'random', 'bayes'];

/** Whether a file may be meant for W&B too, as it has none of our own keys. @param known Keys that are accepted here. */
export function isForWandb(file: Form, known: readonly string[]): boolean {
  const isOurs = (key: string) => known.includes(key) && !ownKeys.includes(key) && !otherKeys.includes(key);
  return methods.includes(file['method']) && !Object.keys(file).some(isOurs);
}

/**
 * What W&B's own schema rejects in a file that is accepted here: `wandb sweep` warns of it, and its library refuses the file. Our
 * own forms of parameters do not count.
 */
export function wandbFaults(file: Form, isDouble: WrittenAsDouble): string[] {
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
