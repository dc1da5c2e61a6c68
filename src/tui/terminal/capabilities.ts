import type { Capabilities, ColourDepth, TerminalGround } from './theme.js';

/** What the terminal can show, as far as the environment tells. A terminal whose locale is not set is trusted with Unicode. */
export function capabilitiesOf(
  environment: Readonly<Record<string, string | undefined>>,
  wantsAscii: boolean,
): Capabilities {
  const term = environment['TERM'] ?? '';
  // An empty variable counts as not set, as POSIX has it.
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  const isUnicode = locale === '' || /utf-?8/i.test(locale);
  const ground = groundOf(environment);
  return {
    colours: coloursOf(environment, term),
    ascii: wantsAscii || term === 'linux' || !isUnicode,
    ...(ground === null ? {} : { ground }),
  };
}

/** From the number of the background colour, as rxvt, Konsole and others tell it: `0;15` is black on white. */
function groundOf({ COLORFGBG }: Readonly<Record<string, string | undefined>>): TerminalGround | null {
  const [, number] = /;(\d+)$/.exec(COLORFGBG ?? '') ?? [];
  if (number === undefined) return null;
  return Number(number) === 7 || Number(number) > 8 ? 'light' : 'dark';
}

function coloursOf(environment: Readonly<Record<string, string | undefined>>, term: string): ColourDepth {
  if ((environment['NO_COLOR'] ?? '') !== '' || term === 'dumb') return 'none';
  const isRich =
    /256|direct|kitty|alacritty|ghostty|foot|wezterm/.test(term) || (environment['COLORTERM'] ?? '') !== '';
  return isRich ? 256 : 16;
}
