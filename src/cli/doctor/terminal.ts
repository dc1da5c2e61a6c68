import { readFileSync } from 'node:fs';
import { preferencesPath } from '../../files/preferences.js';
import { strayPreference } from '../../tui/app/preferences.js';
import { capabilitiesOf } from '../../tui/terminal/capabilities.js';
import { ask, type Check, type Finding, ok, type Place, warn } from './check.js';

/** Smallest terminal that shows the whole window. */
const LEAST = { columns: 80, rows: 24 };

export const terminal: Check = { topic: 'Terminal', name: 'Terminal', look: judgeTerminal };

export function judgeTerminal({ environment, size }: Pick<Place, 'environment' | 'size'>): Finding {
  const term = environment['TERM'] ?? '';
  if (size === null) return ok('none on stdout: output is plain lines');
  const { colours } = capabilitiesOf(environment, false);
  const found = `${term || 'TERM is not set'}, ${size.columns}×${size.rows}, ${colours === 'none' ? 'no' : colours} colours`;
  if (term === '' || term === 'dumb')
    return warn(`${found}: no window can be drawn`, 'Set TERM, for example `export TERM=xterm-256color`.');
  if (size.columns < LEAST.columns || size.rows < LEAST.rows) {
    return warn(found, `Make it at least ${LEAST.columns}×${LEAST.rows}.`);
  }
  if (colours === 16) return warn(found, 'If it can show more colours, set: `export TERM=xterm-256color`.');
  return ok(found);
}

export const characters: Check = {
  topic: 'Terminal',
  name: 'Characters',
  look: ({ environment }) => judgeCharacters(environment),
};

export function judgeCharacters(environment: Place['environment']): Finding {
  const locale = environment['LC_ALL'] || environment['LC_CTYPE'] || environment['LANG'] || '';
  if (!capabilitiesOf(environment, false).ascii)
    return ok(`Unicode${locale === '' ? ' (no locale is set)' : ` (${locale})`}`);
  if (environment['TERM'] === 'linux') return ok('ASCII: the console has no more');
  return warn(`ASCII, because the locale is ${locale}`, 'If the terminal supports UTF-8: `export LC_ALL=C.UTF-8`.');
}

export const multiplexer: Check = { topic: 'Terminal', name: 'Multiplexer', look: lookAtMultiplexer };

async function lookAtMultiplexer(place: Place): Promise<Finding> {
  const { environment } = place;
  if (environment['TMUX']) {
    const [delay, inner] = await Promise.all([
      ask(place, 'tmux', 'show-options', '-sv', 'escape-time'),
      ask(place, 'tmux', 'show-options', '-gv', 'default-terminal'),
    ]);
    return judgeTmux(delay === null ? null : Number(delay), inner);
  }
  if (environment['STY']) return ok('screen');
  return ok(environment['SSH_CONNECTION'] ? 'none, over ssh: runs survive a dropped connection' : 'none');
}

/** @param delayMs How long tmux waits after Esc; null: unknown. @param inner `default-terminal`. */
export function judgeTmux(delayMs: number | null, inner: string | null): Finding {
  if (delayMs !== null && delayMs >= 100) {
    return warn(`tmux delays Esc by ${delayMs} ms`, 'Put `set -s escape-time 10` into ~/.tmux.conf.');
  }
  if (inner !== null && !/256|direct/.test(inner)) {
    return warn(
      `tmux says it is ${inner}: 16 colours`,
      'Put `set -g default-terminal tmux-256color` into ~/.tmux.conf.',
    );
  }
  return ok(`tmux${inner === null ? '' : ` (${inner})`}`);
}

export const preferences: Check = { topic: 'Terminal', name: 'Preferences', look: lookAtPreferences };

/** Reads the file directly: opening it as preferences would move a damaged one away, and a check must change nothing. */
function lookAtPreferences({ environment }: { environment: Readonly<Record<string, string>> }): Finding {
  const path = preferencesPath(environment);
  try {
    return judgePreferences(path, readFileSync(path, 'utf8'));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return judgePreferences(path, null);
    return warn(`${path} cannot be read: ${message}`, 'Make it readable, or set MEMRL_CONFIG_DIR to another folder.');
  }
}

/** @param text Text of the file at `path`; null: it does not exist. */
export function judgePreferences(path: string, text: string | null): Finding {
  if (text === null) return ok(`none yet; choices made in the window are saved in ${path}`);
  const values = objectIn(text);
  if (values === null) {
    return warn(
      `${path} is not a JSON object`,
      `Fix it, or the next window moves it to ${path}.damaged and starts with the defaults.`,
    );
  }
  const stray = strayPreference({ path, values });
  return stray === null
    ? ok(path)
    : warn(stray, 'Correct it there, or choose in the window: `:theme`, `:keys`, `:mouse`, `:graphics`.');
}

function objectIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}
