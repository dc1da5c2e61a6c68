import { shellWords } from '../../text/shell-words.js';
import type { KeyPath } from '../file/diagnostic.js';
import { parameterName } from '../file/parameter-schema.js';
import { macroNames } from '../expand/command-words.js';
import { bracketMeaning } from '../grid-line/bracket-functions.js';
import { parseValue, ValueMistake } from '../grid-line/value-syntax.js';
import { type ForeignYaml, type ImportFormat, type ImportSource, pythonNumber, yamlOf } from './import-format.js';
import {
  type Conversion,
  type ImportNote,
  isMap,
  isSweepFile,
  plainWord,
  type Written,
  type WrittenMap,
} from './sweep-text.js';

/** guild.yml: operations with `main` or `exec`, and flags. */
export const guildFormat: ImportFormat = {
  name: 'a file of guild',
  recognises: (_text, value, path) =>
    operationPlaces(value).length > 0 || (/(?:^|\/)guild\.ya?ml$/.test(path) && value !== null),
  convert: convertGuild,
  takesCommand: false,
};

/** The operations of a file, which stand alone, or in models. */
function operationPlaces(value: unknown): KeyPath[] {
  if (isSweepFile(value)) return [];
  if (Array.isArray(value)) {
    return value.flatMap((each, index) => operationsIn(isMap(each) ? each['operations'] : null, [index, 'operations']));
  }
  if (!isMap(value)) return [];
  return isMap(value['operations']) ? operationsIn(value['operations'], ['operations']) : operationsIn(value, []);
}

function operationsIn(value: unknown, place: KeyPath): KeyPath[] {
  if (!isMap(value)) return [];
  const isOperation = (each: unknown) =>
    isMap(each) &&
    ['main', 'exec', 'steps', 'notebook'].some((key) => typeof each[key] === 'string' || Array.isArray(each[key]));
  return Object.entries(value).flatMap(([name, each]) => (isOperation(each) ? [[...place, name]] : []));
}

function convertGuild(source: ImportSource): Conversion {
  const yaml = yamlOf(source);
  const places = operationPlaces(yaml.value);
  if (places.length === 0) {
    throw yaml.refusal(
      [],
      'there are no operations with `main` or `exec`.',
      'Give a guild.yml with `train: { main: train, flags: … }`.',
    );
  }
  const notes: ImportNote[] = [];
  const groups = Object.fromEntries(
    places.map((place) => {
      const name = String(place.at(-1)).replace(/[^\w.-]+/g, '-');
      const read = operationOf(yaml, place);
      notes.push(...read.notes);
      return [name, read.keys];
    }),
  );
  const isMany = places.length > 1;
  if (isMany) notes.push({ line: null, text: 'each operation is a group; launch one with `--sweep NAME`.' });
  notes.push({
    line: null,
    text: 'guild starts a run in a copy of the code in its own folder; here it starts where you launch. Write `code: snapshot` for a copy.',
  });
  const [only] = Object.values(groups);
  const isPlain = !isMany && only!['method'] === undefined;
  return { sweep: isPlain ? only! : { groups }, notes, options: [] };
}

type Operation = { readonly keys: WrittenMap; readonly notes: ImportNote[] };

/** Keys that change what is started, and are not understood. */
const refused = ['steps', 'notebook', 'main-requires', 'extends', 'flags-dest'];
/** Keys without an effect on the command. */
const dropped: Readonly<Record<string, string>> = {
  requires: 'copy or link what is required before the launch',
  optimizer: 'points are not proposed; write `method: bayes` and a `metric`',
  optimizers: 'points are not proposed; write `method: bayes` and a `metric`',
  'output-scalars': 'write `metrics: { patterns: … }` where our own reading of the output does not suffice',
  env: 'write the variables into `env`',
  'env-secrets': 'set them before the launch',
  stoppable: 'nothing here depends on it',
  sourcecode: 'write `code: snapshot` for a copy of the code',
};

