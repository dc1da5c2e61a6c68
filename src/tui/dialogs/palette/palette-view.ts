import { parameterOf } from '../../../base/scalar.js';
import type { Command } from '../../state/command.js';
import { fuzzyScore, ranked } from '../../state/fuzzy.js';
import { chartOptions } from '../../keys/chart-handler.js';
import { type KeyContext, type Pressed, refuse } from '../../keys/key-context.js';
import { keyMapOf } from '../../screens/key-map.js';
import { type EditedLine, type Offer, offerFor } from '../../state/line-editor.js';
import {
  type GroupBy,
  groupingWords,
  initialColumns,
  isValue,
  levelWords,
  type SortBy,
  sortsFor,
  sortWords,
  valueChoices,
  valueColumns,
  withValue,
} from '../../state/list-choice.js';
import {
  annotationEntries,
  machineEntries,
  open,
  type PaletteEntry,
  type PaletteView,
  problem,
  type Reading,
  runEntries,
} from './palette-runs.js';
import { isActing } from '../../keys/key-row.js';
import { runVerbOf } from '../../../protocol/run-verbs.js';
import type { RunSummary } from '../../state/port.js';
import { guideChoices } from '../../state/chart-choice.js';
import { graphicsChoices, keyPresets, themeNames } from '../../state/preferences-port.js';
import type { UiState } from '../../state/ui-state.js';

/** Commands with a choice of words: what the list and the charts show, and how the window looks. */
const choiceEntries: readonly PaletteEntry[] = [
  choice({
    ...{
      name: 'group',
      takes: 'by',
      help: 'group the list by sweep group, state, GPU or a parameter',
      command: 'group',
    },
    words: (_ui, { runs }) => groupChoices(runs).map(levelWords),
    choose: (ui, { runs }, word) => {
      const grouping = [groupChoices(runs).find((by) => levelWords(by) === word)!] as const;
      return noted({ ...ui, grouping }, `Grouped by ${groupingWords(grouping)}.`);
    },
  }),
  choice({
    ...{ name: 'sort', takes: 'by', help: 'sort the runs by this', command: 'sort' },
    words: (ui) => sortsFor(ui.columns ?? initialColumns),
    choose: (ui, { metric }, word) => {
      const sort = { by: sortsFor(ui.columns ?? initialColumns).find((by) => by === word)!, isReversed: false };
      return noted({ ...ui, sort }, `Sorted by ${sortWords(sort, metric)}.`);
    },
  }),
  choice({
    ...{ name: 'metric', takes: 'name', help: 'the metric shown in the list and in the first chart' },
    command: 'metric',
    words: (_ui, { metrics }) => metrics,
    choose: (ui, _at, metric) => noted({ ...ui, metric }, `Metric: ${metric}.`),
  }),
  choice({
    ...{ name: 'value', takes: 'last|best|both|min|max|mean=K|auc|at=X', command: null },
    help: 'what the list shows of each run: its last value, the best of the objective, the mean of the last K, the area under the curve …',
    words: () => [...valueChoices, 'at='],
    isWord: (word) => valueColumns(word) !== null,
    opens: (word) =>
      /^(at|mean)[ =]*$/.test(word)
        ? 'value at=1000: the value at that place of the x axis; mean=20: of the last 20'
        : null,
    choose: chooseValue,
  }),
  choice({
    ...{ name: 'x-axis', takes: 'name', help: 'x axis of the charts', command: 'x-axis' },
    words: (_ui, at) => axes(at).map(({ label }) => label),
    choose: (ui, at, word) => {
      const { key } = axes(at).find(({ label }) => label === word)!;
      return noted({ ...ui, chart: { ...ui.chart, xKey: key, zoom: null, cursor: null } }, `x axis: ${word}.`);
    },
  }),
  choice({
    ...{ name: 'show', takes: 'sweep', help: 'open another sweep of this directory, or all of them', command: 'show' },
    words: (_ui, at) => sweepWords(at).map(([word]) => word),
    choose: (ui, at, word) => ({ ui: { ...ui, sweep: sweepWords(at).find(([known]) => known === word)![1] } }),
  }),
  choice({
    ...{ name: 'theme', takes: 'name', help: 'colours of the window: dark, light, colour-blind, mono', command: null },
    words: () => themeNames,
    choose: (ui, _at, word) => {
      const theme = themeNames.find((name) => name === word)!;
      return { ui, order: { type: 'prefer', change: { theme } } };
    },
  }),
  choice({
    ...{ name: 'keys', takes: 'preset', help: 'key preset: default, vim', command: null },
    words: () => keyPresets,
    choose: (ui, _at, word) => {
      const keys = keyPresets.find((name) => name === word)!;
      return { ui, order: { type: 'prefer', change: { keys } } };
    },
  }),
  choice({
    ...{ name: 'mouse', takes: 'on|off', help: 'clicks and the wheel; off: the terminal selects text', command: null },
    words: () => ['on', 'off'],
    choose: (ui, _at, word) => ({ ui, order: { type: 'prefer', change: { mouse: word === 'on' } } }),
  }),
  choice({
    ...{ name: 'hover', takes: 'on|off', help: 'values and curves under the mouse, without a click', command: null },
    words: () => ['on', 'off'],
    choose: (ui, _at, word) => ({ ui, order: { type: 'prefer', change: { hover: word === 'on' } } }),
  }),
  choice({
    ...{ name: 'guides', takes: 'which', help: 'faint lines behind curves: none, lines, grid', command: null },
    words: () => guideChoices,
    choose: (ui, _at, word) => {
      const guides = guideChoices.find((name) => name === word)!;
      return { ui, order: { type: 'prefer', change: { guides } } };
    },
  }),
  choice({
    ...{ name: 'graphics', takes: 'how', help: 'charts as pictures: auto, kitty, sixel, none', command: null },
    words: () => graphicsChoices,
    choose: (ui, _at, word) => {
      const graphics = graphicsChoices.find((name) => name === word)!;
      return { ui, order: { type: 'prefer', change: { graphics } } };
    },
  }),
];

