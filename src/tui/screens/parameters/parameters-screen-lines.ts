import { assertNever } from '../../../base/assert-never.js';
import { cleanText } from '../../../text/display-text.js';
import { counted } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { type ParametersScreen, parametersViews } from '../../state/ui-state.js';
import { fitLine, type Line, lineWidth, onBackground, span } from '../../surface/span.js';
import type { Size } from '../../surface/surface.js';
import { bestAgainstBaseline, type Contest, type Contestant, contestExtent } from './best-against-baseline.js';
import { importanceProgress, importanceSection } from './importance-section.js';
import { parallelCoordinates } from './parallel-coordinates.js';
import { scatter } from './scatter.js';
import {
  type Baseline,
  chosenAxis,
  chosenIndex,
  scaleOf,
  shownRank,
  type Study,
  uprightsOf,
  valuesOverSeeds,
} from './study.js';
import type { RunSummary } from '../../state/port.js';

/** Everything the screen is drawn from except the choices made on it. */
export type ParametersFacts = {
  /** Null: not computed yet. `progress`: progress of the first one, 0 to 1. */
  readonly study: Study | null;
  readonly progress: number;
  /** Null: no run has written any. */
  readonly metric: string | null;
  readonly filter: string;
  /** Number of runs of the sweep that match the filter; then how many of them are done and how many have not ended. */
  readonly total: number;
  readonly done: number;
  readonly pending: number;
  /** Ended runs of all sweeps whose metrics are still being read. */
  readonly unread: number;
  /** Index of the run selected in the list; null: it is not among the examined runs. */
  readonly selected: number | null;
  /** Null: no run has a value. */
  readonly baseline: Baseline | null;
};

/** The parameters screen. At most `height` lines of `width` columns. */
export function parametersScreen(facts: ParametersFacts, screen: ParametersScreen, { width, height }: Size): Line[] {
  const body = bodyLines(facts, screen, { width, height: height - 1 });
  return [headLine(facts, screen, width), ...body].slice(0, height).map((line) => fitLine(line, width));
}

/** Names of the views with the shown one marked; at the right a description, as far as it fits. */
function headLine(facts: ParametersFacts, { view }: ParametersScreen, width: number): Line {
  const tabs = parametersViews.flatMap((each, index): Line => {
    const name = span(` ${each} `, each === view ? 'strong' : 'dim');
    const tab = each === view ? onBackground([name], 'selected') : [name];
    return index === 0 ? tab : [span('│', 'faint'), ...tab];
  });
  const room = width - lineWidth(tabs) - 1;
  const words = aboutWords(facts).find((text) => text.length <= room - 2);
  return words === undefined ? tabs : [...tabs, span(`${words.padStart(room)} `, 'dim')];
}

/** Descriptions of what is shown, longest first. */
function aboutWords({ study, metric, done, total, unread, filter }: ParametersFacts): string[] {
  const part = study !== null && study.runs.length < study.of.runs.length ? `${study.runs.length} of ` : '';
  const runs = done === total ? `${part}${counted(total, 'run')}` : `${part}${done} of ${total} runs done`;
  const reading = unread === 0 ? runs : `${counted(unread, 'run')} still being read · ${runs}`;
  const some = filter === '' ? reading : `filter ${cleanText(filter)} · ${reading}`;
  if (metric === null) return [some, reading, runs];
  const name = cleanText(metric);
  return [
    `${some} · last ${name}${goalWords[study?.of.goal ?? 'none']}`,
    `${some} · ${name}`,
    `${reading} · ${name}`,
    reading,
    runs,
  ];
}

const goalWords = { minimize: ', lower is better', maximize: ', higher is better', none: '' };

function bodyLines(facts: ParametersFacts, screen: ParametersScreen, room: Size): Line[] {
  const { study, metric } = facts;
  if (metric === null) return said([noMetric, whenMore(facts)], room);
  if (study === null) return importanceProgress(metric, facts.progress, room);
  if (study.ranking.length === 0) return said([noValue(facts, metric), whenMore(facts)], room);
  switch (screen.view) {
    case 'importance':
      return importanceView(facts, study, screen, room);
    case 'parallel':
      return parallelView(facts, study, screen, room);
    case 'scatter':
      return scatterView(facts, study, screen, room);
    case 'best':
      return bestView(facts, study, screen, room);
    default:
      return assertNever(screen.view);
  }
}

