import { ExpressionError } from './expression.js';
import { didYouMean } from '../base/nearest.js';
import { shellQuote } from './shell-words.js';
import type { Value } from './cel-value.js';
import { valueText } from './value-text.js';

/** What macros stand for at one point. */
export type MacroValues = {
  /** In the order of the file; what `${args}` lists. */
  readonly parameters: Readonly<Record<string, Value>>;
  readonly runDirectory: string;
  readonly runName: string;
  readonly sweepDirectory: string;
  readonly program: string | null;
  /** Variables of the person who launches, for `${envvar:NAME}`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Words of a command with their macros found, so that ten thousand runs need not search again. */
export type CommandWords = {
  /** The arguments of a program: `${args}` alone in a word becomes as many words as there are parameters. */
  readonly render: (values: MacroValues) => string[];
  /** One text for each word, whatever it holds, for what is no list of arguments. */
  readonly renderTexts: (values: MacroValues) => string[];
};

type Part = string | { macro: string; start: number; end: number };

/** Macros that stand for several words. */
const lists: Record<string, (parameters: readonly [string, string, Value][]) => string[]> = {
  args: (all) => all.map(([name, text]) => `--${name}=${text}`),
  args_no_hyphens: (all) => all.map(([name, text]) => `${name}=${text}`),
  args_no_equals: (all) => all.flatMap(([name, text]) => [`--${name}`, text]),
  args_no_boolean_flags: (all) =>
    all
      .filter(([, , value]) => value !== false)
      .map(([name, text, value]) => (value === true ? `--${name}` : `--${name}=${text}`)),
  args_append_hydra: (all) => all.map(([name, text]) => `+${name}=${text}`),
  args_override_hydra: (all) => all.map(([name, text]) => `++${name}=${text}`),
};

/** Macros that stand for one text. `${attempt}` stays: only the supervisor knows it, at launch. */
const texts: Record<string, (values: MacroValues) => string> = {
  args_json: (values) => JSON.stringify(withDirectories(values)),
  run_dir: (values) => values.runDirectory,
  run_name: (values) => values.runName,
  sweep_dir: (values) => values.sweepDirectory,
  program: (values) => values.program ?? '',
  interpreter: () => 'python',
  env: () => '/usr/bin/env',
  attempt: () => '${attempt}',
};

/**
 * Finds the macros in words. `$${` stands for `${`.
 *
 * @param parameters Names that `${name}` may use besides the macros.
 * @throws {ExpressionError} For an unknown macro; the position is in the word, the word's index is `wordIndex`.
 */
export function compileWords(
  words: readonly string[],
  parameters: readonly string[],
  program: string | null,
): CommandWords {
  const known = [...parameters, ...Object.keys(lists), ...Object.keys(texts)];
  const compiled = words.map((word, index) => partsOf(word, (part) => refuseUnknown({ part, known, program, index })));
  return {
    render: (values) => compiled.flatMap((parts) => renderWord(parts, values)),
    renderTexts: (values) => compiled.map((parts) => renderText(parts, values)),
  };
}

/** An ExpressionError that also says which word of the list it is about. */
export class WordError extends ExpressionError {
  readonly index: number;

  constructor(error: { message: string; start: number; end: number }, index: number) {
    super(error.message, error);
    this.index = index;
  }
}

/** A parameter's value as a program gets it: as Python writes it, with the directories filled in. */
export function argumentText(value: Value, values: MacroValues): string {
  const text = valueText(value);
  return text.includes('${') ? fillDirectories(text, values) : text;
}

/** Only the directories are ours inside a value; any other `${…}` may be meant for the program. */
function fillDirectories(text: string, values: MacroValues): string {
  return text.replace(/\$\{(run_dir|run_name|sweep_dir)\}/g, (_, macro: string) => texts[macro]!(values));
}

function withDirectories(values: MacroValues): Record<string, Value> {
  const fill = <Item>(item: Item) => (typeof item === 'string' ? fillDirectories(item, values) : item);
  return Object.fromEntries(
    Object.entries(values.parameters).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(fill) : fill(value),
    ]),
  );
}

function partsOf(word: string, check: (part: Exclude<Part, string>) => void): Part[] {
  const parts: Part[] = [];
  let end = 0;
  for (const match of word.matchAll(/\$\$\{|\$\{([^}]*)\}/g)) {
    parts.push(word.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[1] === undefined) parts.push('${');
    else {
      const part = { macro: match[1], start: match.index, end };
      check(part);
      parts.push(part);
    }
  }
  return [...parts, word.slice(end)].filter((part) => part !== '');
}

type Check = { part: Exclude<Part, string>; known: readonly string[]; program: string | null; index: number };

function refuseUnknown({ part, known, program, index }: Check): void {
  if (part.macro === 'program' && program === null) {
    throw new WordError({ ...part, message: '`${program}` is used, but there is no `program` in the file' }, index);
  }
  if (known.includes(part.macro) || /^envvar:[A-Za-z_][A-Za-z0-9_]*$/.test(part.macro)) return;
  const message = `\`\${${part.macro}}\` is neither a macro nor a parameter. ${didYouMean(part.macro, known)} Write \`$\${\` for a plain \`\${\`.`;
  throw new WordError({ ...part, message }, index);
}

function renderWord(parts: readonly Part[], values: MacroValues): string[] {
  const [only] = parts;
  if (parts.length === 1 && typeof only === 'object' && Object.hasOwn(lists, only.macro)) {
    return listOf(only.macro, values);
  }
  return [renderText(parts, values)];
}

function renderText(parts: readonly Part[], values: MacroValues): string {
  return parts.map((part) => (typeof part === 'string' ? part : macroText(part, values))).join('');
}

/** Inside a longer word, which can only be text for a shell, a list is joined as a shell would read it. */
function macroText({ macro, start, end }: Exclude<Part, string>, values: MacroValues): string {
  // A parameter called `env` must not change what `${env}` means in a W&B command, so macros come first.
  if (Object.hasOwn(texts, macro)) return texts[macro]!(values);
  if (Object.hasOwn(lists, macro)) return shellQuote(listOf(macro, values));
  if (Object.hasOwn(values.parameters, macro)) return argumentText(values.parameters[macro]!, values);
  const variable = macro.replace(/^envvar:/, '');
  if (variable === macro) throw new ExpressionError(`\`${macro}\` is not passed at this point`, { start, end });
  const text = values.environment[variable];
  if (text === undefined)
    throw new ExpressionError(`the environment has no variable \`${variable}\`; set it before the launch`, {
      start,
      end,
    });
  return text;
}

function listOf(macro: string, values: MacroValues): string[] {
  return lists[macro]!(
    Object.entries(values.parameters).map(([name, value]) => [name, argumentText(value, values), value]),
  );
}
