import { UserError } from '../base/user-error.js';
import { didYouMean } from '../text/nearest.js';
import { runTest } from './match.js';
import type { RunQuery } from './query.js';
import { type Field, fields, type QueriedRun } from './words.js';

/**
 * Refuses a query about something that no run has: a misspelt key would select no run, or with `not` all of them.
 *
 * @throws {UserError} With the nearest known key or word.
 */
export function checkRunQuery(query: RunQuery, runs: readonly QueriedRun[]): void {
  if (runs.length === 0) return;
  switch (query.kind) {
    case 'all':
    case 'any':
      return query.parts.forEach((part) => checkRunQuery(part, runs));
    case 'not':
      return checkRunQuery(query.part, runs);
    case 'value':
      return checkKey(query.key, runs);
    case 'field':
      return query.choices.forEach((choice) => checkChoice(query.field, choice, runs));
    default:
  }
}

/** Names of the parameters, then of the metrics, of all runs. */
export function keysOf(runs: readonly QueriedRun[]): string[] {
  const keys = new Set<string>();
  for (const { parameters } of runs) for (const key in parameters) keys.add(key);
  for (const { metrics } of runs) for (const key in metrics) keys.add(key);
  return [...keys];
}

function checkKey(key: string, runs: readonly QueriedRun[]): void {
  if (runs.some(({ parameters, metrics }) => Object.hasOwn(parameters, key) || Object.hasOwn(metrics, key))) return;
  throw new UserError(`No run has a parameter or a metric \`${key}\`.`, didYouMean(key, keysOf(runs)));
}

/** Fields whose values are checked: they do not change while a run lives, unlike its state or slot, and can be misspelt. */
const lasting: readonly Field[] = ['group', 'subgroup', 'sweep', 'tag'];

function checkChoice(field: Field, choice: string, runs: readonly QueriedRun[]): void {
  if (!lasting.includes(field) || runs.some(runTest({ kind: 'field', field, choices: [choice] }, 0))) return;
  const known = new Set(runs.flatMap((run) => fields[field].read(run)).filter((text) => text !== ''));
  throw new UserError(`There is no ${field} \`${choice}\`.`, didYouMean(choice, [...known]));
}
