/**
 * The filter language, the same in the window and on the command line.
 *
 *   dense                 the name holds "dense" (`*` stands for anything)
 *   status:failed,lost    the state is one of these, or begins so; also group: subgroup: sweep: slot: name:
 *   N=64  lr>=1e-4        a parameter, or else a last metric value, compared
 *   !term  -term          not
 * Terms beside each other must all hold. Quote a value with spaces: "group:two words".
 */
import { type RunSummary } from '../port.js';
import { statesInOrder } from './state-look.js';

export type Query = { readonly matches: (run: RunSummary) => boolean };

/** What is wrong with a query, in words. */
export type QueryProblem = { readonly problem: string };

type Test = (run: RunSummary) => boolean;

const stateWords: readonly string[] = statesInOrder;

/** Reads a query; an empty one matches every run. */
export function parseQuery(text: string): Query | QueryProblem {
  const tests: Test[] = [];
  for (const word of words(text)) {
    const term = parseTerm(word);
    if (typeof term === 'string') return { problem: term };
    tests.push(term);
  }
  return { matches: (run) => tests.every((test) => test(run)) };
}

/** What of a query that is still being typed can be used: without a last word that is no term yet. */
export function finishedPart(text: string): string {
  const last = /(?:"[^"]*"?|[^\s"])+$/.exec(text)?.[0] ?? '';
  const word = last.replace(/^[!-]/, '');
  const isUnfinished = 'problem' in parseQuery(last) || Object.keys(fields).some((field) => field.startsWith(word));
  return isUnfinished ? text.slice(0, text.length - last.length) : text;
}

/** Splits at spaces outside double quotes; the quotes go. An open quote reaches to the end. */
function words(text: string): string[] {
  return [...text.matchAll(/(?:"[^"]*"?|[^\s"])+/g)]
    .map(([word]) => word.replaceAll('"', ''))
    .filter((word) => word !== '');
}

/** A test, or what is wrong with the word. */
function parseTerm(word: string): Test | string {
  if (/^[!-]./.test(word)) {
    const test = parseTerm(word.slice(1));
    return typeof test === 'string' ? test : (run) => !test(run);
  }
  const comparison = /^([^:=<>!]+)(!=|>=|<=|=|>|<)(.*)$/.exec(word);
  if (comparison !== null) return compare(comparison[1]!, comparison[2]!, comparison[3]!);
  const field = /^([a-z]+):(.*)$/i.exec(word);
  return field === null ? nameHolds(word) : fieldHolds(field[1]!.toLowerCase(), field[2]!);
}

const fields: Record<string, (run: RunSummary) => string> = {
  status: (run) => run.state,
  state: (run) => run.state,
  group: (run) => run.group,
  subgroup: (run) => run.subgroup ?? '',
  sweep: (run) => run.sweep,
  slot: (run) => run.slot ?? '',
  name: (run) => run.name,
};

function fieldHolds(field: string, wanted: string): Test | string {
  const read = fields[field];
  if (read === undefined) return `There is no field "${field}"; there are ${Object.keys(fields).join(', ')}.`;
  const choices = wanted.split(',').filter((choice) => choice !== '');
  if (choices.length === 0) return `${field}: wants a value, as in ${field}:${field === 'status' ? 'failed' : 'A'}.`;
  if (field === 'status' || field === 'state') {
    const unknown = choices.find((choice) => !stateWords.some((word) => word.startsWith(choice.toLowerCase())));
    if (unknown !== undefined) return `There is no state "${unknown}"; there are ${stateWords.join(', ')}.`;
    return ({ state }) => choices.some((choice) => state.startsWith(choice.toLowerCase()));
  }
  const patterns = choices.map((choice) => glob(choice, 'whole'));
  return (run) => patterns.some((pattern) => pattern.test(read(run)));
}

function nameHolds(word: string): Test {
  const pattern = glob(word, 'part');
  return (run) => pattern.test(run.name);
}

function glob(text: string, extent: 'whole' | 'part'): RegExp {
  const body = text.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(extent === 'whole' ? `^${body}$` : body, 'i');
}

function compare(key: string, operator: string, wanted: string): Test | string {
  if (wanted === '') return `${key}${operator} wants a value, as in ${key}${operator}64.`;
  if (operator === '=' || operator === '!=') {
    const equal: Test = (run) => isEqual(valueOf(run, key), wanted);
    return operator === '=' ? equal : (run) => !equal(run);
  }
  const limit = Number(wanted);
  if (Number.isNaN(limit)) return `${key}${operator}${wanted} wants a number after ${operator}.`;
  return (run) => ordered(valueOf(run, key), operator, limit);
}

function valueOf(run: RunSummary, key: string): RunSummary['parameters'][string] | undefined {
  return Object.hasOwn(run.parameters, key) ? run.parameters[key] : run.metrics[key];
}

function isEqual(value: ReturnType<typeof valueOf>, wanted: string): boolean {
  if (value === undefined) return false;
  if (typeof value === 'number' && value === Number(wanted)) return true;
  const text = Array.isArray(value) ? value.join(',') : String(value);
  return text.toLowerCase() === wanted.toLowerCase();
}

function ordered(value: ReturnType<typeof valueOf>, operator: string, limit: number): boolean {
  if (typeof value !== 'number') return false;
  switch (operator) {
    case '>':
      return value > limit;
    case '<':
      return value < limit;
    case '>=':
      return value >= limit;
    default:
      return value <= limit;
  }
}