function said(sentences: readonly string[], { width, height }: Size): Line[] {
  const lines = sentences.flatMap((text) => wrapWithin(text, Math.min(100, width - 2), 4));
  return [[], ...lines.map((text): Line => [span(` ${text}`, 'dim')])].slice(0, height);
}

const noMetric =
  'No run has written a metric yet. Which parameters matter is said for a metric, of its last value in each run that is done.';

function noValue({ done }: ParametersFacts, metric: string): string {
  const name = cleanText(metric);
  if (done === 0) return `No run is done yet: which parameters matter is said of the last ${name} of finished runs.`;
  return `${done === 1 ? 'The run that is done' : `None of the ${done} runs that are done`} has no finite ${name}; m chooses another metric.`;
}

/** What has to happen for more to be known. */
function whenMore({ pending }: ParametersFacts): string {
  if (pending === 0) return 'All runs have ended; e extends the sweep by more of them.';
  return `${counted(pending, 'run')} ${pending === 1 ? 'has' : 'have'} not ended; this is worked out again as they do.`;
}

/** Minimum room for showing all four views beside each other. */
const wide: Size = { width: 160, height: 36 };
/** Minimum size of a useful picture. */
const leastPicture: Size = { width: 44, height: 9 };
const gap = 3;

/** The bars, and in the remaining room the parameter under the cursor. */
function importanceView(facts: ParametersFacts, study: Study, screen: ParametersScreen, room: Size): Line[] {
  const { width, height } = room;
  const isWide = width >= wide.width && height >= wide.height;
  const left = isWide ? Math.floor((width - gap) * 0.62) : width;
  const bars = barLines(facts, study, screen, { width: left, height: barHeight(facts, study, screen, room) });
  const free = { width, height: height - bars.length - 1 };
  if (!isWide) return [...bars, ...pictureBelow(free, study, () => scatterView(facts, study, screen, free))];
  const contest = { width: width - gap - left, height: Math.max(bars.length, 14) };
  const top = beside(bars, bestView(facts, study, { ...screen, top: 0 }, contest), left);
  const below = { width, height: height - top.length - 1 };
  const half = { width: Math.floor((width - gap) / 2), height: below.height };
  const parallel = { ...half, width: width - gap - half.width };
  return [
    ...top,
    [],
    ...beside(scatterView(facts, study, screen, half), parallelView(facts, study, screen, parallel), half.width),
  ];
}

/** Height of the bars: all of them if that leaves room for a picture or none would fit anyway, otherwise half of the room. */
function barHeight(facts: ParametersFacts, study: Study, screen: ParametersScreen, { width, height }: Size): number {
  const all = barLines(facts, study, screen, { width, height }).length;
  const hasRoom = height - all - 1 >= leastPicture.height || height < 2 * leastPicture.height + 6;
  return hasRoom ? height : Math.floor(height / 2);
}

function pictureBelow({ width, height }: Size, { parameters }: Study, picture: () => Line[]): Line[] {
  const hasRoom = height >= leastPicture.height && width >= leastPicture.width;
  return hasRoom && parameters.length > 0 ? [[], ...picture()] : [];
}

function barLines(facts: ParametersFacts, study: Study, screen: ParametersScreen, room: Size): Line[] {
  const { importance, of } = study;
  const objective = scaleOf(study) === 'rank' ? `the order by ${of.metric}` : of.metric;
  const at = importance.kind === 'measured' ? placeIn(importance.parameters, study, screen) : null;
  const lines = importanceSection({ importance, objective, at, isChosen: of.scale !== null }, room);
  const more = importance.kind === 'too few runs' ? [[span(` ${whenMore(facts)}`, 'dim')]] : [];
  return [...lines, ...more].slice(0, room.height);
}

/** Position of the parameter under the cursor among those with an effect. */
function placeIn(effects: readonly { readonly name: string }[], study: Study, screen: ParametersScreen): number | null {
  const at = chosenIndex(study, screen);
  const place = at === null ? -1 : effects.findIndex(({ name }) => name === study.parameters[at]!.name);
  return place < 0 ? null : place;
}

