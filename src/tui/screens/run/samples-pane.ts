import { Memo } from '../../../base/memo.js';
import { groupBy } from '../../../base/group-by.js';
import { readLogPattern } from '../../../logs/log-search.js';
import { type Sample, type Samples, samplesAt, stepsOf } from '../../../logs/samples.js';
import { cleanText } from '../../../text/display-text.js';
import { counted, NOTHING, shortNumber } from '../../../text/numbers.js';
import { wrapWithin } from '../../../text/wrap.js';
import { fitLine, type Line, span } from '../../surface/span.js';
import { type SampleChoice, stepIndex } from '../../state/sample-choice.js';

/** Inputs of the pane. `samples`: undefined until they have been read; null: they cannot be. `search`: a pattern; empty: none. */
type ShownSamples = {
  readonly samples: Samples | null | undefined;
  readonly choice: SampleChoice;
  readonly search: string;
};

/** Number of samples shown of a step, and rows of a prompt and of a completion. */
const MOST_SHOWN = 200;
const PROMPT_ROWS = 3;
const COMPLETION_ROWS = 12;
/** Columns between two steps beside each other, and the least number of columns for that. */
const GAP = 3;
const LEAST_BESIDE = 60;

const laidOut = new Memo<Samples, Line[]>(4);

/** The samples of a step, or of two steps beside each other. Returns all lines. */
export function sampleLines({ samples, choice, search }: ShownSamples, width: number): Line[] {
  if (samples === undefined) return [[span('reading…', 'faint')]];
  if (samples === null) return [[span('Samples of a run on another machine are not read.', 'faint')]];
  if (samples.all.length === 0) return nothingFound.map((words) => [span(words, 'faint')]);
  return laidOut.value(samples, JSON.stringify([choice, search, width]), () =>
    allLines(samples, { choice, search }, width),
  );
}

const nothingFound = [
  'No samples were found: JSON lines with prompt, completion and reward (rollouts/step_3.jsonl, samples.jsonl),',
  'TRL’s completions, the cookbook’s rollout summaries, or [Sample @ step 3] lines in the log.',
];

function allLines(samples: Samples, { choice, search }: Omit<ShownSamples, 'samples'>, width: number): Line[] {
  const steps = stepsOf(samples);
  const at = stepIndex(steps, choice);
  const read = search === '' ? null : readLogPattern(search);
  const pattern = read?.kind === 'pattern' ? read.regexp : null;
  const of = (index: number) => samplesAt(samples, { step: steps[index] ?? null, order: choice.order, pattern });
  const shown = of(at);
  const words = [
    `${stepWords(steps[at] ?? null)} (${at + 1} of ${steps.length})`,
    counted(shown.length, 'sample'),
    meanWords(shown),
    choice.order,
    ...(pattern === null ? [] : [`matching ${cleanText(search)}`]),
    ...(samples.isCut ? ['the latest; earlier ones are not read'] : []),
  ];
  const head = fitLine([span(words.join(' · '), 'dim')], width);
  if (!choice.isBeside || at === 0)
    return [head, [], ...shown.slice(0, MOST_SHOWN).flatMap((each) => block(each, width))];
  return [head, [], ...besideLines({ shown, before: of(at - 1), step: steps[at - 1] ?? null }, width)];
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

type Pair = { readonly shown: readonly Sample[]; readonly before: readonly Sample[]; readonly step: number | null };

/** Each prompt of this step, with what was written now at the left, and at the step before at the right. */
function besideLines({ shown, before, step }: Pair, width: number): Line[] {
  const isWide = width >= LEAST_BESIDE;
  const column = isWide ? Math.floor((width - GAP) / 2) : width;
  const earlier = groupBy(before, ({ prompt }) => prompt);
  const prompts = [...groupBy(shown.slice(0, MOST_SHOWN), ({ prompt }) => prompt)];
  return prompts.flatMap(([prompt, now]) => {
    const then = earlier.get(prompt) ?? [];
    const left: Line[] = [
      [span(`now: ${meanWords(now)}`, 'strong')],
      ...now.flatMap((each) => answerLines(each, column)),
    ];
    const right: Line[] = [
      [span(then.length === 0 ? `not at ${stepWords(step)}` : `${stepWords(step)}: ${meanWords(then)}`, 'strong')],
      ...then.flatMap((each) => answerLines(each, column)),
    ];
    return [...promptLines(prompt, width), ...(isWide ? sideBySide(left, right, column) : [...left, ...right]), []];
  });
}

function sideBySide(left: readonly Line[], right: readonly Line[], column: number): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, row): Line => [
    ...fitLine(left[row] ?? [], column),
    span(' │ ', 'faint'),
    ...(right[row] ?? []),
  ]);
}
