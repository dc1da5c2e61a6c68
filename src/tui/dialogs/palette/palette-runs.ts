import { type AnnotationChange, noteProblem, tagProblem } from '../../../base/annotation.js';
import { hasEnded } from '../../../base/run-words.js';
import { UserError } from '../../../base/user-error.js';
import type { RequestedSlots } from '../../../client/fleet.js';
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
import { runsChosenBy } from '../../../query/bare-words.js';
import { cleanText, shortened } from '../../../text/display-text.js';
import { counted } from '../../../text/numbers.js';
import { sweepAt } from '../../keys/editor-handler.js';
import type { KeyContext, Pressed } from '../../keys/key-context.js';
import { capital, graceWords, refusalWithKeys } from '../../keys/run-verb-handler.js';
import type { Command } from '../../state/command.js';
import type { RunEffect, UiState } from '../../state/ui-state.js';
import type { RunSummary } from '../../state/port.js';
import { type Offer, queryProblem } from '../../state/line-editor.js';

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
  const sweep = order.verb === 'kill' ? at.sweeps.find(({ name }) => name === query.trim()) : undefined;
  if (sweep !== undefined) return readSweep(sweep.name, at);
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
function countedRuns({ runs, by }: ChosenRuns): string {
  return `${counted(runs.length, 'run')} ${by}`;
}

const mostNames = 3;

