/**
 * What is searched for, or why it cannot be. `fix`: what to type instead.
 *
 * `hint`: where it finds nothing in a text of many lines, no line of it matches; null: that cannot be told so quickly.
 */
export type LogPattern =
  | { readonly kind: 'pattern'; readonly regexp: RegExp; readonly hint: RegExp | null }
  | { readonly kind: 'problem'; readonly problem: string; readonly fix: string };

/**
 * Reads what a person typed as a regular expression. Without a capital letter it finds both cases; `\S` and `\W` are
 * not capitals.
 */
export function readLogPattern(text: string): LogPattern {
  const hasCapital = /\p{Lu}/u.test(text.replace(/\\./gsu, ''));
  try {
    const flags = hasCapital ? 'g' : 'gi';
    // What must not stand before or after it may stand on another line.
    const hint = /\(\?<?!/.test(text) ? null : new RegExp(text, `${flags}m`);
    return { kind: 'pattern', regexp: new RegExp(text, flags), hint };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error);
    const fix = String.raw`For the sign itself put a \ before it: \( \[ \* \+ \?`;
    return { kind: 'problem', problem: `“${text}” is no regular expression: ${why.toLowerCase()}.`, fix };
  }
}
