import { terminalText } from '../../text/display-text.js';
import { parse } from 'yaml';
import { parameterName } from '../../spec/file/parameter-schema.js';

/** One option of a program, as far as its help text tells. */
export type HelpOption = {
  /** As parameters are named: without dashes, with dots where it is nested. */
  readonly name: string;
  /** `several`: it takes more than one value. */
  readonly kind: 'value' | 'flag' | 'several';
  readonly choices: readonly string[];
  /** As written; null: the text names none. */
  readonly preset: string | null;
  readonly required: boolean;
  /** What it says of the option, on one line. */
  readonly about: string;
};

/** Whose help text it is: it tells how parameters are passed. */
type HelpFormat = 'argparse' | 'click' | 'absl' | 'Hydra';
export type ProgramHelp = { readonly format: HelpFormat; readonly options: readonly HelpOption[] };

/** Characters that are looked at; a help text is no longer. */
const MOST = 200_000;
/** Of one line, characters. */
const WIDEST = 1000;
/** Options of one program. */
const MOST_OPTIONS = 500;

/**
 * The options that a help text lists: argparse's, that of click and typer, absl's, or the configuration that Hydra prints.
 * null: it is none of these. Takes any text.
 */
export function helpOptions(text: string): ProgramHelp | null {
  // Without the colours and the boxes of rich.
  const plain = terminalText(text.slice(0, MOST)).replace(/[\u2500-\u257f]/g, ' ');
  const lines = plain.split('\n').map((line) => line.slice(0, WIDEST));
  const format = formatOf(plain);
  if (format === null) return null;
  const options = readers[format](lines).filter(isParameter);
  const known = new Map(options.map((option) => [option.name, option]));
  return { format, options: [...known.values()].slice(0, MOST_OPTIONS) };
}

function formatOf(text: string): HelpFormat | null {
  if (/powered by hydra|^== Config ==/im.test(text)) return 'Hydra';
  if (/^\s*flags:\s*$/m.test(text) || /^ {2}--(\[no\])?[\w.]+: /m.test(text)) return 'absl';
  // `Usage:` and `usage:` tell the two apart; rich writes ` Usage: `.
  if (/^\s*Usage: /m.test(text) && /^\s*Options[: ]/m.test(text)) return 'click';
  if (/^\s*usage: /im.test(text) && /^\s+(-\w, )?--?\w/m.test(text)) return 'argparse';
  return null;
}

const readers: Readonly<Record<HelpFormat, (lines: readonly string[]) => HelpOption[]>> = {
  argparse: (lines) => listedOptions(lines, requiredIn(lines)),
  click: (lines) => listedOptions(lines, () => false),
  absl: abslOptions,
  Hydra: hydraOptions,
};

/** What every program has, and what is no setting. */
const besides = /^(help|helpfull|helpshort|helpxml|h|version|show-completion|install-completion|verbose|quiet|debug)$/;

function isParameter({ name }: HelpOption): boolean {
  return !besides.test(name) && parameterName.safeParse(name).success;
}

/** `  -l, --lr LR   the rate`, with the rest of its text on the lines below that are further in. */
function listedOptions(lines: readonly string[], isRequired: (name: string) => boolean): HelpOption[] {
  const options: HelpOption[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const head = /^(\s+\*?\s*)(-\S.*)$/.exec(lines[index]!);
    if (head === null) continue;
    const indent = head[1]!.length;
    const [declared = '', ...first] = head[2]!.split(/\s{2,}/);
    const about = [...first];
    while (/^\s+[^-\s]/.test(lines[index + 1] ?? '') && indentOf(lines[index + 1]!) > indent) {
      about.push(lines[(index += 1)]!.trim());
    }
    const option = declaredOption(declared, about.join(' ').trim());
    if (option === null) continue;
    const isMarked = head[1]!.includes('*') || /\[required\]/.test(option.about);
    options.push({ ...option, required: isMarked || isRequired(option.name) });
  }
  return options;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

/** What stands before the text of an option: `-o {adam,sgd}, --optimizer {adam,sgd}`, `--amp / --no-amp`. */
function declaredOption(declared: string, about: string): HelpOption | null {
  const match = /(?:^|[\s,/])--(?:\[no\])?([A-Za-z][\w.-]*)/.exec(declared);
  // An option that has only a short form is passed by it, which a sweep file does with `command`.
  if (match === null) return null;
  const name = match[1]!;
  const behind = declared.slice(match.index + match[0].length).replace(/^[\s=]+/, '');
  const switches = /^,?\s*(\/?\s*)?--/.test(behind) || declared.includes(' / ');
  // typer puts the type into a column of its own.
  const [column = ''] = /^(INTEGER|FLOAT|TEXT|PATH|\[[^\]]+\|[^\]]+\])(?=\s|$)/.exec(about) ?? [];
  const value = switches ? '' : behind || column;
  return {
    name,
    kind: value === '' ? 'flag' : /\.\.\.|(?<![[{|])\s\S*\s\S/.test(value) && !/[{|]/.test(value) ? 'several' : 'value',
    choices: choicesIn(value),
    preset: presetIn(about),
    required: false,
    about: about.slice(column.length).replace(/\s+/g, ' ').trim(),
  };
}

function choicesIn(value: string): string[] {
  const inside =
    /^\{([^}]*)\}/.exec(value)?.[1]?.split(',') ?? /^[[<]([^\]>]*\|[^\]>]*)[\]>]/.exec(value)?.[1]?.split('|');
  return (inside ?? []).map((each) => each.trim()).filter((each) => each !== '');
}