/** `12 runs: A_x_s0, A_x_s1, A_y and 9 more` */
function namesOf(runs: readonly RunSummary[]): string {
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

/** Commands that annotate runs: those of a query, otherwise the marked ones, otherwise the selection. */
export const annotationEntries: readonly PaletteEntry[] = [
  {
    ...{ name: 'star', takes: '[runs]', help: 'star runs; clean leaves them alone', command: 'star', words: null },
    queryAt: () => 0,
    read: (rest, ui, at) => reading('star', 'Starring', rest, { ui, at, change: { starred: true } }),
  },
  {
    ...{ name: 'unstar', takes: '[runs]', help: 'take the stars of runs away', command: null, words: null },
    queryAt: () => 0,
    read: (rest, ui, at) => reading('unstar', 'Unstarring', rest, { ui, at, change: { starred: false } }),
  },
  {
    ...{
      name: 'tag',
      takes: '+tag -tag [runs]',
      help: 'add tags to runs, and remove tags',
      command: null,
      words: null,
    },
    queryAt: (rest) => /^\s*(?:[+-]\S*\s+)*/.exec(rest)![0].length,
    read: readTags,
  },
  {
    ...{ name: 'note', takes: 'text', help: 'write a note on the marked runs or the selection', command: null },
    ...{ words: null, queryAt: null, read: readNote },
  },
  {
    ...{ name: 'remove-note', takes: '[runs]', help: 'remove the notes of runs', command: null, words: null },
    queryAt: () => 0,
    read: (rest, ui, at) =>
      reading('remove the note of', 'Removing the note of', rest, { ui, at, change: { note: null } }),
  },
];

function readTags(rest: string, ui: UiState, at: KeyContext): Reading {
  const signed = /^\s*((?:[+-]\S*\s*)*)/.exec(rest)![1]!.trim();
  if (signed === '') return open(`tag: which tags, for example +good -bad; then which runs.${known(at)}`);
  const words = signed.split(/\s+/);
  for (const word of words) {
    const wrong = tagProblem(word.slice(1));
    if (wrong !== null) return problem(`${cleanText(shortened(word))} is not a tag: ${wrong}.`);
  }
  const having = (sign: string) => words.filter((word) => word.startsWith(sign)).map((word) => word.slice(1));
  const query = rest.slice(rest.indexOf(signed) + signed.length);
  return reading(`tag ${signed}:`, 'Tagging', query, { ui, at, change: { add: having('+'), remove: having('-') } });
}

/** Existing tags, so that users need not remember them. */
function known({ runs }: KeyContext): string {
  const tags = [...new Set(runs.flatMap(({ annotation }) => annotation?.tags ?? []))];
  return tags.length === 0 ? '' : ` There are ${cleanText(shortened(tags.join(', ')))}.`;
}

function readNote(rest: string, ui: UiState, at: KeyContext): Reading {
  const text = rest.trim();
  if (text === '') return open(`note: the text. ${present(ui, at)}`);
  const wrong = noteProblem(text);
  if (wrong !== null) return problem(`note: ${wrong}.`);
  return reading('note on', 'Writing a note on', '', { ui, at, change: { note: text } });
}

/** The runs that will be annotated, and their current annotation. */
function present(ui: UiState, at: KeyContext): string {
  const chosen = chosenBy('', ui, at);
  if (chosen.kind === 'problem') return chosen.said;
  const notes = [...new Set(chosen.runs.flatMap(({ annotation }) => annotation?.note ?? []))];
  const now =
    notes.length === 0 ? '' : notes.length === 1 ? ` now: ${cleanText(shortened(notes[0]!))}` : ' several now';
  return `For ${countedRuns(chosen)};${now === '' ? ' none yet' : now}.`;
}

type Change = { readonly ui: UiState; readonly at: KeyContext; readonly change: AnnotationChange };

function reading(words: string, doing: string, query: string, { ui, at, change }: Change): Reading {
  const chosen = chosenBy(query, ui, at);
  if (chosen.kind === 'problem') return chosen;
  const ids = chosen.runs.map(({ id }) => id);
  const what = countedRuns(chosen);
  return {
    kind: 'ready',
    said: `${words} ${namesOf(chosen.runs)}`,
    act: (now) => ({ ui: now, order: { type: 'annotate', ids, change, doing: `${doing} ${what}` } }),
  };
}

/** Commands for the machine and for whole sweeps. */
export const machineEntries: readonly PaletteEntry[] = [
  entry('slots', 'N', 'number of CPU slots, that is runs at the same time', (rest, _ui, { status }) =>
    rest === ''
      ? open(`slots: there are ${status.cpu.slots}, ${status.cpu.busy} of them busy; how many do you want?`)
      : wholeNumber('slots', rest, 0, (slots) => grant(`${slots} slots instead of ${status.cpu.slots}`, { slots })),
  ),
  entry('use-gpus', 'LIST', 'use these GPUs only: 0,1 or none', (rest) => readGpus(rest)),
  entry('per-gpu', 'N', 'number of runs that share one GPU', (rest) =>
    rest === ''
      ? open('per-gpu: how many runs may share one GPU?')
      : wholeNumber('per-gpu', rest, 1, (perGpu) => grant(`${counted(perGpu, 'run')} on each GPU`, { perGpu })),
  ),
  { ...entry('drain', 'GPU', 'no new runs start on these GPUs', draining(true)), command: 'drain' },
  entry('undrain', 'GPU', 'these GPUs accept runs again', draining(false)),
  ofSweep(entry('export', '[sweep]', 'parameters and metrics of all runs as a table, for other programs', readExport)),
];

type Read = PaletteEntry['read'];

function entry(name: string, takes: string, help: string, read: Read): PaletteEntry {
  return {
    ...{ name, takes, help, command: null, words: null, queryAt: null },
    read: (rest, ui, at) => read(rest.trim(), ui, at),
  };
}

function ofSweep(about: PaletteEntry): PaletteEntry {
  return { ...about, words: sweepNames };
}

function sweepNames(_ui: UiState, { sweeps }: KeyContext): string[] {
  return sweeps.map(({ name }) => name);
}

function wholeNumber(name: string, text: string, least: number, then: (value: number) => Reading): Reading {
  const value = Number(text);
  if (/^\d{1,6}$/.test(text) && value >= least) return then(value);
  return problem(`${name} ${text} is not a whole number of at least ${least}; write for example \`${name} 2\`.`);
}

function grant(said: string, wish: RequestedSlots): Reading {
  return { kind: 'ready', said, act: (ui) => ({ ui, order: { type: 'set-slots', wish } }) };
}

function readGpus(rest: string): Reading {
  if (rest === '') return open('use-gpus: which, in order of preference, for example 0,1; or none, for the CPU');
  if (rest === 'none') return grant('use no GPU', { gpus: 'none' });
  const gpus = indexesIn(rest);
  if (gpus === null) return problem(`use-gpus ${rest} is not a list of GPUs; write for example \`use-gpus 0,1\`.`);
  return grant(`use GPU ${gpus.join(', ')} only`, { gpus });
}

function draining(drained: boolean): Read {
  const verb = drained ? 'drain' : 'undrain';
  return (rest, _ui, { status }) => {
    if (status.gpus.length === 0) return problem('There are no GPUs here.');
    const known = status.gpus.map(({ index }) => index);
    if (rest === '') return open(`${verb}: which GPU? There are ${known.join(', ')}.`);
    const gpus = indexesIn(rest);
    const unknown = gpus?.find((gpu) => !known.includes(gpu));
    if (gpus === null || unknown !== undefined) {
      return problem(`There is no GPU ${unknown ?? rest}; there are ${known.join(', ')}.`);
    }
    const runs = status.gpus.filter(({ index }) => gpus.includes(index)).flatMap((gpu) => gpu.runs);
    const stay = drained && runs.length > 0 ? `; the ${counted(runs.length, 'run')} there go on` : '';
    return {
      kind: 'ready',
      said: `${verb} GPU ${gpus.join(', ')}${stay}`,
      act: (ui) => ({ ui, order: { type: 'drain', gpus, drained } }),
    };
  };
}

/** Parses `0`, `0,1` or `0 1`; null: anything else. */
function indexesIn(text: string): number[] | null {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  return parts.every((part) => /^\d{1,4}$/.test(part)) ? [...new Set(parts.map(Number))] : null;
}

/** Ends a sweep as a whole: it gets no further runs, either. */
function readSweep(sweep: string, at: KeyContext): Reading {
  const alive = at.runs.filter((run) => run.sweep === sweep && !hasEnded(run.state));
  if (alive.length === 0) return problem(`All runs of ${sweep} have ended.`);
  const question = `Kill the sweep ${sweep}: ${counted(alive.length, 'run')} of it?`;
  const detail = graceWords(alive, at.sweeps);
  return {
    kind: 'ready',
    said: `kill ${sweep}: ${counted(alive.length, 'run')} that are queued or running`,
    act: (ui) => ({
      ui: { ...ui, dialog: { kind: 'confirm', question, detail, yes: ['y'], order: { type: 'stop-sweep', sweep } } },
    }),
  };
}

function readExport(rest: string, _ui: UiState, at: KeyContext): Reading {
  const sweep = rest === '' ? sweepAt(at) : at.sweeps.find(({ name }) => name === rest);
  if (sweep === undefined) return problem(`There is no sweep ${rest}; there are ${sweepNames(_ui, at).join(', ')}.`);
  // The runs directory is the parent of the sweep's directory.
  const runs = sweep.directory.replace(/[/\\][^/\\]*$/, '');
  const text = `In a shell: memrl-tui export ${sweep.name} --runs ${runs} > ${sweep.name}.csv`;
  return { kind: 'ready', said: text, act: (ui) => ({ ui: { ...ui, note: { text, tone: 'good' } } }) };
}

/** One command of the palette. */
export type PaletteEntry = {
  readonly name: string;
  /** Syntax of the arguments for the user: `[runs]`, `N [runs]`; empty: none. */
  readonly takes: string;
  readonly help: string;
  /** The command of the key table that does the same to the selection; null: no key does. */
  readonly command: Command | null;
  /** Possible arguments, if there is a fixed set of words; null: there is none. */
  readonly words: ((ui: UiState, at: KeyContext) => readonly string[]) | null;
  /** Where in the arguments a query for runs begins; null: there is none. */
  readonly queryAt: ((rest: string) => number) | null;
  /** Interprets the arguments: what Enter would do now. */
  readonly read: (rest: string, ui: UiState, at: KeyContext) => Reading;
};

/** What a command would do, before it is executed. */
export type Reading =
  /** `said`: what will be done, and to how many runs. */
  | { readonly kind: 'ready'; readonly said: string; readonly act: (ui: UiState) => Pressed }
  /** More arguments are required. */
  | { readonly kind: 'open'; readonly said: string }
  | { readonly kind: 'problem'; readonly said: string };

/** What the palette shows for the typed text. */
export type PaletteView =
  /** Matching commands, best match first; `reading`: what the chosen one would do. */
  | { readonly kind: 'commands'; readonly entries: readonly PaletteEntry[]; readonly reading: Reading | null }
  /** The command is unambiguous; `offer`: possible completions at the cursor. */
  | { readonly kind: 'arguments'; readonly entry: PaletteEntry; readonly offer: Offer; readonly reading: Reading };

export function problem(said: string): Reading {
  return { kind: 'problem', said };
}

export function open(said: string): Reading {
  return { kind: 'open', said };
}
