import { isMapValue } from '../../base/scalar.js';
import { didYouMean } from '../../text/nearest.js';
import { shellQuote } from '../../text/shell-words.js';
import { ExpressionError } from './expression/expression.js';
import type { Value } from './expression/cel-environment.js';
import { hydraText } from './hydra-text.js';
import { nestedParameters, type Nesting, valueText, type Writing, writtenText } from './value-text.js';

/** The words of a command with their macros located once, so that ten thousand runs need not search again. */
export type CommandWords = {
  /** The arguments of a program: `${args}` alone in a word becomes as many words as there are parameters. */
  readonly render: (values: MacroValues) => string[];
  /** One text for each word, whatever it holds, for lists that are not arguments. */
  readonly renderTexts: (values: MacroValues) => string[];
  /** Names of the macros and parameters that the words use. */
  readonly macros: ReadonlySet<string>;
  /** Words that were left out because they are unknown macros; in W&B's dialect only. */
  readonly dropped: readonly string[];
};

/** What the words may refer to. */
export type WordsContext = {
  /** Names that `${name}` may use besides the macros. */
  readonly parameters: readonly string[];
  /** The value of `${program}`. */
  readonly program: string | null;
  /** Whether each run comes after another, so that `${after_dir}` has a value. */
  readonly after: boolean;
  readonly dialect: Dialect;
};

type Macro = { macro: string; start: number; end: number };
type Part = string | Macro;

/**
 * Locates the macros in words. `$${` stands for `${`. In W&B's dialect an unknown macro is left out if it is a word of its own, and
 * stays unchanged inside a longer one; in ours it is refused.
 *
 * @throws {ExpressionError} For an unknown macro; the position is in the word, the word's index is `wordIndex`.
 */
export function compileWords(words: readonly string[], context: WordsContext): CommandWords {
  const { dialect } = context;
  const known = [...context.parameters, ...(dialect === 'own' ? macroNames : wandbMacroNames)];
  const parts = words.map((word, index) => partsOf(word, (part) => isKnown(part, { context, known, index })));
  const dropped = words.filter((word, index) => parts[index]!.length === 0 && word !== '');
  const kept = parts.filter((_, index) => parts[index]!.length > 0 || words[index] === '');
  return {
    render: (values) => kept.flatMap((each) => renderWord(each, values, dialect)),
    renderTexts: (values) => kept.map((each) => renderText(each, values, dialect)),
    macros: new Set(parts.flat().flatMap((part) => (typeof part === 'string' ? [] : [part.macro]))),
    dropped,
  };
}

/** An ExpressionError with the index of the word that it is about. */
export class WordError extends ExpressionError {
  readonly index: number;

  constructor(error: { message: string; start: number; end: number }, index: number) {
    super(error.message, error);
    this.index = index;
  }
}

/** @param isKnown Whether a macro exists; otherwise it stays text, or is dropped if it is the whole word. */
function partsOf(word: string, isKnown: (part: Macro) => boolean): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of word.matchAll(/\$\$\{|\$\{([^}]*)\}/g)) {
    parts.push(word.slice(end, match.index));
    end = match.index + match[0].length;
    const part = { macro: match[1] ?? '', start: match.index, end };
    if (match[1] === undefined) parts.push('${');
    else if (isKnown(part)) parts.push(part);
    else if (match[0] !== word) parts.push(match[0]);
  }
  return [...parts, word.slice(end)].filter((part) => part !== '');
}

type Place = { context: WordsContext; known: readonly string[]; index: number };

function isKnown(part: Macro, { context, known, index }: Place): boolean {
  if (part.macro === 'program' && context.program === null) {
    throw new WordError({ ...part, message: '`${program}` is used, but there is no `program` in the file' }, index);
  }
  if (/^after_(dir|name)$/.test(part.macro) && !context.after) {
    if (context.dialect === 'wandb') return false;
    const message = `\`\${${part.macro}}\` is that of the run that this one comes after, and the group has no \`after_each\``;
    throw new WordError({ ...part, message }, index);
  }
  if (known.includes(part.macro) || /^envvar:[A-Za-z_][A-Za-z0-9_]*$/.test(part.macro)) return true;
  if (context.dialect === 'wandb') return false;
  const message = `\`\${${part.macro}}\` is neither a macro nor a parameter. ${didYouMean(part.macro, known)} Write \`$\${\` for a plain \`\${\`.`;
  throw new WordError({ ...part, message }, index);
}

function renderWord(parts: readonly Part[], values: MacroValues, dialect: Dialect): string[] {
  const [only] = parts;
  const isList = parts.length === 1 && typeof only === 'object' && isListMacro(only.macro);
  return isList ? macroWords(only.macro, values, dialect) : [renderText(parts, values, dialect)];
}

function renderText(parts: readonly Part[], values: MacroValues, dialect: Dialect): string {
  return parts.map((part) => (typeof part === 'string' ? part : textOf(part, values, dialect))).join('');
}

function textOf({ macro, start, end }: Macro, values: MacroValues, dialect: Dialect): string {
  // Macros take precedence, so that a parameter called `env` does not change what `${env}` means in a W&B command.
  const text = macroText(macro, values, dialect);
  if (text !== null) return text;
  if (Object.hasOwn(values.parameters, macro)) return argumentText(macro, values.parameters[macro]!, values);
  const variable = macro.replace(/^envvar:/, '');
  if (variable === macro) throw new ExpressionError(`\`${macro}\` is not passed at this point`, { start, end });
  const found = Object.hasOwn(values.environment, variable) ? values.environment[variable] : undefined;
  if (found !== undefined) return found;
  const problem = `the environment has no variable \`${variable}\`; set it before the launch`;
  throw new ExpressionError(problem, { start, end });
}

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

type Dialect = 'own' | 'wandb';

export const macroNames: readonly string[] = [...Object.keys(lists), ...Object.keys(texts)];

/** The macros that W&B has as well. */
const wandbMacroNames: readonly string[] = macroNames.filter((name) => !ownMacros.has(name));

/** Whether a macro expands to several words if it is a word of its own. */
function isListMacro(macro: string): boolean {
  return Object.hasOwn(lists, macro);
}

function macroWords(macro: string, values: MacroValues, dialect: Dialect): string[] {
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
function macroText(macro: string, values: MacroValues, dialect: Dialect): string | null {
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
function argumentText(name: string, value: Value, values: MacroValues): string {
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