/** What the palette shows for a line. `index`: the chosen row; null: none yet. */
export function paletteView(line: EditedLine, index: number, ui: UiState, at: KeyContext): PaletteView {
  const { name, rest } = divided(line.text);
  const entry = rest === null ? undefined : entryOf(name);
  if (entry === undefined || rest === null) {
    const entries = matching(line.text, entriesFor(at));
    const isBegun = line.text.trim() !== '' || index > 0;
    const reading = isBegun ? (entries[index]?.read('', ui, at) ?? null) : open(hintOf(at));
    return { kind: 'commands', entries, reading };
  }
  const offer = offered(entry, line, ui, at);
  const chosen = entry.words === null ? undefined : offer.candidates[index];
  return { kind: 'arguments', entry, offer, reading: entry.read(chosen ?? rest, ui, at) };
}

/** The command that has, or had, this name. */
function entryOf(name: string): PaletteEntry | undefined {
  const meant = runVerbOf(name) ?? name;
  return paletteEntries.find((each) => each.name === meant);
}

function hintOf({ status }: KeyContext): string {
  return status.readOnly === undefined
    ? 'Type a command. It acts on the marked runs, the selection, or a query after it: hold group:A'
    : 'Type a command. It acts on the selection or on what is shown.';
}

/** Commands that match the typed text: first by name, then by a word of their description. */
export function matching(typed: string, entries = paletteEntries): readonly PaletteEntry[] {
  const word = typed.trim();
  if (word === '') return entries;
  const meant = runVerbOf(word);
  if (meant !== undefined && meant !== word) return entries.filter(({ name }) => name === meant);
  return ranked(word, entries, ({ name, help }) => fuzzyScore(word, name) ?? inHelp(word, help));
}

/** A window that only looks has no commands that act. */
function entriesFor({ status }: KeyContext): readonly PaletteEntry[] {
  return status.readOnly === undefined ? paletteEntries : paletteEntries.filter(({ name }) => !isActing(name));
}

/** Score of a match in the description, lower than that of any match in the name. */
function inHelp(word: string, help: string): number | null {
  const at = help.toLowerCase().indexOf(word.toLowerCase());
  return at < 0 || word.length < 3 ? null : -100 - at / 1000;
}

/** Splits the line into name and arguments; `rest` null: no space has been typed after the name. */
function divided(text: string): { name: string; rest: string | null } {
  const [, name, rest] = /^\s*(\S+)\s([^]*)$/.exec(text) ?? [];
  return name === undefined ? { name: text.trim(), rest: null } : { name, rest: rest! };
}

function offered(entry: PaletteEntry, line: EditedLine, ui: UiState, at: KeyContext): Offer {
  const start = line.text.length - divided(line.text).rest!.length;
  const rest = line.text.slice(start);
  if (entry.words !== null) {
    const typed = rest.trim();
    const words = entry.words(ui, at);
    const candidates = typed === '' ? words : ranked(typed, words, (word) => fuzzyScore(typed, word));
    return { from: start, candidates, chosen: null };
  }
  if (entry.queryAt === null) return { from: line.at, candidates: [], chosen: null };
  const from = start + entry.queryAt(rest);
  if (line.at < from) return { from: line.at, candidates: [], chosen: null };
  const offer = offerFor({ text: line.text.slice(from), at: line.at - from }, at.runs);
  return { ...offer, from: from + offer.from };
}