function operationOf(yaml: ForeignYaml, place: KeyPath): Operation {
  const operation = yaml.mapAt(place);
  const odd = refused.find((key) => operation[key] !== undefined && operation[key] !== 'args');
  if (odd !== undefined) {
    const fix = 'Write the command of the operation as a sweep file by hand: `memrl-tui init -- COMMAND`.';
    throw yaml.refusal([...place, odd], `\`${odd}\` cannot be taken over.`, fix);
  }
  const flags = flagsOf(yaml, place);
  const isDrawn = flags.some(({ value }) => isMap(value));
  const trials = operation['max-trials'];
  if (!isDrawn && trials !== undefined) {
    const fix = 'Remove it here, and write `method: random` and `run_cap` into a group of the sweep file.';
    throw yaml.refusal(
      [...place, 'max-trials'],
      'guild draws so many points of the grid, which cannot be taken over.',
      fix,
    );
  }
  // Guild's own limit.
  const cap = typeof trials === 'number' ? trials : 20;
  return {
    keys: {
      command: commandOf(yaml, place, flags),
      ...(flags.length === 0 ? {} : { parameters: parametersOf(flags) }),
      ...(isDrawn ? { method: 'random', run_cap: cap } : {}),
    },
    notes: notesOf(yaml, place, isDrawn ? cap : null),
  };
}

function parametersOf(flags: readonly Flag[]): WrittenMap {
  const passed = flags.filter(({ value }) => value !== null);
  return Object.fromEntries(passed.map(({ name, value }) => [name, value]));
}

/** @param cap The number of points that are drawn; null: none are. */
function notesOf(yaml: ForeignYaml, place: KeyPath, cap: number | null): ImportNote[] {
  const operation = yaml.mapAt(place);
  const notes = Object.keys(operation).flatMap((key): ImportNote[] =>
    dropped[key] === undefined
      ? []
      : [{ line: yaml.lineOf([...place, key]), text: `\`${key}\` is left out: ${dropped[key]}.` }],
  );
  const drawn = `flags are drawn at random, and other values than by guild; \`run_cap\` is ${cap}, and lists are drawn from, too.`;
  const own = `flags of ${place.at(-1)} that guild imports from the script are not passed: the script has its own defaults.`;
  return [
    ...notes,
    ...(cap === null ? [] : [{ line: null, text: drawn }]),
    ...(hasOwnFlags(operation) ? [{ line: null, text: own }] : []),
  ];
}

/** Whether guild finds further flags by reading the script. */
function hasOwnFlags(operation: Readonly<Record<string, unknown>>): boolean {
  return operation['exec'] === undefined || Object.keys(operation).some((key) => /^flags-import/.test(key));
}

/** A flag: its value as a rule (null: a switch), and the words that pass it. */
type Flag = { readonly name: string; readonly value: Written; readonly words: readonly string[] };

/** The flags in the order in which guild passes and varies them: by name. */
function flagsOf(yaml: ForeignYaml, place: KeyPath): Flag[] {
  const names = Object.keys(yaml.mapAt([...place, 'flags'])).filter((name) => !name.startsWith('$'));
  return names.sort().flatMap((name) => flagOf(yaml, [...place, 'flags', name], name));
}

function flagOf(yaml: ForeignYaml, keys: KeyPath, name: string): Flag[] {
  const said = yaml.at(keys);
  const form = isMap(said) ? said : {};
  const at = isMap(said) ? [...keys, 'default'] : keys;
  refuseOddFlag(yaml, keys, { name, form });
  const value = yaml.at(at);
  // A flag without a value is not passed.
  if (value === null || value === undefined) return [];
  const argument = yaml.textAt([...keys, 'arg-name']) || name;
  if (form['arg-switch'] === undefined)
    return [{ name, value: valueOf(yaml, at), words: [`--${argument}`, `\${${name}}`] }];
  if (!Array.isArray(value))
    return form['arg-switch'] === value ? [{ name, value: null, words: [`--${argument}`] }] : [];
  const fix = 'Choose one, and write the other as a second group.';
  throw yaml.refusal(at, 'a switch with several values cannot be taken over.', fix);
}

