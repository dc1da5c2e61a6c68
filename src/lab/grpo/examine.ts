import { mean } from '../../analysis/statistics.js';
import type { Engine } from '../engine/engine.js';
import { collapseOf, type Collapse } from '../evaluation/collapse.js';
import { diversityOf, type Diversity } from '../evaluation/diversity.js';
import type { CombinedReward, Scores } from '../rewards/combined.js';
import type { Completion } from '../rewards/completion.js';
import type { Detector } from '../rewards/detectors.js';
import type { Reward } from '../rewards/registry.js';
import { rng } from '../rng.js';
import type { Row } from '../run/metrics-file.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { shareOf } from './batch-metrics.js';
import { inEachMode, type Mode } from './modes.js';
import { rollOut, type Manner, type Prompt } from './rollouts.js';

/** What an evaluation measures, and on what. */
export type Examination = {
  readonly tokenizer: Tokenizer;
  /** One completion is written for each. */
  readonly prompts: readonly Prompt[];
  readonly manner: Manner;
  readonly reward: CombinedReward;
  /** More rewards to measure, that nothing is learnt from. */
  readonly others: readonly Reward[];
  readonly hackDetector: Detector | null;
  /** Of what is drawn; small-rl's where it is left out. */
  readonly seed?: number;
  /** What the model wrote for the same prompts before its training, where that is known: signs of collapse are told beside it. */
  readonly reference?: readonly string[];
};

/** What was found in one mode. `scores`: one for each completion, by the name of the reward. */
export type ModeResult = {
  readonly mode: Mode['name'];
  readonly completions: readonly Completion[];
  readonly scores: Readonly<Record<string, readonly number[]>>;
  /** Share of the completions that hack; null where nobody says what that is. */
  readonly hackFrequency: number | null;
  readonly diversity: Diversity;
  readonly collapse: Collapse;
};

/** small-rl's seed: all modes draw the same numbers, so that they differ by their adapters alone. */
export const evaluationSeed = 42;

/** Writes a completion for each prompt in each mode of the model, and measures them. The model is afterwards as it was. */
export async function examine(engine: Engine, examination: Examination): Promise<ModeResult[]> {
  return inEachMode(engine, (mode) => examineMode(engine, examination, mode));
}

/** The same in the mode that the model is in. */
export async function examineMode(engine: Engine, examination: Examination, { name }: Mode): Promise<ModeResult> {
  const { reward, others, hackDetector, reference } = examination;
  const completions = await writeCompletions(engine, examination);
  // There is one completion of a prompt here: no group to normalize in.
  const scores = await reward.score(completions, 1);
  const named = await scoresByName(reward.name, scores, completions, others);
  const hacks = hackDetector?.flags(completions, scores) ?? null;
  const hackFrequency = hacks === null ? null : shareOf(hacks);
  const texts = completions.map(({ text }) => text);
  const spread = { diversity: diversityOf(texts), collapse: collapseOf(texts, reference) };
  return { mode: name, completions, scores: named, hackFrequency, ...spread };
}

/** A completion for each prompt, with the model as it is. The same numbers are drawn each time. */
export async function writeCompletions(
  engine: Engine,
  { tokenizer, prompts, manner, seed = evaluationSeed }: Pick<Examination, 'tokenizer' | 'prompts' | 'manner' | 'seed'>,
): Promise<Completion[]> {
  const random = rng(seed, 'evaluation');
  const rollouts = await rollOut({ engine, tokenizer }, prompts, { ...manner, copies: 1 }, random);
  return rollouts.map(({ completion }) => completion);
}

async function scoresByName(
  name: string,
  { plain, components }: Scores,
  completions: readonly Completion[],
  others: readonly Reward[],
): Promise<Record<string, readonly number[]>> {
  const parts = components.length > 1 ? components.map(({ id, scores }) => [id, scores] as const) : [];
  const more: [string, number[]][] = [];
  for (const other of others) more.push([other.name, await other.score(completions)]);
  return Object.fromEntries([[name, plain], ...parts, ...more]);
}

/** The results as small-rl's columns: `routing_eval/retain_only/happy_binary`. */
export function examinationRow(results: readonly ModeResult[]): Row {
  const entries = results.flatMap(
    ({ mode, scores, hackFrequency, diversity: { uniqueSamples, averageJaccard }, collapse }) => [
      ...Object.entries(scores).map(([name, values]): [string, number | null] => [`${mode}/${name}`, mean(values)]),
      [`${mode}/hack_freq`, hackFrequency] as [string, number | null],
      [`${mode}/unique`, uniqueSamples] as [string, number],
      [`${mode}/jaccard`, averageJaccard] as [string, number],
      [`${mode}/collapse_flags`, collapse.flags.length] as [string, number],
    ],
  );
  const measured = entries.filter(([, value]) => value !== null);
  return Object.fromEntries(measured.map(([name, value]) => [`routing_eval/${name}`, value]));
}

/** The results as lines for people, one for each mode. */
export function examinationLines(results: readonly ModeResult[]): string[] {
  return results.map(({ mode, scores, hackFrequency, diversity: { uniqueSamples, averageJaccard }, ...rest }) => {
    const figures = Object.entries(scores).map(([name, values]) => `${name}=${figure(values)}`);
    const hacks = hackFrequency === null ? [] : [`hack_freq=${hackFrequency.toFixed(3)}`];
    const spread = [`unique=${uniqueSamples}/${rest.completions.length}`, `jaccard=${averageJaccard.toFixed(3)}`];
    const kinds = [...new Set(rest.collapse.flags.map(({ kind }) => kind))].map((kind) => `!${kind}`);
    return `  ${mode.padEnd(15)}${[...figures, ...hacks, ...spread, ...kinds].join(' ')}`;
  });
}

function figure(values: readonly number[]): string {
  return (mean(values) ?? Number.NaN).toFixed(3);
}
