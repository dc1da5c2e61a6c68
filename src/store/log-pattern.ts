/** What is searched for, or why it cannot be. `fix`: what to type instead. */
export type LogPattern =
  | { readonly kind: 'pattern'; readonly regexp: RegExp }
  | { readonly kind: 'problem'; readonly problem: string; readonly fix: string };

/**
 * Reads what a person typed as a regular expression. Without a capital letter it finds both cases; `\S` and `\W` are
 * not capitals.
 */
export function readLogPattern(text: string): LogPattern {
  const hasCapital = /\p{Lu}/u.test(text.replace(/\\./gsu, ''));
  try {
    return { kind: 'pattern', regexp: new RegExp(text, hasCapital ? 'g' : 'gi') };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^.*: /s, '') : String(error);
    const fix = String.raw`For the sign itself put a \ before it: \( \[ \* \+ \?`;
    return { kind: 'problem', problem: `“${text}” is no regular expression: ${why.toLowerCase()}.`, fix };
  }
}
