/** Number of colours the terminal is assumed to have. `none`: only bold, dim and reverse. */
export type ColourDepth = 'none' | 16 | 256;

/** Brightness of the terminal's background. */
export type TerminalGround = 'dark' | 'light';

/** `ground`: absent if the terminal does not report it. */
export type Capabilities = {
  readonly colours: ColourDepth;
  readonly ascii: boolean;
  readonly ground?: TerminalGround;
  /** Name of this machine, for links to its files; absent if the terminal does not support links. */
  readonly linkHost?: string;
};

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * What the terminal can show, according to the environment. If no locale is set, Unicode is assumed.
 *
 * @param host Name of this machine, for links.
 */
export function capabilitiesOf(environment: Environment, wantsAscii: boolean, host = ''): Capabilities {
  const term = environment['TERM'] ?? '';
  const ground = groundOf(environment);
  return {
    colours: coloursOf(environment, term),
    ascii: wantsAscii || term === 'linux' || !isUnicode(environment),
    ...(ground === null ? {} : { ground }),
    ...(hasLinks(environment, term) ? { linkHost: host } : {}),
  };
}

/** Whether the locale uses UTF-8. As in POSIX, an empty variable counts as unset. */
function isUnicode(environment: Environment): boolean {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  return locale === '' || /utf-?8/i.test(locale);
}

/** The background from its colour number, as rxvt, Konsole and others report it: `0;15` is black on white. */
function groundOf({ COLORFGBG }: Environment): TerminalGround | null {
  const [, number] = /;(\d+)$/.exec(COLORFGBG ?? '') ?? [];
  if (number === undefined) return null;
  return Number(number) === 7 || Number(number) > 8 ? 'light' : 'dark';
}

function coloursOf(environment: Environment, term: string): ColourDepth {
  if ((environment['NO_COLOR'] ?? '') !== '' || term === 'dumb') return 'none';
  const isRich =
    /256|direct|kitty|alacritty|ghostty|foot|wezterm/.test(term) || (environment['COLORTERM'] ?? '') !== '';
  return isRich ? 256 : 16;
}

/** Whether the terminal is known to open links (OSC 8); some others would print the codes. */
function hasLinks(
  { TERM_PROGRAM = '', TERM_PROGRAM_VERSION = '', VTE_VERSION, WT_SESSION }: Environment,
  term: string,
): boolean {
  if (/kitty|alacritty|ghostty|foot|wezterm|contour/.test(term)) return true;
  if (/^(iTerm\.app|WezTerm|ghostty|vscode|Hyper|mintty)$/i.test(TERM_PROGRAM)) return true;
  if (TERM_PROGRAM === 'tmux') return Number.parseFloat(TERM_PROGRAM_VERSION) >= 3.4;
  return Number(VTE_VERSION ?? 0) >= 5000 || (WT_SESSION ?? '') !== '';
}
