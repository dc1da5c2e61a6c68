import { anyParameterOf } from '../base/scalar.js';
import { keysOf } from './check.js';
import { LONGEST_TYPED } from './parser.js';
import { quote, valueText } from './text.js';
import { everyRun, factNames, fieldNames, fields, isField, type QueriedRun } from './words.js';

/** The texts that may replace those from character `from` up to the cursor. */
export type Completion = { readonly from: number; readonly candidates: readonly string[] };

/** Limit on the number of candidates, more than anyone reads. */
const MOST = 200;

/**
 * The completions of the word at the cursor: a field, a key, or the name of a sweep, a group or a run; after `group:` or `N=` one
 * of the existing values. The likeliest come first.
 *
 * @param cursor Number of characters before the cursor.
 */
export function completions(text: string, cursor: number, runs: readonly QueriedRun[]): Completion {
  if (cursor > LONGEST_TYPED) return { from: cursor, candidates: [] };
  const { from, typed } = wordAt(text.slice(0, cursor));
  const value = /^(?:([a-z]+):|([^=<>!:"]+)(?:!=|=))(?:[^,]*,)*/i.exec(typed);
  if (value === null) return { from, candidates: startingWith(typed, words(runs)) };
  const [before, field, key] = value;
  const given = typed.slice(before.length);
  const known = field !== undefined ? fieldValues(field.toLowerCase(), runs) : keyValues(key!, runs);
  return { from: from + before.length, candidates: startingWith(given, known) };
}

/** The unfinished last word; an open quote belongs to it. */
function wordAt(text: string): { from: number; typed: string } {
  const typed = /(?:"(?:[^"\\]|\\[^])*(?:"|$)|[^\s()"])*$/.exec(text)![0];
  const negated = typed.startsWith('!') ? 1 : 0;
  return { from: text.length - typed.length + negated, typed: typed.slice(negated) };
}

function words(runs: readonly QueriedRun[]): string[] {
  const keys = [...factNames, ...keysOf(runs).map(quoted)];
  return [
    ...fieldNames.map((field) => `${field}:`),
    ...keys,
    everyRun,
    'not',
    'or',
    ...new Set([...runs.map(({ sweep }) => sweep), ...runs.map(({ group }) => group), ...runs.map(({ name }) => name)]),
  ];
}

function fieldValues(field: string, runs: readonly QueriedRun[]): string[] {
  if (!isField(field)) return [];
  const { words: closed, read, offered = whole } = fields[field];
  const present = new Set(runs.flatMap((run) => read(run).map(offered)).filter((text) => text !== ''));
  return [...(closed ?? []).filter((word) => !present.has(word)), ...[...present].map(quoted)].sort(
    byPresence(present),
  );
}

const whole = (text: string): string => text;

/** Sorts values that some run has before other possible ones. */
function byPresence(present: ReadonlySet<string>): (a: string, b: string) => number {
  return (a, b) => Number(present.has(b)) - Number(present.has(a));
}

function keyValues(key: string, runs: readonly QueriedRun[]): string[] {
  const own = runs.map((run) => anyParameterOf(run, key)).filter((value) => value !== undefined);
  return [...new Set(own.map(valueText))].map(quoted);
}

/** Quotes a text that the language would read as something else. */
function quoted(text: string): string {
  return /^[^\s()"=<>!:,]+$/.test(text) ? text : quote(text);
}

function startingWith(typed: string, candidates: readonly string[]): string[] {
  const start = typed.replace(/^"/, '').toLowerCase();
  const fits = (candidate: string) => candidate.replace(/^"/, '').toLowerCase().startsWith(start);
  return candidates.filter((candidate) => candidate !== typed && fits(candidate)).slice(0, MOST);
}
