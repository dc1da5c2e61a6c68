import type { RunSummary } from '../client/fleet.js';
import { completions } from '../query/completions.js';
import { shellQuote } from '../text/shell-words.js';
import { answerNames } from './answers/answer-table.js';
import { knownRuns, type KnownRuns } from './known-runs.js';
import { runsDirectory } from './options.js';
import { print } from './terminal.js';
import { launchOptions } from './verb-options.js';
import { verbs } from './verb-table.js';
import type { Verb, VerbOption } from './verb.js';

/**
 * `memrl-tui __complete SHELL LINE`: prints one completion on each line for the word at the end of the line. Prints nothing when it
 * fails: a message would appear within the typed text.
 */
export async function complete(shell: string, line: string): Promise<number> {
  const typed = typedLine(line);
  const runsAt = typed.words.lastIndexOf('--runs');
  const look = async () => knownRuns(runsDirectory(runsAt < 0 ? undefined : typed.words[runsAt + 1]), PATIENCE_MS);
  const words = await candidates(typed, { verbs, launchOptions }, look).catch(() => []);
  print(forShell(shell, words, typed));
  return 0;
}

/** Time limit after Tab, ms. */
const PATIENCE_MS = 200;

type Grammar = { readonly verbs: readonly Verb[]; readonly launchOptions: readonly VerbOption[] };

/** Words for the argument of a verb, where there are only these, by what it takes. */
const listedArguments: Readonly<Record<string, readonly string[]>> = {
  '<shell>': ['bash', 'zsh', 'fish'],
  '[answer]': answerNames,
};

/** Completions of the word at the cursor, as whole words. Empty: it is a file name, or unknown. */
export async function candidates(
  { words, current }: TypedLine,
  { verbs, launchOptions }: Grammar,
  look: () => Promise<KnownRuns>,
): Promise<string[]> {
  const [, first, ...rest] = words;
  if (first === undefined && !current.startsWith('-'))
    return starting(
      current,
      verbs.map(({ name }) => name),
    );
  const verb = verbs.find((each) => isNamed(each, first));
  const options = verb?.options ?? launchOptions;
  const asked = optionOf(words.at(-1)!, options);
  if (asked !== undefined && / [<[]/.test(asked.flags)) return starting(current, asked.words ?? []);
  if (isSigned(current, verb)) return signedTags(current, (await look()).runs);
  return current.startsWith('-')
    ? starting(current, options.flatMap(longFlags))
    : argumentsOf(verb, positional(rest, options), { current, look });
}

function isNamed({ name, earlier = [] }: Verb, word: string | undefined): boolean {
  return [name, ...earlier].some((known) => known === word);
}

async function argumentsOf(
  verb: Verb | undefined,
  before: readonly string[],
  { current, look }: { current: string; look: () => Promise<KnownRuns> },
): Promise<string[]> {
  if (verb === undefined) return [];
  const { takes } = verb;
  const listed = listedArguments[takes];
  if (listed !== undefined) return starting(current, listed);
  if (takes.includes('sweep')) return before.length === 0 ? starting(current, (await look()).sweeps) : [];
  const query = takes.startsWith('<n>') ? before.slice(1) : before.filter((word) => !word.startsWith('+'));
  const isQuery = takes.includes('query') && (!takes.startsWith('<n>') || before.length > 0);
  if (!isQuery) return [];
  const { sweeps, runs } = await look();
  // A sweep may have no known runs.
  const names = query.length === 0 ? starting(current, sweeps) : [];
  return [...new Set([...queryWords(query, current, runs), ...names])];
}

function isSigned(current: string, verb: Verb | undefined): boolean {
  return verb?.takesSigned === true && /^[+-](?!-)/.test(current);
}

/** `+good` for tags that some run has. */
function signedTags(current: string, runs: readonly RunSummary[]): string[] {
  const tags = new Set(runs.flatMap(({ annotation }) => annotation?.tags ?? []));
  return starting(
    current,
    [...tags].map((tag) => `${current.charAt(0)}${tag}`),
  );
}

/** Whole words, in which the part before the completed one is kept. */
function queryWords(before: readonly string[], current: string, runs: readonly RunSummary[]): string[] {
  const text = [...before, current].join(' ');
  const { from, candidates: found } = completions(text, text.length, runs);
  const kept = current.slice(0, Math.max(0, from - (text.length - current.length)));
  return found.map((candidate) => kept + candidate);
}

/** The words without options and their values. */
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

/** The words of a line up to the cursor, as a shell splits them. */
type TypedLine = {
  /** Finished words without their quotes, the program first. */
  readonly words: readonly string[];
  /** The word at the cursor, without quotes; empty after a blank. */
  readonly current: string;
  /** The open quote at the cursor; null: none. */
  readonly quote: '"' | "'" | null;
};

/** Pieces of a line: an escaped character, a quoted text that may be open, blanks, or other text. */
const pieces = /\\[^]?|'[^']*(?:'|$)|"(?:[^"\\]|\\[^])*(?:"|\\?$)|\s+|[^\s'"\\]+/g;

/** Splits the text before the cursor. Accepts any text, as it is unfinished. */
export function typedLine(line: string): TypedLine {
  const words: string[] = [];
  let current = '';
  let quote: TypedLine['quote'] = null;
  for (const [piece] of line.matchAll(pieces)) {
    if (/^\s/.test(piece)) {
      if (current !== '') words.push(current);
      current = '';
    } else current += meaning(piece);
    quote = openQuote(piece);
  }
  return { words, current, quote };
}

function meaning(piece: string): string {
  if (piece.startsWith("'")) return piece.replaceAll("'", '');
  const inside = piece.startsWith('"') ? piece.slice(1, openQuote(piece) === null ? -1 : undefined) : piece;
  return inside.replace(/\\([^]?)/g, '$1');
}

function openQuote(piece: string): TypedLine['quote'] {
  if (/^'[^']*$/.test(piece)) return "'";
  return /^"(?:[^"\\]|\\[^])*\\?$/.test(piece) ? '"' : null;
}

/** Characters after which bash begins a new word for completion, though the command has none there. */
const bashBreak = /^.*[:=<>]/;

/**
 * Completions in the form that the shell expects in place of the word at the cursor. zsh and fish quote them; bash inserts them
 * unchanged, and only expects the part after the last `:` or `=`.
 */
export function forShell(shell: string, words: readonly string[], { current, quote }: TypedLine): string[] {
  if (shell !== 'bash' || quote !== null) return [...words];
  const kept = bashBreak.exec(current)?.[0] ?? '';
  return words.filter((word) => word.startsWith(kept)).map((word) => quoted(word.slice(kept.length)));
}

function quoted(word: string): string {
  // A field without its value needs no quotes, as shells accept a colon.
  return /^[\w:=.,/+@%*!-]*$/.test(word) ? word : shellQuote([word]);
}
