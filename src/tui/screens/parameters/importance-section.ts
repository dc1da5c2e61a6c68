import type {
  Importance,
  Measured,
  ParameterEffect,
  Trend,
} from '../../../analysis/parameters/parameter-importance.js';
import type { BestValue } from '../../../analysis/parameters/settings.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { counted } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { scalarText } from '../../widgets/parameters.js';
import { progressBar } from '../../widgets/progress-bar.js';
import { sparkline } from '../../widgets/run-list/list-cells.js';
import { sectionRule } from '../../widgets/section.js';
import { fit, fitLine, fitRight, type Line, lineWidth, span, type Tone } from '../../surface/span.js';

/** Inputs of the importance view. `at`: index of the parameter under the cursor; null: none. */
type ImportanceView = {
  readonly importance: Importance;
  readonly objective: string;
  readonly at: number | null;
  /** Whether the user has chosen between values and ranks. */
  readonly isChosen: boolean;
};

type Room = { readonly width: number; readonly height: number };

/**
 * Shows each parameter's share of the objective's variance as a bar, with the direction, best value and shape of its effect; below
 * them pairs of parameters, and the unexplained share. At most `height` lines of `width` columns.
 */
export function importanceSection(view: ImportanceView, { width, height }: Room): Line[] {
  const { importance, objective } = view;
  const title = `what matters for ${cleanText(objective)}`;
  const head = sectionRule(title, headingWords(importance, width - textWidth(title) - 6), width);
  const rest = importance.kind === 'measured' ? measuredLines(view, importance, { width, height: height - 1 }) : [];
  const why = importance.kind === 'measured' ? [] : [[span(` ${whyNot(importance)}`, 'dim')]];
  const lines = [head, ...why, ...rest, ...(importance.kind === 'measured' ? [] : footLines(importance, width))];
  return lines.slice(0, height).map((line) => fitLine(line, width));
}

/** Shown during the computation. `done`: 0 to 1. */
export function importanceProgress(objective: string, done: number, { width, height }: Room): Line[] {
  const head = sectionRule(`what matters for ${cleanText(objective)}`, [], width);
  const bar = progressBar(done, Math.max(4, Math.min(40, width - 20)), 'busy');
  return [head, [span(' growing trees  ', 'dim'), ...bar]].slice(0, height).map((line) => fitLine(line, width));
}

/** Heading, as long as there is room for. */
function headingWords(importance: Importance, room: number): Line {
  const runs = counted(importance.counts.finite, 'run');
  if (importance.kind !== 'measured') return [span(runs, 'faint')];
  const ways = [` of the variance of ${runs} (out-of-bag R²)`, ` of ${runs} (out-of-bag R²)`, ` of ${runs}`, ''];
  const explained = [span('explained ', 'faint'), span(percent(importance.explained), 'value')];
  return ways.map((words) => [...explained, span(words, 'faint')]).find((line) => lineWidth(line) <= room) ?? [];
}

function whyNot(importance: Exclude<Importance, { kind: 'measured' }>): string {
  switch (importance.kind) {
    case 'too few runs':
      return `${counted(importance.counts.finite, 'run')} with a value; ${importance.needed} are needed to tell parameters from chance.`;
    case 'one objective':
      return 'All runs came to the same value: there is nothing to explain.';
    case 'no parameter':
      return 'No parameter varies over these runs.';
  }
}

function measuredLines(
  { at, importance, isChosen }: ImportanceView,
  measured: Measured,
  { width, height }: Room,
): Line[] {
  const feet = [
    ...scaleLines(measured, isChosen, width),
    ...noiseLines(measured, width),
    ...footLines(importance, width),
    ...methodLines(measured, { width, height }),
  ];
  const warning: Line[] = measured.isNoise
    ? [[span(' No parameter explains more than chance would; do not read anything into the shares.', 'warn')]]
    : [];
  const pairs = measured.pairs.filter(({ share }) => share >= LEAST_SHARE).slice(0, 3);
  const room = Math.max(1, height - feet.length - warning.length - pairs.length - 1);
  const { parameters } = measured;
  const top = Math.max(0, Math.min((at ?? 0) - room + 1, parameters.length - room));
  const shown = parameters.slice(top, top + room);
  const columns = columnsOf(parameters, width);
  const rows = shown.map((effect, index) => effectLine(effect, columns, measured, top + index === at));
  const hidden = parameters.length - shown.length;
  const most = parameters[0]?.share ?? 0;
  const together = pairs.map(({ names, share }) => pairLine(names, share, columns, most));
  const more: Line[] = hidden > 0 ? [[span(` +${hidden} more`, 'faint')]] : [];
  return [...warning, ...rows, ...more, ...together, ...feet];
}

/** Smallest share for which a line or a direction is shown. */
const LEAST_SHARE = 0.005;

/** Columns of each part of a row; 0: there is no room for it. */
type Columns = { name: number; bar: number; best: number; curve: number };
/** Columns of `100 % ±12 ` and the arrow. */
const NUMBERS = 14;

function columnsOf(parameters: readonly ParameterEffect[], width: number): Columns {
  const longest = Math.max(8, ...parameters.map((effect) => textWidth(nameOf(effect))));
  const name = Math.min(longest, 32, Math.floor(width * 0.32)) + 2;
  const best = width >= 60 && parameters.some((effect) => effect.best !== null) ? (width >= 110 ? 26 : 20) : 0;
  const curve = width >= 80 ? 14 : 0;
  return { name, best, curve, bar: Math.max(4, Math.min(60, width - name - NUMBERS - best - curve - 1)) };
}