function presetIn(about: string): string | null {
  const found = /[([](?:default|Default)(?:s to)?[:=]?\s*([^)\]]+)[)\]]/.exec(about)?.[1]?.trim() ?? null;
  const bare =
    found
      ?.replace(/^'(.*)'$/, '$1')
      .replace(/;.*$/, '')
      .trim() ?? null;
  return bare === null || bare === '' || /^(none|null)$/i.test(bare) ? null : bare;
}

/** Options that stand in argparse's usage without brackets around them have to be given. */
function requiredIn(lines: readonly string[]): (name: string) => boolean {
  const from = lines.findIndex((line) => /^\s*usage: /i.test(line));
  const usage: string[] = [];
  for (const line of lines.slice(Math.max(0, from))) {
    if (line.trim() === '') break;
    usage.push(line);
  }
  let rest = usage.join(' ');
  // Brackets in brackets, the innermost first.
  for (let depth = 0; depth < 8; depth += 1) rest = rest.replace(/\[[^[\]]*\]/g, ' ');
  return (name) => new RegExp(`--${name.replace(/[.]/g, '\\.')}(?![\\w.-])`).test(rest);
}

/** `  --lr: The rate`, with `(default: '0.1')` on a line of its own. */
function abslOptions(lines: readonly string[]): HelpOption[] {
  const options: HelpOption[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const match = /^\s{2,}(?:-\w,)?--(\[no\])?([\w.]+):\s?(.*)$/.exec(lines[index]!);
    if (match === null) continue;
    const about = [match[3]!];
    while (/^\s{4,}\S/.test(lines[index + 1] ?? '') && !/^\s*-/.test(lines[index + 1]!))
      about.push(lines[(index += 1)]!.trim());
    const text = about.join(' ').trim();
    options.push({
      name: match[2]!,
      kind: match[1] === undefined ? (/\(a comma separated list\)/.test(text) ? 'several' : 'value') : 'flag',
      choices: choicesIn(match[3]!),
      preset: presetIn(text),
      required: false,
      about: text
        .replace(/\(default: [^)]*\)|\(an? (number|integer|boolean)\)/g, '')
        .replace(/\s+/g, ' ')
        .trim(),
    });
  }
  return options;
}

/** The groups and the configuration that Hydra prints, as overrides name them. */
function hydraOptions(lines: readonly string[]): HelpOption[] {
  const groups = section(lines, /^== Configuration groups ==/).flatMap((line): HelpOption[] => {
    const [, name, choices] = /^([\w.-]+):\s*(.+)$/.exec(line) ?? [];
    return name === undefined
      ? []
      : [
          option(
            name,
            null,
            choices!.split(',').map((each) => each.trim()),
          ),
        ];
  });
  const config = section(lines, /^== Config ==/).filter((line) => !/^(Override anything|Powered by|Use )/.test(line));
  return [...groups, ...leaves(parsed(config.join('\n')), '')];
}

function option(name: string, preset: string | null, choices: readonly string[] = []): HelpOption {
  return { name, kind: 'value', choices, preset, required: preset === '???', about: '' };
}

/** Lines up to the next heading. */
function section(lines: readonly string[], heading: RegExp): readonly string[] {
  const from = lines.findIndex((line) => heading.test(line));
  if (from < 0) return [];
  const length = lines.slice(from + 1).findIndex((line) => /^== |^Powered by/.test(line));
  return lines.slice(from + 1, length < 0 ? undefined : from + 1 + length);
}

function parsed(text: string): unknown {
  try {
    return parse(text, { logLevel: 'silent' });
  } catch {
    // Whatever it is, it is no configuration.
    return null;
  }
}

function leaves(value: unknown, name: string): HelpOption[] {
  if (Array.isArray(value)) return [{ ...option(name, null), kind: 'several' }];
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => leaves(inner, name === '' ? key : `${name}.${key}`));
  }
  if (name === '') return [];
  const preset = ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : null;
  return [option(name, preset)];
}
