import { didYouMean } from '../../text/nearest.js';
import { ExpressionError } from './expression/expression.js';
import {
  argumentText,
  type Dialect,
  isListMacro,
  macroNames,
  macroText,
  macroWords,
  type MacroValues,
  wandbMacroNames,
} from './macros.js';

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
