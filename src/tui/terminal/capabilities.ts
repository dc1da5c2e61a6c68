import type { GraphicsChoice } from '../state/preferences-port.js';
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

type Size = { readonly width: number; readonly height: number };
type Rgb = readonly [red: number, green: number, blue: number];

/** What a terminal has reported about its pictures. `background`: its background colour; null: not reported. */
type Found = {
  readonly protocol: 'kitty' | 'sixel';
  readonly cell: Size;
  readonly colours: number;
  readonly background: Rgb | null;
};

/** A picture of one pixel that the terminal checks but does not show. */
const kittyQuestion = '\u001b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u001b\\';
/** Ask for the size of a character and of the whole screen in pixels. */
const sizeQuestions = '\u001b[16t\u001b[14t';
/** Ask for the number of colours in a picture, the background colour, and the kind of terminal, which every terminal answers. */
const otherQuestions = '\u001b[?1;1;0S\u001b]11;?\u001b\\\u001b[c';
/** Size of a character, in pixels, if a terminal that can scale pictures has not reported it. */
const usualCell: Size = { width: 10, height: 20 };
/** Maximum number of colours used in a picture, even if the terminal has more. */
const mostColours = 256;

/**
 * Finds out whether the terminal shows pictures by asking it, because its name is not reliable. The answers come among the keys;
 * nothing waits for them, and without them there are no pictures.
 */
export class GraphicsFinder {
  readonly #choice: GraphicsChoice;
  #hasKitty = false;
  #hasSixel = false;
  #hasSaidKind = false;
  #cell: Size | null = null;
  #colours = 16;
  #background: Rgb | null = null;

  /** Codes to send; empty inside tmux and screen, which would answer for themselves rather than for the terminal. */
  readonly questions: string;

  constructor(choice: GraphicsChoice, environment: Environment) {
    const isAsked = choice === 'sixel' || (choice !== 'none' && !isWithin(environment));
    this.#choice = isAsked ? choice : 'none';
    const kitty = this.#choice === 'auto' || this.#choice === 'kitty' ? kittyQuestion : '';
    this.questions = isAsked ? kitty + sizeQuestions + otherQuestions : '';
  }

  /** Codes that ask again for what a change of font size has changed. */
  get sizeQuestion(): string {
    return this.questions === '' ? '' : sizeQuestions;
  }

  /** Takes an answer. `size`: of the screen, in characters. */
  hear(answer: string, size: Size): void {
    const body = answer.slice(2);
    if (answer.startsWith('\u001b_')) this.#hasKitty ||= /^Gi=31;OK/.test(body);
    else if (answer.startsWith('\u001b]')) this.#background = colourIn(body) ?? this.#background;
    else this.#hearNumbers(body, size);
  }

  /** The result; null: answers are still missing, or there are no pictures. */
  found(): Found | null {
    // The answer that every terminal gives comes last.
    const protocol = this.#hasSaidKind ? this.#protocol() : null;
    const cell = this.#cell ?? (protocol === 'kitty' ? usualCell : null);
    if (protocol === null || cell === null) return null;
    return { protocol, cell, colours: this.#colours, background: this.#background };
  }

  #protocol(): Found['protocol'] | null {
    if (this.#choice === 'none') return null;
    if (this.#choice !== 'auto') return this.#choice;
    return this.#hasKitty ? 'kitty' : this.#hasSixel ? 'sixel' : null;
  }

  #hearNumbers(body: string, size: Size): void {
    const [kind = 0, ...numbers] = body.slice(0, -1).replace('?', '').split(';').map(Number);
    if (body.endsWith('c')) {
      this.#hasSaidKind = true;
      this.#hasSixel = numbers.includes(4);
    } else if (body.endsWith('S')) this.#hearColours(kind, numbers);
    else this.#hearSize(kind, numbers, size);
  }

  #hearColours(kind: number, [problem, colours = 0]: readonly number[]): void {
    if (kind === 1 && problem === 0 && colours > 1) this.#colours = Math.min(mostColours, colours);
  }

  #hearSize(kind: number, [height = 0, width = 0]: readonly number[], size: Size): void {
    if (!(height > 0 && width > 0)) return;
    if (kind === 6) this.#cell = { width, height };
    // Size of all characters together, including a remainder at the edge.
    else this.#cell ??= { width: Math.floor(width / size.width), height: Math.floor(height / size.height) };
  }
}

/** Whether a multiplexer, which would have to pass pictures on, runs between the window and the terminal. */
function isWithin({ TMUX = '', STY = '', ZELLIJ = '', TERM = '' }: Environment): boolean {
  return TMUX !== '' || STY !== '' || ZELLIJ !== '' || /^(screen|tmux)/.test(TERM);
}

/** Parses `11;rgb:1e1e/1e1e/2e2e`, with one to four digits each. */
function colourIn(body: string): Rgb | null {
  const [, red, green, blue] = /^11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(body) ?? [];
  if (blue === undefined) return null;
  const part = (digits: string): number => Math.round((Number.parseInt(digits, 16) * 255) / (16 ** digits.length - 1));
  return [part(red!), part(green!), part(blue)];
}
