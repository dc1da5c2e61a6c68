import { readFileSync } from 'node:fs';
import { preferencesPath } from '../../files/preferences.js';
import { strayPreference } from '../../tui/app/preferences.js';
import { type Check, type Finding, ok, warn } from './check.js';

export const preferences: Check = { topic: 'Terminal', name: 'Preferences', look: lookAtPreferences };

/** Reads the file itself: who opens it to use it moves a damaged one away, and looking must change nothing. */
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

/** @param text Of the file at `path`; null: it is not there. */
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
    : warn(stray, 'Correct it there, or choose in the window: `:theme`, `:keys`, `:mouse`.');
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
