import { isMapValue } from '../../base/scalar.js';
import { shellQuote } from '../../text/shell-words.js';
import type { Value } from './expression/cel-environment.js';
import { hydraText } from './hydra-text.js';
import { nestedParameters, type Nesting, valueText, type Writing, writtenText } from './value-text.js';

/** Values of the macros at one point. */
export type MacroValues = {
  /** In file order; `${args}` lists them. */
  readonly parameters: Readonly<Record<string, Value>>;
  /** Parameters that are passed inside others. */
  readonly nesting: Nesting;
  /** How their numbers are written in the file. */
  readonly writing: Writing;
  readonly runDirectory: string;
  readonly runName: string;
  readonly sweepDirectory: string;
  /** Name of the run that this one comes after; null: there is none. */
  readonly after: string | null;
  readonly program: string | null;
  /** Environment of the launching user, for `${envvar:NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** The file in a run's directory that `${args_json_file}` names. */
export const argsFile = 'args.json';

/** One argument: its name, its value as a text, and its value. */
type Argument = readonly [name: string, text: string, value: Value];

/** Macros that expand to several words. */
const lists: Record<string, (all: readonly Argument[]) => string[]> = {
  args: (all) => all.map(([name, text]) => `--${name}=${text}`),
  args_flat: (all) => all.map(([name, text]) => `--${name}=${text}`),
  args_no_hyphens: (all) => all.map(([name, text]) => `${name}=${text}`),
  args_no_equals: (all) => all.flatMap(([name, text]) => [`--${name}`, text]),
  args_no_boolean_flags: (all) =>
    all
      .filter(([, , value]) => value !== false)
      .map(([name, text, value]) => (value === true ? `--${name}` : `--${name}=${text}`)),
  args_words: (all) => all.flatMap(([name, text, value]) => wordsOf(name, text, value)),
  args_append_hydra: (all) => all.map(([name, text]) => `+${name}=${text}`),
  args_override_hydra: (all) => all.map(([name, text]) => `++${name}=${text}`),
  args_hydra: (all) => all.map(([name, text]) => `${name}=${text}`),
};

/** Macros whose values are quoted by Hydra's grammar in our own files; W&B writes them as they stand. */
const forHydra: ReadonlySet<string> = new Set(['args_append_hydra', 'args_override_hydra', 'args_hydra']);
/** Macros that W&B does not have. */
const ownMacros: ReadonlySet<string> = new Set(['args_words', 'args_hydra']);
/** Macros that pass a list as one word. */
export const oneWordMacros: readonly string[] = ['args', 'args_flat', 'args_no_equals', 'args_no_boolean_flags'];

/** A list as argparse's `nargs` takes it: its elements are words after the name. */
function wordsOf(name: string, text: string, value: Value): string[] {
  return Array.isArray(value) ? [`--${name}`, ...value.map((item) => valueText(item))] : [`--${name}=${text}`];
}

/** Macros that expand to one text. `${attempt}` stays, as only the supervisor knows it at launch. */
const texts: Record<string, (values: MacroValues) => string> = {
  args_json: (values) => parametersJson(values),
  args_json_file: (values) => `${values.runDirectory}/${argsFile}`,
  run_dir: (values) => values.runDirectory,
  run_name: (values) => values.runName,
  sweep_dir: (values) => values.sweepDirectory,
  after_dir: (values) => `${values.sweepDirectory}/${values.after}`,
  after_name: (values) => values.after ?? '',
  program: (values) => values.program ?? '',
  interpreter: () => 'python',
  env: () => '/usr/bin/env',
  attempt: () => '${attempt}',
};

export type Dialect = 'own' | 'wandb';

export const macroNames: readonly string[] = [...Object.keys(lists), ...Object.keys(texts)];

/** The macros that W&B has as well. */
export const wandbMacroNames: readonly string[] = macroNames.filter((name) => !ownMacros.has(name));

/** Whether a macro expands to several words if it is a word of its own. */
export function isListMacro(macro: string): boolean {
  return Object.hasOwn(lists, macro);
}

export function macroWords(macro: string, values: MacroValues, dialect: Dialect): string[] {
  const named = macro === 'args_flat' ? values.parameters : nestedParameters(values.parameters, values.nesting);
  const textOf = dialect === 'own' && forHydra.has(macro) ? hydraArgument : argumentText;
  return lists[macro]!(
    Object.entries(named).map(([name, value]) => [name, textOf(name, value, values), filled(value, values)]),
  );
}

/**
 * The text of a macro inside a longer word, which can only be text for a shell: a list is quoted and joined for a shell. Null:
 * there is no such macro.
 */
export function macroText(macro: string, values: MacroValues, dialect: Dialect): string | null {
  if (Object.hasOwn(texts, macro)) return texts[macro]!(values);
  return isListMacro(macro) ? shellQuote(macroWords(macro, values, dialect)) : null;
}

/** All parameters as one JSON object, with the directories filled in. */
export function parametersJson(values: MacroValues): string {
  return JSON.stringify(filledParameters(values));
}

/** All parameters as a program sees them: nested, with the directory macros filled in. */
export function filledParameters(values: MacroValues): Readonly<Record<string, Value>> {
  const named = nestedParameters(values.parameters, values.nesting);
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, filled(value, values)]));
}

/** A parameter's value as an argument: as Python writes it, numbers as in the file, with the directory macros filled in. */
export function argumentText(name: string, value: Value, values: MacroValues): string {
  const text = writtenText(value, values.writing.get(name));
  return text.includes('${') ? fillDirectories(text, values) : text;
}

function hydraArgument(name: string, value: Value, values: MacroValues): string {
  return hydraText(filled(value, values), values.writing.get(name));
}

const directories = /\$\{((?:run|after)_(?:dir|name)|sweep_dir)\}/g;

/** Only the macros of directories are replaced inside a value; any other `${…}` may be meant for the program. */
function fillDirectories(text: string, values: MacroValues): string {
  const known = values.after === null ? /\$\{(run_dir|run_name|sweep_dir)\}/g : directories;
  return text.replace(known, (_, macro: string) => texts[macro]!(values));
}

/** A value with the directory macros filled in, at any depth. */
function filled(value: Value, values: MacroValues): Value {
  if (typeof value === 'string') return fillDirectories(value, values);
  if (Array.isArray(value)) return value.map((item) => filled(item, values));
  if (!isMapValue(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, filled(inner, values)]));
}
