import { anyParameterOf } from '../base/scalar.js';
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
      return void requiredKey(query.key, runs);
    case 'field':
      return query.choices.forEach((choice) => checkChoice(query.field, choice, runs));
    default:
  }
}

/**
 * The parameter or metric that a key means.
 *
 * @throws {UserError} When no run has it, or several are meant.
 */
export function requiredKey(key: string, runs: readonly QueriedRun[]): string {
  const [meant, ...others] = meantKeys(key, runs);
  if (meant === undefined)
    throw new UserError(`No run has a parameter or a metric \`${key}\`.`, didYouMean(key, keysOf(runs)));
  if (others.length === 0) return meant;
  throw new UserError(
    `${others.length + 1} parameters and metrics end with \`${key}\`.`,
    `Write one of them whole: ${[meant, ...others].join(', ')}.`,
  );
}

/** Fields whose values are checked: they do not change while a run lives, unlike its state or slot, and can be misspelt. */
const lasting: readonly Field[] = ['group', 'subgroup', 'sweep', 'tag'];

function checkChoice(field: Field, choice: string, runs: readonly QueriedRun[]): void {
  if (!lasting.includes(field) || runs.some(runTest({ kind: 'field', field, choices: [choice] }, 0))) return;
  const known = new Set(runs.flatMap((run) => fields[field].read(run)).filter((text) => text !== ''));
  throw new UserError(`There is no ${field} \`${choice}\`.`, didYouMean(choice, [...known]));
}

/** Names of the parameters, planned and declared, then of the metrics, of all runs. */
export function keysOf(runs: readonly QueriedRun[]): string[] {
  const keys = new Set<string>();
  for (const { parameters } of runs) for (const key in parameters) keys.add(key);
  for (const { declared } of runs) for (const key in declared) keys.add(key);
  for (const { metrics } of runs) for (const key in metrics) keys.add(key);
  return [...keys];
}

/**
 * The parameters and metrics that a key may mean: itself, where a run has it; else those that end with it behind a slash or a point
 * (`eval/val_loss` of `val_loss`).
 */
export function meantKeys(key: string, runs: readonly QueriedRun[]): string[] {
  const isOf = (run: QueriedRun) => anyParameterOf(run, key) !== undefined || Object.hasOwn(run.metrics, key);
  if (runs.some(isOf)) return [key];
  return keysOf(runs).filter((name) => name.endsWith(`/${key}`) || name.endsWith(`.${key}`));
}

/** What a key means, where that is clear; else it stays what it is. */
export function meantKey(key: string, runs: readonly QueriedRun[]): string {
  const [only, ...others] = meantKeys(key, runs);
  return only === undefined || others.length > 0 ? key : only;
}
