import { parameterOf } from '../base/scalar.js';
import { type GroupBy, groupingWords, levelWords } from './grouping.js';
import { initialColumns } from './list-column-id.js';
import { open, type PaletteEntry, problem, type Reading } from './palette-entry.js';
import type { RunSummary } from './port.js';
import { keyPresets, themeNames } from './preferences-port.js';
import type { Pressed, KeyContext } from './key-context.js';
import type { UiState } from './ui-state.js';
import { sortsFor, sortWords } from './view/sort.js';

/** Commands that choose one of some words: what the list and the charts show, and how the window looks. */
export const choiceEntries: readonly PaletteEntry[] = [
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
    ...{ name: 'x-axis', takes: 'name', help: 'x axis of the charts', command: 'x-axis' },
    words: (_ui, at) => axes(at).map(({ label }) => label),
    choose: (ui, at, word) => {
      const { key } = axes(at).find(({ label }) => label === word)!;
      return noted({ ...ui, chart: { ...ui.chart, xKey: key, zoom: null, cursor: null } }, `x axis: ${word}.`);
    },
  }),
  choice({
    ...{ name: 'theme', takes: 'name', help: 'colours of the window: dark, light, colour-blind, mono', command: null },
    words: () => themeNames,
    choose: (ui, _at, word) => {
      const theme = themeNames.find((name) => name === word)!;
      return { ui, order: { type: 'prefer', theme } };
    },
  }),
  choice({
    ...{ name: 'keys', takes: 'preset', help: 'key preset: default, vim', command: null },
    words: () => keyPresets,
    choose: (ui, _at, word) => {
      const keys = keyPresets.find((name) => name === word)!;
      return { ui: { ...ui, keys }, order: { type: 'prefer', keys } };
    },
  }),
  choice({
    ...{ name: 'mouse', takes: 'on|off', help: 'clicks and the wheel; off: the terminal selects text', command: null },
    words: () => ['on', 'off'],
    choose: (ui, _at, word) => ({ ui, order: { type: 'prefer', mouse: word === 'on' } }),
  }),
];

type Choice = Pick<PaletteEntry, 'name' | 'takes' | 'help' | 'command'> & {
  readonly words: (ui: UiState, at: KeyContext) => readonly string[];
  /** `word`: one of these. */
  readonly choose: (ui: UiState, at: KeyContext, word: string) => Pressed;
};

function choice({ choose, words, ...entry }: Choice): PaletteEntry {
  const read = (rest: string, ui: UiState, at: KeyContext): Reading => {
    const known = words(ui, at);
    const word = rest.trim();
    if (known.length === 0) return problem(`${entry.name}: there is nothing to choose from yet.`);
    if (word === '') return open(`${entry.name}: ${entry.help}`);
    if (!known.includes(word)) return problem(`${entry.name}: there is no ${word}.`);
    return { kind: 'ready', said: `${entry.name} ${word}`, act: (now) => choose(now, at, word) };
  };
  return { ...entry, words, queryAt: null, read };
}

function noted(ui: UiState, text: string): Pressed {
  return { ui: { ...ui, note: { text, tone: 'dim' } } };
}

function axes({ xChoices = [] }: KeyContext): NonNullable<KeyContext['xChoices']> {
  return xChoices.filter(({ refusal }) => refusal === null);
}

function groupChoices(runs: readonly RunSummary[]): GroupBy[] {
  return [{ kind: 'group' }, { kind: 'state' }, { kind: 'gpu' }, ...varying(runs)];
}

/** The parameters that are not the same for all runs. */
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
