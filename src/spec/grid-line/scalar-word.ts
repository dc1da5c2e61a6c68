import type { Scalar } from '../../base/scalar.js';
import { ValueMistake } from './value-syntax.js';

/**
 * The value of a word without quotes, where Hydra and guild (which reads YAML as Python does) agree on it.
 *
 * @throws {ValueMistake} Where they do not: `yes` is a text for one and true for the other.
 */
export function scalarOf({ text, start, end }: { text: string; start: number; end: number }): Scalar {
  const unclear = disputed.find(({ pattern }) => pattern.test(text));
  if (unclear !== undefined)
    throw new ValueMistake(`\`${text}\` ${unclear.readings}.`, unclear.fix(text), { start, end });
  if (/^null$/i.test(text)) return null;
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (!number.test(text)) return text;
  const value = Number(text);
  const isExact = Number.isFinite(value) && (Number.isSafeInteger(value) || !/^[-+]?\d+$/.test(text));
  if (isExact) return value;
  throw new ValueMistake(`\`${text}\` is too large to be kept exactly.`, inQuotes(text), { start, end });
}

const number = /^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?$/;

function inQuotes(text: string): string {
  return `Put it in quotes, twice because of the shell: name="'${text}'". The program gets the same text.`;
}

/** Words that Hydra and guild read differently. */
const disputed: readonly { pattern: RegExp; readings: string; fix: (text: string) => string }[] = [
  {
    pattern: /^(yes|no|on|off)$/i,
    readings: "is a text in Hydra's syntax, and true or false in guild's",
    fix: (text) => `Write ${/^(yes|on)$/i.test(text) ? 'true' : 'false'}, or "'${text}'" for the text.`,
  },
  {
    pattern: /^[-+]?\d[\d_]*_[\d_]*$/,
    readings: "is a number in Hydra's syntax, and a text in guild's",
    fix: (text) => `Write ${text.replaceAll('_', '')}, or "'${text}'" for the text.`,
  },
  {
    pattern: /^[-+]?0\d+$|^0[xob][\da-f_]+$/i,
    readings: "is a text in Hydra's syntax, and a number in guild's",
    fix: (text) => `Write the number in decimals without a 0 before it, or "'${text}'" for the text.`,
  },
  {
    pattern: /^~$/,
    readings: "is a text in Hydra's syntax, and null in guild's",
    fix: () => 'Write null, unset() to leave the parameter out, or "\'~\'" for the text.',
  },
];