function refuseOddFlag(
  yaml: ForeignYaml,
  keys: KeyPath,
  { name, form }: { name: string; form: Readonly<Record<string, unknown>> },
): void {
  if (!parameterName.safeParse(name).success || macroNames.includes(name)) {
    throw yaml.refusal(keys, `\`${name}\` cannot be the name of a parameter.`, 'Rename it.');
  }
  const odd = ['arg-split', 'arg-encoding', 'env-name', 'arg-skip'].find((key) => form[key] !== undefined);
  if (odd === undefined) return;
  const fix = 'Remove it here, and write the argument into `command` by hand.';
  throw yaml.refusal([...keys, odd], `\`${odd}\` cannot be taken over.`, fix);
}

function valueOf(yaml: ForeignYaml, keys: KeyPath): Written {
  const value = yaml.at(keys);
  const each = Array.isArray(value) ? value : [value];
  if (each.some((item) => typeof item === 'boolean')) {
    const fix = 'Write the words that the program takes, or `arg-switch: true` beside `default`.';
    throw yaml.refusal(keys, 'whether true is passed as `--name 1` or as a switch depends on the script.', fix);
  }
  if (each.some((item) => typeof item === 'object'))
    throw yaml.refusal(
      keys,
      'a list or null among the values cannot be taken over.',
      'Write it into `command` by hand.',
    );
  if (typeof value === 'string') return functionValue(yaml, keys, value) ?? value;
  if (Array.isArray(value) && value.some((item) => typeof item === 'string' && /^[\w.-]*\[.*\]$/.test(item))) {
    throw yaml.refusal(keys, 'a function among the values cannot be taken over.', 'List all values.');
  }
  return yaml.written(keys);
}

/** The values of `range[…]`, `loguniform[…]` and the like; null: the text is a plain one. */
function functionValue(yaml: ForeignYaml, keys: KeyPath, text: string): Written | null {
  if (!/^[\w.-]*\[.*\]$/s.test(text)) return null;
  try {
    const [node] = parseValue(text);
    if (node?.kind !== 'slice')
      throw new ValueMistake(`\`${text}\` is no function that is known.`, 'List the values.', {
        start: 0,
        end: text.length,
      });
    const meaning = bracketMeaning(node);
    if (meaning.kind === 'drawn') return meaning.distribution;
    const isDouble = !/^range\[/.test(text) || /[.eE]/.test(text.replace(/^range/, ''));
    return (meaning.kind === 'list' ? meaning.values : []).map((each) => pythonNumber(each as number, isDouble));
  } catch (error) {
    if (error instanceof ValueMistake) throw yaml.refusal(keys, error.message, error.fix);
    throw error;
  }
}

function commandOf(yaml: ForeignYaml, place: KeyPath, flags: readonly Flag[]): string[] {
  const key = yaml.at([...place, 'exec']) === undefined ? 'main' : 'exec';
  const said = yaml.at([...place, key]);
  const args = flags.flatMap(({ words }) => words);
  const words = Array.isArray(said) ? said.map(String) : wordsOf(yaml, [...place, key], yaml.textAt([...place, key]));
  if (key === 'exec') return words.flatMap((word) => (word === FLAG_ARGS ? args : [plainWord(word)]));
  const [module = '', ...rest] = words;
  return ['python', '-m', module.replace(/\.py$/, '').replaceAll('/', '.'), ...rest.map(plainWord), ...args];
}

/** Placeholder of `${flag_args}`, whose braces a shell would read. A private-use character, which nobody types. */
const FLAG_ARGS = '\ue000';

function wordsOf(yaml: ForeignYaml, keys: KeyPath, text: string): string[] {
  const read = shellWords(text.replaceAll('${flag_args}', FLAG_ARGS).replaceAll('${python_exe}', 'python'));
  if (read.kind === 'words' && read.words.length > 0) return read.words.map((word) => word.text);
  const why = read.kind === 'refused' ? read.why : 'an empty command';
  throw yaml.refusal(keys, `${why} cannot be taken over.`, 'Write the command into the sweep file by hand.');
}