function beside(left: readonly Line[], right: readonly Line[], width: number): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row) => [
    ...fitLine(left[row] ?? [], width),
    span(' '.repeat(gap)),
    ...(right[row] ?? []),
  ]);
}

/** The best run if it is known which end is best. */
function bestOf({ ranking, of }: Study): number | null {
  return of.goal === null ? null : (ranking[0] ?? null);
}

function parallelView({ selected }: ParametersFacts, study: Study, screen: ParametersScreen, room: Size): Line[] {
  const { parallel: parameters, objective, of } = study;
  const named = (index: number | null) => (index === null ? null : { index, name: study.runs[index]!.name });
  const at = chosenAxis(study, screen);
  const leftOut = study.parameters.filter((column) => !parameters.includes(column)).length;
  const runs = { parameters, objective, goal: of.goal, best: named(bestOf(study)), selected: named(selected) };
  return parallelCoordinates({ ...runs, at, leftOut }, room);
}

function scatterView({ selected }: ParametersFacts, study: Study, screen: ParametersScreen, room: Size): Line[] {
  const at = chosenIndex(study, screen);
  if (at === null) return said(['No parameter varies over these runs: there is nothing to draw.'], room);
  const uprights = uprightsOf(study, screen);
  const y = uprights.find(({ name }) => name === screen.against) ?? study.objective;
  const groups = study.groupings.find(({ name }) => name === screen.groupBy) ?? null;
  return scatter({ x: study.parameters[at]!, y, groups, best: bestOf(study), selected }, room);
}

function bestView(facts: ParametersFacts, study: Study, screen: ParametersScreen, room: Size): Line[] {
  const contest = contestOf(facts, study, screen);
  if (contest === null) return said(['No run has a finite value.'], room);
  const notes = contestNotes(facts, study, room.width).slice(0, Math.max(0, room.height - 8));
  const height = room.height - notes.length;
  return [...bestAgainstBaseline(contest, screen.top, { ...room, height }), ...notes];
}

/** Notes that readers of the comparison need. */
function contestNotes({ baseline }: ParametersFacts, { of }: Study, width: number): Line[] {
  const words = [
    ...(of.goal === null
      ? [
          `Nobody says whether a high or a low ${cleanText(of.metric)} is better (metric: goal in the sweep file): the highest comes first.`,
        ]
      : []),
    ...(baseline?.isPinned === false
      ? ['No baseline is pinned, so the run in the middle stands for one; b pins a run.']
      : []),
  ];
  return words.flatMap((text) => wrapWithin(text, width - 2, 2)).map((text) => [span(` ${text}`, 'faint')]);
}

function contestOf({ baseline }: ParametersFacts, study: Study, screen: ParametersScreen): Contest | null {
  const rank = shownRank(study, screen);
  const run = study.runs[study.ranking[rank] ?? -1];
  if (run === undefined || baseline === null) return null;
  const first = study.of.goal === null ? 'highest' : 'best';
  const word = rank === 0 ? first : `no. ${rank + 1} of ${study.ranking.length}`;
  const { metric, goal, others } = study.of;
  return {
    best: contestant(run, word, study),
    baseline: contestant(baseline.run, baseline.word, study),
    metrics: [{ key: metric, direction: goal }, ...others.map((key) => ({ key, direction: null }))],
  };
}

function contestant(run: RunSummary, word: string, study: Study): Contestant {
  const { name, parameters, metrics } = run;
  return { word, name, parameters, metrics, overSeeds: valuesOverSeeds(study, run) };
}

/** Number of lines that the view scrolls through, and number of visible lines. */
export function scrolledLines(
  facts: ParametersFacts,
  screen: ParametersScreen,
  { width, height }: Size,
): { readonly length: number; readonly page: number } {
  const { study } = facts;
  const contest = study === null || screen.view !== 'best' ? null : contestOf(facts, study, screen);
  if (study === null || contest === null) return { length: 0, page: Math.max(1, height - 2) };
  const notes = Math.min(contestNotes(facts, study, width).length, Math.max(0, height - 1 - 8));
  return contestExtent(contest, height - 1 - notes);
}
