import { join } from 'node:path';
import { Memo } from '../../../base/memo.js';
import { groupBy } from '../../../base/group-by.js';
import { matchWithin, readLogPattern, tooLongWords } from '../../../logs/log-search.js';
import { type RunImage, type Sample, type Samples, samplesAt, stepsOf } from '../../../logs/samples.js';
import { cleanText } from '../../../text/display-text.js';
import { counted, NOTHING, shortNumber } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { fitLine, type Line, span } from '../../surface/span.js';
import { type SampleChoice, stepIndex } from '../../state/run-choice.js';

/**
 * Inputs of the pane. `samples`: undefined until they have been read; null: they cannot be. `pinned`: another run and its samples,
 * if one is pinned. `directory`: of the run, where its pictures can be opened from here. `search`: a pattern; empty: none.
 */
type ShownSamples = {
  readonly samples: Samples | null | undefined;
  readonly pinned?: PinnedSamples | null;
  readonly directory?: string | null;
  readonly choice: SampleChoice;
  readonly search: string;
};

export type PinnedSamples = { readonly label: string; readonly samples: Samples | null | undefined };

/** Number of samples shown of a step, of pictures, and rows of a prompt and of a completion. */
const MOST_SHOWN = 200;
const MOST_IMAGES = 50;
const PROMPT_ROWS = 3;
const COMPLETION_ROWS = 12;
/** Columns between two steps beside each other, and the least number of columns for that. */
const GAP = 3;
const LEAST_BESIDE = 60;
/** Time limit of an expression on the samples of a step, ms. */
const PATIENCE_MS = 100;

const laidOut = new Memo<Samples, Line[]>(4);

/** The samples of a step, or of two steps or runs beside each other, and the pictures of the run. Returns all lines. */
export function sampleLines(
  { samples, pinned = null, directory = null, choice, search }: ShownSamples,
  width: number,
): Line[] {
  if (samples === undefined) return [[span('reading…', 'faint')]];
  if (samples === null) return [[span('The samples of this run cannot be read from here.', 'faint')]];
  if (samples.all.length === 0 && samples.images.length === 0)
    return nothingFound.map((words) => [span(words, 'faint')]);
  const { beside } = choice;
  const other = beside === 'pinned run' ? pinned : null;
  const question = JSON.stringify([
    choice,
    search,
    width,
    directory,
    other && { ...other, samples: readingOf(other.samples) },
  ]);
  return laidOut.value(samples, question, () => [
    ...(samples.all.length === 0 ? [] : allLines({ samples, pinned: other, choice, search }, width)),
    ...imageLines(samples.images, directory, width),
  ]);
}

/** A number for each object, so that it can be part of a question. */
const readings = new WeakMap<Samples, number>();
let readingCount = 0;

function readingOf(samples: Samples | null | undefined): number | null {
  if (!samples) return null;
  if (!readings.has(samples)) readings.set(samples, (readingCount += 1));
  return readings.get(samples)!;
}

const nothingFound = [
  'No samples were found: JSON lines with prompt, completion and reward (rollouts/step_3.jsonl, samples.jsonl),',
  'TRL’s completions, the cookbook’s rollout summaries, or [Sample @ step 3] lines in the log.',
];

type Chosen = Pick<ShownSamples, 'choice' | 'search'> & { samples: Samples; pinned: PinnedSamples | null };

function allLines({ samples, pinned, choice, search }: Chosen, width: number): Line[] {
  const steps = stepsOf(samples);
  const at = stepIndex(steps, choice);
  const read = search === '' ? null : readLogPattern(search);
  const pattern = read?.kind === 'pattern' ? read.regexp : null;
  const step = steps[at] ?? null;
  const shown = matching(samplesAt(samples, { step, order: choice.order }), pattern);
  if (shown === null) return [[span(tooLongWords(cleanText(search)), 'warn')], []];
  const words = [
    `${stepWords(step)} (${at + 1} of ${steps.length})`,
    counted(shown.length, 'sample'),
    meanWords(shown),
    choice.order,
    ...(pattern === null ? [] : [`matching ${cleanText(search)}`]),
    ...(samples.isCut ? ['the latest; earlier ones are not read'] : []),
  ];
  const head = fitLine([span(words.join(' · '), 'dim')], width);
  const beside = besideOf({ samples, pinned, choice, search }, steps[at - 1], step);
  if (beside === null) return [head, [], ...shown.slice(0, MOST_SHOWN).flatMap((each) => block(each, width))];
  return [head, [], ...besideLines(shown, beside, width)];
}

/** The samples that match; null: that takes too long. */
function matching(samples: readonly Sample[], pattern: RegExp | null): readonly Sample[] | null {
  if (pattern === null) return samples;
  const isMatch = ({ prompt, completion }: Sample) => [prompt, completion].some((text) => text.search(pattern) >= 0);
  const matched = matchWithin(() => samples.map(isMatch), PATIENCE_MS);
  return matched.kind === 'matched' ? samples.filter((_sample, index) => matched.value[index]) : null;
}

