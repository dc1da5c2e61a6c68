import type {
  Importance,
  Measured,
  ParameterEffect,
  Trend,
} from '../../../analysis/parameters/parameter-importance.js';
import type { BestValue } from '../../../analysis/answer/ranked-settings.js';
import { cleanText } from '../../../text/display-text.js';
import { textWidth } from '../../../text/display-width.js';
import { counted } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { scalarText } from '../../widgets/parameters.js';
import { progressBar } from '../../widgets/line-parts.js';
import { sparkline } from '../../widgets/run-list/list-cells.js';
import { type Column, Table } from '../../widgets/table.js';
import { Rows, Section } from '../../widgets/text.js';
import { fit, fitRight, type Line, lineWidth, span, type Tone } from '../../surface/span.js';

/** Inputs of the importance view. `at`: index of the parameter under the cursor; null: none. */
type ImportanceView = {
  readonly importance: Importance;
  readonly objective: string;
  readonly at: number | null;
  /** Whether the user has chosen between values and ranks. */
  readonly isChosen: boolean;
  /** What has to happen for the importance to be known, if there are too few runs. */
  readonly more?: readonly Line[];
};

type Room = { readonly width: number; readonly height: number };

type Props = { readonly view: ImportanceView; readonly width: number; readonly height: number };

/**
 * Each parameter's share of the objective's variance as a bar, with the direction, best value and shape of its effect; below them
 * pairs of parameters, and the unexplained share.
 */
export function ImportanceSection({ view, width, height }: Props) {
  const { importance, objective, at } = view;
  const title = `what matters for ${cleanText(objective)}`;
  const right = headingWords(importance, width - textWidth(title) - 6);
  const { above, effects, top, below } = partsOf(view, { width, height });
  return (
    <Section title={title} right={right} width={width}>
      <Rows lines={above} />
      {importance.kind === 'measured' && (
        <Table columns={effectColumns(importance, at, width)} items={effects} {...{ width, top }} heading={null} />
      )}
      <Rows lines={below} />
    </Section>
  );
}

/** Number of rows of the section, at most `height`. */
export function importanceRows(view: ImportanceView, room: Room): number {
  const { above, effects, top, shown, below } = partsOf(view, room);
  return Math.min(room.height, 1 + above.length + Math.min(shown, effects.length - top) + below.length);
}

/** Shown during the computation. `done`: 0 to 1. */
export function ImportanceProgress({ objective, done, width }: { objective: string; done: number; width: number }) {
  const bar = progressBar(done, Math.max(4, Math.min(40, width - 20)), 'busy');
  return (
    <Section title={`what matters for ${cleanText(objective)}`} width={width}>
      <Rows lines={[[span(' growing trees  ', 'dim'), ...bar]]} />
    </Section>
  );
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

/** Effects from `top` on, `shown` of them, between other lines. */
type Parts = {
  readonly above: readonly Line[];
  readonly effects: readonly ParameterEffect[];
  readonly top: number;
  readonly shown: number;
  readonly below: readonly Line[];
};

function partsOf({ importance, at, isChosen, more = [] }: ImportanceView, { width, height }: Room): Parts {
  if (importance.kind !== 'measured') {
    const above: Line[] = [[span(` ${whyNot(importance)}`, 'dim')]];
    const below = [...footLines(importance, width), ...(importance.kind === 'too few runs' ? more : [])];
    return { above, effects: [], top: 0, shown: 0, below };
  }
  const feet = [
    ...scaleLines(importance, isChosen, width),
    ...noiseLines(importance, width),
    ...footLines(importance, width),
    ...methodLines(importance, { width, height: height - 1 }),
  ];
  const above: Line[] = importance.isNoise
    ? [[span(' No parameter explains more than chance would; do not read anything into the shares.', 'warn')]]
    : [];
  const { parameters, pairs } = importance;
  const columns = columnsOf(parameters, width);
  const together = pairs
    .filter(({ share }) => share >= LEAST_SHARE)
    .slice(0, 3)
    .map(({ names, share }) => pairLine(names, share, columns, parameters[0]?.share ?? 0));
  const shown = Math.max(1, height - 2 - feet.length - above.length - together.length);
  const top = Math.max(0, Math.min((at ?? 0) - shown + 1, parameters.length - shown));
  const hidden = parameters.length - shown;
  const rest: Line[] = hidden > 0 ? [[span(` +${hidden} more`, 'faint')]] : [];
  return { above, effects: parameters.slice(0, top + shown), top, shown, below: [...rest, ...together, ...feet] };
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

/** The direction, the best value of a parameter and the mean objective along its values are left out if it does not matter. */
function effectColumns({ parameters, isNoise }: Measured, at: number | null, width: number): Column<ParameterEffect>[] {
  const { name, bar, best, curve } = columnsOf(parameters, width);
  const most = parameters[0]?.share ?? 0;
  const matters = ({ share }: ParameterEffect): boolean => share >= LEAST_SHARE && !isNoise;
  const shape = (cell: (effect: ParameterEffect) => Line) => (effect: ParameterEffect) =>
    matters(effect) ? cell(effect) : [];
  const columns: Column<ParameterEffect>[] = [
    { width: 1, gap: 0, cell: (_, index) => [span(index === at ? '▸' : ' ', 'accent')] },
    { width: name - 2, gap: 0, cell: (effect) => [span(nameOf(effect), matters(effect) ? 'strong' : 'dim')] },
    {
      ...{ width: bar, gap: 1 },
      cell: (effect) => progressBar(most > 0 ? effect.share / most : 0, bar, matters(effect) ? 'accent' : 'faint'),
    },
    {
      ...{ width: 6, gap: 0, isRight: true },
      cell: (effect) => [span(percent(effect.share), matters(effect) ? 'value' : 'faint')],
    },
    { width: 5, gap: 0, cell: ({ spread }) => [span(fit(` ±${Math.round(spread * 100)}`, 5), 'faint')] },
    { width: 3, gap: 0, cell: shape(({ trend }) => [span(` ${arrows[trend]} `, 'plain')]) },
    {
      ...{ width: best, gap: 0 },
      cell: shape(({ best: value }) => [span(value === null ? '' : bestText(value, best - 1), 'good')]),
    },
    { width: curve, gap: 0, cell: shape((effect) => [span(sparkline(effect.curve.map(meanOf), curve), 'spark')]) },
  ];
  return columns.filter((column) => column.width !== 0);
}

function meanOf({ mean }: ParameterEffect['curve'][number]): number {
  return mean;
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
