import { type AnnotationChange, noteProblem, tagProblem } from '../../base/annotation.js';
import { UserError } from '../../base/user-error.js';
import { shortened } from '../../text/display-text.js';
import { shellQuote } from '../../text/shell-words.js';
import { runsLine } from '../act-on-runs.js';
import { chooseRuns } from '../chosen-runs.js';
import { promised, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { print, printAnswer } from '../terminal.js';

type AnnotateOptions = CommonOptions & { dryRun?: boolean; remove?: boolean };

/** `memrl-tui star QUERY`; `--remove` removes the star. */
export function star(words: readonly string[], options: AnnotateOptions): Promise<number> {
  const starred = options.remove !== true;
  return annotate(starred ? 'star' : 'unstar', words, { starred }, options);
}

/** `memrl-tui tag QUERY +good -bad`: words with a sign are tags, the others select runs. */
export function tag(words: readonly string[], options: AnnotateOptions): Promise<number> {
  const { query, ...change } = taggingIn(words);
  return annotate('tag', query, change, options);
}

/** `memrl-tui note QUERY TEXT`: the last argument is the text, unless `--remove` is given. */
export function note(words: readonly string[], options: AnnotateOptions): Promise<number> {
  if (options.remove === true) return annotate('note', words, { note: null }, options);
  return annotate('note', words.slice(0, -1), { note: noteIn(words) }, options).catch((error: unknown) => {
    throw words.length > 2 && error instanceof UserError ? quoted(error, words) : error;
  });
}

/** The error for a text without quotes, which arrives as several words, of which all but the last are taken as the query. */
function quoted({ message }: UserError, [query, ...text]: readonly string[]): UserError {
  const command = shellQuote(['memrl-tui', 'note', query!, text.join(' ')]);
  return new UserError(message, `A note of several words stands in quotes: \`${command}\`.`);
}

/** @throws {UserError} When there is no tag, or an invalid one. */
export function taggingIn(words: readonly string[]): { query: string[]; add: string[]; remove: string[] } {
  const option = words.find((word) => word.startsWith('--'));
  if (option !== undefined) throw new UserError(`tag has no option \`${shortened(option)}\`.`, example);
  const query = words.filter((word) => !/^[+-]/.test(word));
  const signed = words.filter((word) => /^[+-]/.test(word));
  if (signed.length === 0) throw new UserError('There is no tag to add or to remove.', example);
  for (const word of signed) {
    const problem = tagProblem(word.slice(1));
    if (problem !== null) throw new UserError(`\`${shortened(word)}\` is not a tag: ${problem}.`, example);
  }
  const having = (sign: string) => signed.filter((word) => word.startsWith(sign)).map((word) => word.slice(1));
  return { query, add: having('+'), remove: having('-') };
}

const example = 'Write for example `memrl-tui tag group:A +good -bad`.';

/** @throws {UserError} When there is no text, or no query before it. */
function noteIn(words: readonly string[]): string {
  const text = words.at(-1) ?? '';
  const problem = text.trim() === '' ? 'it is empty' : noteProblem(text);
  if (problem !== null) {
    throw new UserError(`The note cannot be written: ${problem}.`, 'Give a text, or remove notes with --remove.');
  }
  if (words.length > 1) return text;
  throw new UserError(
    'There is a note, and no run to write it on.',
    'Write for example `memrl-tui note A_s0 "lr too high"`.',
  );
}

/** Annotates runs without a confirmation, as it disturbs no run and can be undone. */
function annotate(
  verb: string,
  words: readonly string[],
  change: AnnotationChange,
  options: AnnotateOptions,
): Promise<number> {
  return withFleet(options, async (fleet) => {
    const chosen = await chooseRuns(words, fleet);
    const ids = chosen.map(({ id }) => id);
    const tell = (line: string) => (options.json === true ? undefined : print([line]));
    tell(runsLine(verb, chosen, 0));
    const isDry = options.dryRun === true;
    const message = isDry ? null : promised(await fleet.request({ verb: 'annotate', ids, change }));
    if (message !== null) tell(message);
    if (options.json === true) printAnswer('annotate', { verb, runs: ids, done: !isDry, message });
    return 0;
  });
}
