import type { RunSummary } from '../../client/fleet.js';
import { completions } from '../../query/completions.js';
import type { Verb, VerbOption } from '../verb.js';
import type { TypedLine } from './command-line.js';

/** What there is to name. */
export type Known = { readonly sweeps: readonly string[]; readonly runs: readonly RunSummary[] };

type Grammar = { readonly verbs: readonly Verb[]; readonly launchOptions: readonly VerbOption[] };

const shells = ['bash', 'zsh', 'fish'];

/** What the word at the cursor can become, as whole words. Nothing: a file, or anything else. */
export async function candidates(
  { words, current }: TypedLine,
  { verbs, launchOptions }: Grammar,
  look: () => Promise<Known>,
): Promise<string[]> {
  const [, first, ...rest] = words;
  if (first === undefined && !current.startsWith('-'))
    return starting(
      current,
      verbs.map(({ name }) => name),
    );
  const verb = verbs.find(({ name }) => name === first);
  const options = verb?.options ?? launchOptions;
  const asked = optionOf(words.at(-1)!, options);
  if (asked !== undefined && / [<[]/.test(asked.flags)) return starting(current, asked.words ?? []);
  if (current.startsWith('-')) return starting(current, options.flatMap(longFlags));
  return verb === undefined ? [] : argumentsOf(verb, positional(rest, options), { current, look });
}

async function argumentsOf(
  { takes }: Verb,
  before: readonly string[],
  { current, look }: { current: string; look: () => Promise<Known> },
): Promise<string[]> {
  if (takes.includes('shell')) return starting(current, shells);
  if (takes.includes('sweep')) return before.length === 0 ? starting(current, (await look()).sweeps) : [];
  const query = takes.startsWith('<n>') ? before.slice(1) : before;
  const isQuery = takes.includes('query') && (query === before || before.length > 0);
  if (!isQuery) return [];
  const { sweeps, runs } = await look();
  return [...queryWords(query, current, runs), ...(query.length === 0 ? starting(current, sweeps) : [])];
}

/** Whole words: what stands before the completed part of the current word is kept. */
function queryWords(before: readonly string[], current: string, runs: readonly RunSummary[]): string[] {
  const text = [...before, current].join(' ');
  const { from, candidates: found } = completions(text, text.length, runs);
  const kept = current.slice(0, Math.max(0, from - (text.length - current.length)));
  return found.map((candidate) => kept + candidate);
}

/** Without the options and their values. */
function positional(words: readonly string[], options: readonly VerbOption[]): string[] {
  return words.filter((word, index) => {
    const option = optionOf(words[index - 1] ?? '', options);
    return !word.startsWith('-') && !(option !== undefined && / [<[]/.test(option.flags));
  });
}

function optionOf(word: string, options: readonly VerbOption[]): VerbOption | undefined {
  return options.find(({ flags }) => flags.split(/[ ,]+/).includes(word));
}

function longFlags({ flags }: VerbOption): string[] {
  return flags.split(/[ ,]+/).filter((flag) => flag.startsWith('--'));
}

function starting(current: string, words: readonly string[]): string[] {
  return words.filter((word) => word.startsWith(current));
}