/** What stands at the right. `now` and `then`: what the two sides are called; `isRun`: whether it is of another run. */
type Beside = { now: string; then: string; samples: readonly Sample[]; isRun: boolean };

function besideOf(
  { samples, pinned, choice }: Chosen,
  stepBefore: number | null | undefined,
  step: number | null,
): Beside | null {
  const { order } = choice;
  if (choice.beside === 'step before' && stepBefore !== undefined) {
    const before = samplesAt(samples, { step: stepBefore, order });
    return { now: 'now', then: stepWords(stepBefore), samples: before, isRun: false };
  }
  if (choice.beside !== 'pinned run' || pinned === null) return null;
  const label = cleanText(pinned.label);
  if (!pinned.samples) return { now: 'this run', then: `${label} (reading…)`, samples: [], isRun: true };
  const steps = stepsOf(pinned.samples);
  const nearest = steps[stepIndex(steps, { ...choice, step, isLatest: false })] ?? null;
  const then = `${label}, ${stepWords(nearest)}`;
  return { now: 'this run', then, samples: samplesAt(pinned.samples, { step: nearest, order }), isRun: true };
}

/** The pictures of a run, the latest first; a link each where the terminal has links and the files are here. */
function imageLines(images: readonly RunImage[], directory: string | null, width: number): Line[] {
  if (images.length === 0) return [];
  const latest = images.toReversed().slice(0, MOST_IMAGES);
  const more = images.length - latest.length;
  return [
    fitLine([span(counted(images.length, 'picture') + (more > 0 ? `, the latest ${MOST_IMAGES}` : ''), 'dim')], width),
    ...latest.map(({ path, step }) => {
      const link = directory === null ? {} : { link: join(directory, path) };
      const name = { ...span(cleanText(path)), ...link };
      return fitLine([span('  '), name, span(step === null ? '' : `  step ${step}`, 'faint')], width);
    }),
  ];
}

function stepWords(step: number | null): string {
  return step === null ? 'without a step' : `step ${step}`;
}

function meanWords(samples: readonly Sample[]): string {
  const rewards = samples.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  if (rewards.length === 0) return 'no rewards';
  return `mean reward ${shortNumber(rewards.reduce((sum, each) => sum + each, 0) / rewards.length)}`;
}

/** A prompt, and what was written. */
function block(sample: Sample, width: number): Line[] {
  return [...promptLines(sample.prompt, width), ...answerLines(sample, width), []];
}

function promptLines(prompt: string, width: number): Line[] {
  return wrapWithin(cleanText(prompt), width - 2, PROMPT_ROWS).map((text) => [span(`▸ ${text}`, 'dim')]);
}

function answerLines({ reward, length, completion }: Sample, width: number): Line[] {
  const [value, tone] = reward === null ? [NOTHING, 'faint' as const] : [shortNumber(reward), 'value' as const];
  const texts = completion.split('\n').filter((text) => text.trim() !== '');
  const rows = texts
    .flatMap((text) => wrapWithin(cleanText(text), width - 2, COMPLETION_ROWS))
    .slice(0, COMPLETION_ROWS);
  return [
    [span(`  reward ${value}`, tone), span(`  length ${length}`, 'faint')],
    ...rows.map((text): Line => [span(`  ${text}`)]),
  ];
}

/** Each prompt, with what was written here at the left, and beside it at the right; of another run, common prompts first. */
function besideLines(shown: readonly Sample[], { now, then, samples, isRun }: Beside, width: number): Line[] {
  const isWide = width >= LEAST_BESIDE;
  const column = isWide ? Math.floor((width - GAP) / 2) : width;
  const others = groupBy(samples, ({ prompt }) => prompt);
  const prompts = [...groupBy(shown.slice(0, MOST_SHOWN), ({ prompt }) => prompt)];
  const common = prompts.filter(([prompt]) => others.has(prompt));
  const inOrder = isRun ? [...common, ...prompts.filter(([prompt]) => !others.has(prompt))] : prompts;
  const head = `${then}: ${common.length} of ${counted(prompts.length, 'prompt')} in both`;
  const lines = inOrder.flatMap(([prompt, own]) => {
    const other = others.get(prompt) ?? [];
    const left: Line[] = [
      [span(`${now}: ${meanWords(own)}`, 'strong')],
      ...own.flatMap((each) => answerLines(each, column)),
    ];
    const right: Line[] = [
      [span(other.length === 0 ? `not at ${then}` : `${then}: ${meanWords(other)}`, 'strong')],
      ...other.flatMap((each) => answerLines(each, column)),
    ];
    return [...promptLines(prompt, width), ...(isWide ? sideBySide(left, right, column) : [...left, ...right]), []];
  });
  return isRun ? [fitLine([span(head, 'dim')], width), [], ...lines] : lines;
}

function sideBySide(left: readonly Line[], right: readonly Line[], column: number): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row): Line => [
    ...fitLine(left[row] ?? [], column),
    span(' │ ', 'faint'),
    ...(right[row] ?? []),
  ]);
}
