/** One option of a program, as far as its help text shows. */
export type HelpOption = {
  /** Name as a parameter: without dashes, with dots if it is nested. */
  readonly name: string;
  /** `several`: it takes more than one value. */
  readonly kind: 'value' | 'flag' | 'several';
  /** The option that turns a flag off, without dashes; null: there is none. */
  readonly off: string | null;
  readonly choices: readonly string[];
  /** The default as written, and `true` or `false` for a flag; null: the text has none. */
  readonly preset: string | null;
  readonly required: boolean;
  /** The description, on one line. */
  readonly about: string;
};

/** An option with a value, of which nothing else is known. */
export const plainOption: Omit<HelpOption, 'name'> = {
  kind: 'value',
  off: null,
  choices: [],
  preset: null,
  required: false,
  about: '',
};

/** Whether a description says that the option is required: `[required]`, `[env var: LR; required]`, `(required, type: str)`. */
function saysRequired(about: string): boolean {
  return /[[(;,]\s*required\s*[\]);,]/i.test(about);
}

/** The choices of an option: `{adam,sgd}`, `[adam|sgd]`, `<adam|sgd>`. Date formats do not count. */
export function choicesIn(value: string): string[] {
  const inside =
    /^\{([^}]*)\}$/.exec(value)?.[1]?.split(',') ?? /^[[<]([^\]>%]*\|[^\]>%]*)[\]>]/.exec(value)?.[1]?.split('|');
  return (inside ?? []).map((each) => each.trim()).filter((each) => each !== '');
}

/** The default in `[default: 3]`, `(default: [1, 2])`, `[default: 3; x>=1]`, `(type: int, default: 3)`; null: there is none. */
export function presetIn(about: string): string | null {
  const head = /(?:[([]|[;,]\s)\s*default(?:s to)?(?:\s*[:=]\s*|\s+)/i.exec(about);
  if (head === null) return null;
  return presetValue(untilClosed(about.slice(head.index + head[0].length)));
}

export function presetValue(text: string): string | null {
  const bare = text.trim().replace(/^(['"])(.*)\1$/, '$2');
  return bare === '' || /^(none|null)$/i.test(bare) ? null : bare;
}

/** The text up to the bracket that closes an earlier one, or a semicolon; nested brackets belong to the text. */
function untilClosed(text: string): string {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const letter = text[index]!;
    if (depth === 0 && /[)\];]/.test(letter)) return text.slice(0, index);
    if (/[([]/.test(letter)) depth += 1;
    if (/[)\]]/.test(letter)) depth -= 1;
  }
  return text;
}

/** A declaration: `-o {adam,sgd}, --optimizer {adam,sgd}`, `--amp / --no-amp`; `takes`: its argument, if it is separate. */
export type Declared = { readonly names: string; readonly takes: string | null; readonly about: string };

/** Null: it only has a short form, which a sweep file must pass in `command`. */
export function declaredOption({ names, takes, about: told }: Declared): HelpOption | null {
  const about = told.replace(/\s+/g, ' ').trim();
  const forms = formsIn(names);
  const long = forms.filter((form) => form.isLong);
  const main = long.find((form) => !form.isOff) ?? null;
  if (main === null) return null;
  const { name } = main;
  const off = long.find((form) => form.isOff || isOffOf(form.name, name))?.name ?? null;
  const value = withoutRange(takes ?? forms.findLast((form) => form.takes !== '')?.takes ?? '');
  const said = presetIn(about);
  const kind = kindOf(value, said);
  const preset = kind === 'flag' ? flagPreset(said, name, off) : said;
  const required = saysRequired(about);
  return { name, kind, off: kind === 'flag' ? off : null, choices: choicesIn(value), preset, required, about };
}

type Form = { name: string; isLong: boolean; isOff: boolean; takes: string };

/**
 * The forms of an option. A name follows the beginning, a comma, a slash, a bar or a blank; text between two names is the argument
 * of the first.
 */
function formsIn(names: string): Form[] {
  const found = [...names.matchAll(/(^|[\s,/|])(--?)(\[no\])?([A-Za-z][\w.-]*)/g)];
  return found.map((match, index) => {
    const from = match.index + match[0].length;
    const to = found[index + 1]?.index ?? names.length;
    const before = names.slice(index === 0 ? 0 : found[index - 1]!.index, match.index + match[1]!.length).trimEnd();
    return {
      name: match[4]!,
      isLong: match[2] === '--',
      isOff: before.endsWith('/'),
      takes: names
        .slice(from, to)
        .replace(/^[\s=+]+|[\s,/|]+$/g, '')
        .trim(),
    };
  });
}

/** Whether a name negates another, like `no-amp` and `amp`, in any notation. */
export function isOffOf(name: string, other: string): boolean {
  return new RegExp(`^(.*\\.)?no[-_]?${other.replace(/^.*\./, '').replace(/[-_]/g, '[-_]')}$`).test(name);
}

/** Removes the range that typer and rich-click add: `FLOAT RANGE [0<=x<=1]`. */
function withoutRange(value: string): string {
  return value.replace(/\s*\[[^\]]*[<>]=?[^\]]*\]$/, '').trim();
}

const manyNumbers = /^[<]?(INTEGER|FLOAT|int|float)\b/;

function kindOf(value: string, preset: string | null): HelpOption['kind'] {
  if (value === '' || value === '<bool>') return 'flag';
  if (/\.\.\.|^<(list|tuple|set)\b/i.test(value)) return 'several';
  // `INTEGER RANGE` is one value, `B1 B2` are two.
  if (/^[^[{<]*\S\s+\S/.test(value) && !/\bRANGE$/.test(value)) return 'several';
  return manyNumbers.test(value) && preset?.includes(', ') === true ? 'several' : 'value';
}

/** The default of a flag, for which click prints the name of the form. */
function flagPreset(preset: string | null, name: string, off: string | null): string | null {
  if (preset === null) return null;
  if (preset === name || /^true$/i.test(preset)) return 'true';
  return preset === off || /^false$/i.test(preset) ? 'false' : null;
}
