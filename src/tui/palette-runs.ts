import { counted } from '../text/numbers.js';
import { type RunVerb, suits, takesPriority } from '../protocol/run-verbs.js';
import { runTest } from '../query/match.js';
import { readRunQuery } from '../query/parser.js';
import { problemOf } from './filter-handler.js';
import type { KeyContext } from './key-context.js';
import { fitting } from './key-target.js';
import { open, type PaletteEntry, problem, type Reading } from './palette-entry.js';
import type { RunId, RunSummary } from './port.js';
import type { UiState } from './ui-state.js';

const abouts: Readonly<Record<RunVerb, string>> = {
  kill: 'end runs: politely, and after their grace by force',
  resume: 'start ended runs again from where they stopped',
  retry: 'try failed runs again, at once',
  hold: 'keep waiting runs from starting',
  release: 'let held runs start again',
  pause: 'make running processes stand still',
  continue: 'let paused runs go on',
};

const keyed = ['kill', 'resume', 'hold', 'pause'] as const;

/** The verbs that act on runs: on those of a query, else on the marks, else on the selection. */
export const runEntries: readonly PaletteEntry[] = [
  ...(Object.keys(abouts) as RunVerb[]).map((verb): PaletteEntry => ({
    name: verb,
    takes: '[runs]',
    help: abouts[verb],
    command: keyed.find((each) => each === verb) ?? null,
    words: null,
    queryAt: () => 0,
    read: (rest, ui, at) => readVerb(verb, rest, ui, at),
  })),
  {
    name: 'priority',
    takes: 'N [runs]',
    help: 'runs of a higher priority start before others',
    command: null,
    words: null,
    queryAt: (rest) => /^\S*\s*/.exec(rest)![0].length,
    read: readPriority,
  },
];

function readVerb(verb: RunVerb, query: string, ui: UiState, at: KeyContext): Reading {
  const chosen = chosenBy(query, ui, at);
  if (chosen.kind === 'problem') return chosen;
  const runs = chosen.runs.filter(suits[verb]);
  if (runs.length === 0) return problem(`${verb}: ${noneOf(chosen, fitting[verb])}.`);
  const ids = runs.map(({ id }) => id);
  const what = `${counted(runs.length, 'run')} ${chosen.by}`;
  const said = preview(verb, runs, chosen);
  if (verb !== 'kill') return { kind: 'ready', said, act: (now) => ({ ui: now, order: { type: verb, ids, what } }) };
  const question = `Kill ${what}?  y: yes · any other key: no`;
  const order = { type: 'kill', ids, what } as const;
  return {
    kind: 'ready',
    said,
    act: (now) => ({ ui: { ...now, dialog: { kind: 'confirm', key: 'y', question, order } } }),
  };
}

function readPriority(rest: string, ui: UiState, at: KeyContext): Reading {
  const [, number, query = ''] = /^\s*([+-]?\d{1,9})(?:\s+([^]*))?$/.exec(rest) ?? [];
  if (number === undefined) {
    if (rest.trim() === '') return open('priority: a whole number comes first, for example 5; then which runs.');
    return problem('priority: a whole number comes first, for example `priority 5 seed=0`.');
  }
  const chosen = chosenBy(query, ui, at);
  if (chosen.kind === 'problem') return chosen;
  const priority = Number(number);
  const runs = chosen.runs.filter((run) => takesPriority(run, priority));
  if (runs.length === 0) return problem(`priority: ${noneOf(chosen, 'has not ended and another priority yet')}.`);
  const ids: readonly RunId[] = runs.map(({ id }) => id);
  const what = `${counted(runs.length, 'run')} ${chosen.by}`;
  return {
    kind: 'ready',
    said: preview(`priority ${priority} for`, runs, chosen),
    act: (now) => ({ ui: now, order: { type: 'priority', ids, what, priority } }),
  };
}

type Chosen =
  | { readonly kind: 'runs'; readonly runs: readonly RunSummary[]; readonly by: string }
  | Extract<Reading, { kind: 'problem' }>;

/** The runs of a query; without one the marked runs, the selected run, or what is shown of the selected group. */
function chosenBy(query: string, ui: UiState, at: KeyContext): Chosen {
  if (query.trim() !== '') return queried(query, at);
  if (ui.marks.size > 0) return { kind: 'runs', runs: at.runs.filter(({ id }) => ui.marks.has(id)), by: '(marked)' };
  const node = at.rows[at.index];
  if (node === undefined) return { kind: 'problem', said: 'There is no run here.' };
  if (node.kind === 'run') return { kind: 'runs', runs: [node.run], by: '(the selected one)' };
  return { kind: 'runs', runs: node.runs, by: `of ${node.label}` };
}

function queried(query: string, at: KeyContext): Chosen {
  const by = `(${query.trim()})`;
  const words = query.trim().split(/\s+/);
  const named = words.map((word) => at.runs.filter(({ id, name }) => name === word || id === word));
  if (named.every(({ length }) => length > 0)) return { kind: 'runs', runs: [...new Set(named.flat())], by };
  const wrong = problemOf(query, at.runs);
  if (wrong !== null) return { kind: 'problem', said: `${wrong.problem} ${wrong.fix}` };
  const read = readRunQuery(query);
  const runs = read.kind === 'problem' ? [] : at.runs.filter(runTest(read, at.now));
  return runs.length === 0 ? { kind: 'problem', said: `No run matches ${query.trim()}.` } : { kind: 'runs', runs, by };
}

/** Why there is nothing to do: `A_x_s1 is done`, `none of 15 runs of A waits or runs`. */
function noneOf({ runs, by }: Extract<Chosen, { kind: 'runs' }>, lacking: string): string {
  const [run, ...others] = runs;
  return others.length === 0 && run !== undefined
    ? `${run.name} is ${run.state}`
    : `none of ${counted(runs.length, 'run')} ${by} ${lacking}`;
}

const mostNames = 3;

/** `kill 12 runs: A_x_s0, A_x_s1, A_y … · 3 others stay as they are` */
function preview(
  verb: string,
  runs: readonly RunSummary[],
  { runs: chosen }: Extract<Chosen, { kind: 'runs' }>,
): string {
  const names = runs.slice(0, mostNames).map(({ name }) => name);
  const more = runs.length > mostNames ? ` and ${runs.length - mostNames} more` : '';
  const others = chosen.length - runs.length;
  const rest =
    others === 0 ? '' : ` · ${others === 1 ? '1 other stays as it is' : `${others} others stay as they are`}`;
  return `${verb} ${counted(runs.length, 'run')}: ${names.join(', ')}${more}${rest}`;
}
