import {
  fits,
  keyedVerbs,
  orderOf,
  refusalOf,
  rowOf,
  type RunOrder,
  type RunVerb,
  runVerbNames,
} from '../../../protocol/run-verbs.js';
import { counted } from '../../../text/numbers.js';
import { UserError } from '../../../base/user-error.js';
import { runsChosenBy } from '../../../query/bare-words.js';
import type { RunEffect } from '../../state/effect.js';
import { queryProblem } from '../query-problem.js';
import { graceWords } from '../../model/grace.js';
import type { KeyContext } from '../../keys/key-context.js';
import { open, type PaletteEntry, problem, type Reading } from './palette-entry.js';
import type { RunSummary } from '../../state/port.js';
import { capital, refusalWithKeys } from '../../keys/run-verb-handler.js';
import type { UiState } from '../../state/ui-state.js';

/** Verbs that act on runs: those of a query, otherwise the marked ones, otherwise the selection. */
export const runEntries: readonly PaletteEntry[] = runVerbNames.map((verb): PaletteEntry => {
  const { help, takes } = rowOf(verb);
  const command = verb === 'type' ? verb : (keyedVerbs.find((each) => each === verb) ?? null);
  const shared = { name: verb, help, command, words: null };
  if (takes === 'number')
    return {
      ...shared,
      takes: 'N [runs]',
      queryAt: afterNumber,
      read: (rest, ui, at) => readNumber(verb, rest, ui, at),
    };
  // All that follows is the line, so it goes to the marked runs or the selected one.
  if (takes === 'text')
    return { ...shared, takes: 'LINE', queryAt: null, read: (rest, ui, at) => read(orderOf(verb, rest), '', ui, at) };
  return { ...shared, takes: '[runs]', queryAt: () => 0, read: (rest, ui, at) => read(orderOf(verb), rest, ui, at) };
});

function afterNumber(rest: string): number {
  return /^\S*\s*/.exec(rest)![0].length;
}

function readNumber(verb: RunVerb, rest: string, ui: UiState, at: KeyContext): Reading {
  const [, number, query = ''] = /^\s*([+-]?\d{1,9})(?:\s+([^]*))?$/.exec(rest) ?? [];
  if (number !== undefined) return read(orderOf(verb, Number(number)), query, ui, at);
  if (rest.trim() === '') return open(`${verb}: a whole number comes first, for example 5; then which runs.`);
  return problem(`${verb}: a whole number comes first, for example \`${verb} 5 seed=0\`.`);
}

function read(order: RunOrder, query: string, ui: UiState, at: KeyContext): Reading {
  const chosen = chosenBy(query, ui, at);
  if (chosen.kind === 'problem') return chosen;
  const runs = chosen.runs.filter(fits(order));
  if (runs.length === 0) return problem(`${order.verb}: ${noneOf(chosen, order, ui, at)}.`);
  const what = countedRuns({ ...chosen, runs });
  const effect = runEffect(order, { ids: runs.map(({ id }) => id), what });
  const said = preview(order, runs, chosen);
  if (!rowOf(order.verb).asks) return { kind: 'ready', said, act: (now) => ({ ui: now, order: effect }) };
  const question = `${capital(order.verb)} ${what}?`;
  const detail = order.verb === 'kill' ? graceWords(runs, at.sweeps) : null;
  return {
    kind: 'ready',
    said,
    // The confirmation dialog opens after Enter.
    act: (now) => ({ ui: { ...now, dialog: { kind: 'confirm', question, detail, yes: ['y'], order: effect } } }),
  };
}

function runEffect(order: RunOrder, on: Pick<RunEffect, 'ids' | 'what'>): RunEffect {
  if (order.verb === 'priority') return { type: order.verb, ...on, priority: order.priority };
  return order.verb === 'type' ? { type: order.verb, ...on, text: order.text } : { type: order.verb, ...on };
}

type ChosenRuns = { readonly kind: 'runs'; readonly runs: readonly RunSummary[]; readonly by: string };
type Chosen = ChosenRuns | Extract<Reading, { kind: 'problem' }>;

/** Runs matching a query; without one the marked runs, the selected run, or the shown runs of the selected group. */
export function chosenBy(query: string, ui: UiState, at: KeyContext): Chosen {
  if (query.trim() !== '') return queried(query, at);
  if (ui.marks.size > 0) return { kind: 'runs', runs: at.runs.filter(({ id }) => ui.marks.has(id)), by: '(marked)' };
  const node = at.rows[at.index];
  if (node === undefined) return { kind: 'problem', said: 'There is no run here.' };
  if (node.kind === 'run') return { kind: 'runs', runs: [node.run], by: '(the selected one)' };
  return { kind: 'runs', runs: node.runs, by: `of ${node.label}` };
}

function queried(query: string, at: KeyContext): Chosen {
  const by = `(${query.trim()})`;
  try {
    const runs = runsChosenBy(query.trim().split(/\s+/), at.runs, at.now);
    return runs.length === 0
      ? { kind: 'problem', said: `No run matches ${query.trim()}.` }
      : { kind: 'runs', runs, by };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const wrong = queryProblem(query, at.runs) ?? { problem: error.message, fix: error.fix };
    return { kind: 'problem', said: `${wrong.problem} ${wrong.fix}` };
  }
}

/** Why there is nothing to do: `A_x_s1 is done; …`, `none of 15 runs of A is queued or running`. */
function noneOf({ runs, by }: ChosenRuns, order: RunOrder, { keys }: UiState, { now }: KeyContext): string {
  const [run, ...others] = runs;
  const refusal = run === undefined || others.length > 0 ? null : refusalOf(order, run);
  if (refusal !== null) return `${run!.name} ${refusalWithKeys(refusal, run!, keys, now)}`;
  return `none of ${counted(runs.length, 'run')} ${by} ${rowOf(order.verb).suits}`;
}

/** `3 runs (marked)` */
export function countedRuns({ runs, by }: ChosenRuns): string {
  return `${counted(runs.length, 'run')} ${by}`;
}

const mostNames = 3;

/** `12 runs: A_x_s0, A_x_s1, A_y and 9 more` */
export function namesOf(runs: readonly RunSummary[]): string {
  const names = runs.slice(0, mostNames).map(({ name }) => name);
  const more = runs.length > mostNames ? ` and ${runs.length - mostNames} more` : '';
  return `${counted(runs.length, 'run')}: ${names.join(', ')}${more}`;
}

function previewVerb(order: RunOrder): string {
  if (order.verb === 'priority') return `priority ${order.priority} for`;
  return order.verb === 'type' ? 'type into' : order.verb;
}

/** `kill 12 runs: A_x_s0, A_x_s1, A_y … · 3 others stay as they are` */
function preview(order: RunOrder, runs: readonly RunSummary[], { runs: chosen }: ChosenRuns): string {
  const verb = previewVerb(order);
  const others = chosen.length - runs.length;
  const rest =
    others === 0 ? '' : ` · ${others === 1 ? '1 other stays as it is' : `${others} others stay as they are`}`;
  return `${verb} ${namesOf(runs)}${rest}`;
}
