import { shellQuote } from '../text/shell-words.js';

/**
 * What to type where a program refused its arguments because it takes them as Hydra does; null: it failed for another reason.
 *
 * @param lines The end of its log. @param argv Its command, with the parameters among the words.
 */
export function argumentAdvice(
  lines: readonly string[],
  argv: readonly string[],
  parameters: readonly string[],
): string | null {
  const isHydra = lines.some((line) => ofHydra.test(line));
  const isRefused = lines.some((line) => refused.test(line));
  const isPassed = argv.some((word) => parameters.some((name) => isOption(word, name)));
  if (!isHydra || !isRefused || !isPassed) return null;
  const command = argv.filter(
    (word, at) => !parameters.some((name) => isOption(word, name) || isValueOf(argv[at - 1], word, name)),
  );
  const assignments = parameters.map((name) => `${name}=…`);
  return `it takes its parameters as Hydra does: \`memrl-tui grid ${assignments.join(' ')} --args hydra -- ${shellQuote(command)}\``;
}

/** The usage of every program of Hydra. */
const ofHydra = /\[--hydra-help\]|\[--cfg \{job,hydra,all\}\]/;
const refused = /\berror: (?:unrecognized arguments|ambiguous option|argument )/;

function isOption(word: string, name: string): boolean {
  return word === `--${name}` || word.startsWith(`--${name}=`);
}

/** Whether a word is the value of an option before it: `--lr 0.1`. */
function isValueOf(before: string | undefined, word: string, name: string): boolean {
  return before === `--${name}` && !word.startsWith('--');
}