/** Commands that only make sense as keys, or have another name in the palette. */
const unnamed: ReadonlySet<Command> = new Set([
  ...([
    'up',
    'down',
    'page-up',
    'page-down',
    'first',
    'last',
    'jump',
    'open',
    'back',
    'next-pane',
    'left',
    'right',
    'palette',
  ] as const),
  ...[...runEntries, ...annotationEntries, ...machineEntries, ...choiceEntries].flatMap(({ command }) =>
    command === null ? [] : [command],
  ),
]);

/** Every command by name: first those for runs, the machine and the view, then those that only have a key. */
export const paletteEntries: readonly PaletteEntry[] = [
  ...runEntries,
  ...annotationEntries,
  ...machineEntries,
  ...choiceEntries,
  ...keyed(),
  ...ofChartMenu(),
];

function ofChartMenu(): PaletteEntry[] {
  return chartOptions
    .filter(({ name }) => !choiceEntries.some((choice) => choice.name === name))
    .map(({ name, help, act }) => ({
      ...{ name, takes: '', help, command: null, words: null, queryAt: null },
      read: (_rest, _ui, at) => ({ kind: 'ready', said: help, act: (ui) => act(ui, at, '') }),
    }));
}

function keyed(): PaletteEntry[] {
  return keyMapOf('default')
    .filter(({ command }) => !unnamed.has(command))
    .map(({ command, help }) => ({
      ...{ name: command, takes: '', help, command, words: null, queryAt: null },
      read: () => ({ kind: 'ready', said: help, act: (ui) => ({ ui, command }) }),
    }));
}

type Choice = Pick<PaletteEntry, 'name' | 'takes' | 'help' | 'command'> & {
  readonly words: (ui: UiState, at: KeyContext) => readonly string[];
  /** Further valid words that are too many to offer. Absent: none. */
  readonly isWord?: (word: string) => boolean;
  /** What must follow an incomplete word; null: the word is complete. */
  readonly opens?: (word: string) => string | null;
  /** `word`: one of the valid words. */
  readonly choose: (ui: UiState, at: KeyContext, word: string) => Pressed;
};

function choice({ choose, words, isWord, opens, ...entry }: Choice): PaletteEntry {
  const read = (rest: string, ui: UiState, at: KeyContext): Reading => {
    const known = words(ui, at);
    const word = rest.trim();
    if (known.length === 0) return problem(`${entry.name}: there is nothing to choose from yet.`);
    if (word === '') return open(`${entry.name}: ${entry.help}`);
    const begun = opens?.(word) ?? null;
    if (begun !== null) return open(begun);
    if (!known.includes(word) && isWord?.(word) !== true) return problem(`${entry.name}: there is no ${word}.`);
    return { kind: 'ready', said: `${entry.name} ${word}`, act: (now) => choose(now, at, word) };
  };
  return { ...entry, words, queryAt: null, read };
}

/** Chooses which value the list shows. If the list was sorted by the previous value, it is sorted by the new one. */
function chooseValue(ui: UiState, { runs }: KeyContext, word: string): Pressed {
  const values = valueColumns(word)!;
  if (values.includes('best') && runs.every(({ best }) => best === undefined)) {
    return refuse(ui, 'No run has an objective to be best at: name it in the sweep file, `metric: {name, goal}`.');
  }
  const isGone = isValue(ui.sort.by) && !values.includes(ui.sort.by);
  const by = isGone ? (values[0] as SortBy) : ui.sort.by;
  return noted({ ...ui, columns: withValue(ui.columns, values), sort: { ...ui.sort, by } }, `Value: ${word}.`);
}

function noted(ui: UiState, text: string): Pressed {
  return { ui: { ...ui, note: { text, tone: 'dim' } } };
}

function axes({ xChoices = [] }: KeyContext): NonNullable<KeyContext['xChoices']> {
  return xChoices.filter(({ refusal }) => refusal === null);
}

function sweepWords({ sweepChoices }: KeyContext): [word: string, sweep: string | null][] {
  return (sweepChoices?.() ?? []).map(({ sweep }) => [sweep ?? 'all', sweep]);
}

function groupChoices(runs: readonly RunSummary[]): GroupBy[] {
  return [{ kind: 'group' }, { kind: 'state' }, { kind: 'gpu' }, ...varying(runs), { kind: 'error' }, { kind: 'none' }];
}

/** Parameters that differ between runs. */
function varying(runs: readonly RunSummary[]): GroupBy[] {
  const first = new Map<string, string>();
  const keys = new Set<string>();
  for (const { parameters } of runs) {
    for (const key in parameters) {
      const text = JSON.stringify(parameterOf(parameters, key));
      const known = first.get(key);
      if (known === undefined) first.set(key, text);
      else if (known !== text) keys.add(key);
    }
  }
  return [...keys].map((key) => ({ kind: 'parameter', key }));
}