function nameOf({ name, aliases }: ParameterEffect): string {
  return cleanText([name, ...aliases].join(' = '));
}

function effectLine(effect: ParameterEffect, columns: Columns, { parameters, isNoise }: Measured, isAt: boolean): Line {
  const matters = effect.share >= LEAST_SHARE && !isNoise;
  const most = parameters[0]!.share;
  return [
    span(isAt ? '▸' : ' ', 'accent'),
    span(fit(nameOf(effect), columns.name - 2), matters ? 'strong' : 'dim'),
    span(' '),
    ...progressBar(most > 0 ? effect.share / most : 0, columns.bar, matters ? 'accent' : 'faint'),
    span(fitRight(percent(effect.share), 6), matters ? 'value' : 'faint'),
    span(fit(` ±${Math.round(effect.spread * 100)}`, 5), 'faint'),
    ...(matters ? shapeOf(effect, columns) : []),
  ];
}

/** Direction and best value of a parameter, and the mean objective along its values. */
function shapeOf({ trend, best, curve }: ParameterEffect, columns: Columns): Line {
  const means = curve.map(({ mean }) => mean);
  return [
    span(` ${arrows[trend]} `, 'plain'),
    ...(columns.best > 0
      ? [span(fit(best === null ? '' : bestText(best, columns.best - 1), columns.best), 'good')]
      : []),
    ...(columns.curve > 0 ? [span(sparkline(means, columns.curve), 'spark')] : []),
  ];
}

const arrows: Record<Trend, string> = { up: '↑', down: '↓', mixed: '~', unordered: ' ' };

/**
 * `best 0.05 or 0.1 n=3`: the value in the best setting, values that cannot be distinguished from it, and its number of seeds, with
 * the usual number if other settings have more. Later parts are dropped if there is little room.
 */
function bestText({ value, ties, runs, usual }: BestValue, width: number): string {
  const seeds = runs < usual ? ` n=${runs} of ${usual}` : ` n=${runs}`;
  const [best, ...others] = [value, ...ties].map((each) => (each === undefined ? 'not set' : scalarText(each)));
  const alike = others.length === 0 ? '' : ` or ${counted(others.length, 'other')}`;
  const texts = [
    `best ${[best, ...others].join(' or ')}${seeds}`,
    `best ${best}${alike}${seeds}`,
    `best ${best}${seeds}`,
  ];
  return texts.find((text) => textWidth(text) <= width) ?? texts.at(-1)!;
}

function pairLine(names: readonly [string, string], share: number, columns: Columns, most: number): Line {
  return [
    span(' '),
    span(fit(cleanText(names.join(' × ')), columns.name - 2), 'plain'),
    span(' '),
    ...progressBar(most > 0 ? share / most : 1, columns.bar, 'spark'),
    span(fitRight(percent(share), 6), 'value'),
    span('      together', 'faint'),
  ];
}

function noiseLines({ explained, noise, parameters, pairs }: Measured, width: number): Line[] {
  const known = [...parameters, ...pairs].reduce((sum, { share }) => sum + share, 0);
  const words = [
    `not explained ${percent(1 - explained)}`,
    ...(explained - known >= 0.01 ? [`more than two together ${percent(explained - known)}`] : []),
    ...(noise === null ? [] : [`runs that differ in their seeds alone vary by ${percent(noise.share)}`]),
  ];
  return wrapped(words.join(' · '), 'dim', width);
}

/** How the shares are computed, if there is room. */
function methodLines({ trees }: Measured, { width, height }: Room): Line[] {
  const words = [
    ` Functional ANOVA of a random forest (${trees} trees): the share of the variance each parameter explains alone, ± over trees`,
    ` fANOVA of a random forest (${trees} trees): shares of the variance, ± over trees`,
  ].find((text) => text.length <= width);
  return words === undefined || height < 10 ? [] : [[span(words, 'faint')]];
}

/** Why ranks of runs are used, if that follows from the values. */
function scaleLines({ scale }: Measured, isChosen: boolean, width: number): Line[] {
  if (scale !== 'rank' || isChosen) return [];
  return wrapped(
    'the values span decades: explained is the order of the runs, not how far they lie apart',
    'accent',
    width,
  );
}

/** Number of runs and parameters that are left out. */
function footLines({ counts, leftOut }: Importance, width: number): Line[] {
  const { nan, infinite, none } = counts;
  const runs = [
    nan > 0 ? `${nan} NaN` : '',
    infinite > 0 ? `${infinite} infinite` : '',
    none > 0 ? `${none} without a value` : '',
  ];
  const texts = leftOut.filter(({ reason }) => reason === 'too many texts').map(({ name }) => cleanText(name));
  const words = [
    runs.some((part) => part !== '') ? `runs left out: ${runs.filter((part) => part !== '').join(', ')}` : '',
    texts.length > 0 ? `too many different texts: ${texts.join(', ')}` : '',
  ].filter((part) => part !== '');
  return words.length === 0 ? [] : wrapped(words.join(' · '), 'faint', width);
}

function wrapped(text: string, tone: Tone, width: number): Line[] {
  return wrapWithin(text, width - 2, 2).map((part) => [span(` ${part}`, tone)]);
}

/** `61 %`, `0.4 %`; a share too small to show is 0. */
function percent(share: number): string {
  const hundredths = share * 100;
  if (hundredths < 0.05) return '0 %';
  return `${hundredths < 0.95 ? hundredths.toFixed(1) : Math.round(hundredths)} %`;
}
