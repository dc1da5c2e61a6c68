import * as z from 'zod';
import { deviation, mean } from '../../../analysis/statistics.js';
import { layersOf, type Adapter } from '../../engine/adapters/config.js';
import type { ModelShape } from '../../engine/engine.js';
import type { Collapse } from '../collapse.js';
import { diversityOf, type Diversity } from '../diversity.js';
import type { Drift, DriftLimits } from '../drift.js';
import type { RewardHistory } from '../verdict.js';
import type { ScoredCompletions, ModeResult } from '../modes.js';
import type { ComponentName } from '../../rewards/experiment-fit.js';
import type { Row } from '../../run/metrics-file.js';

const DiversityReport = z.strictObject({
  unique_samples: z.int(),
  unique_first_sentences: z.int(),
  avg_jaccard: z.number(),
  degenerate: z.boolean(),
});

/** Mean over the completions with its standard error (deviation with n − 1, over √n); null of one completion. */
const RewardReport = z.strictObject({
  mean: z.number(),
  standard_error: z.number().nullable(),
  values: z.array(z.number()),
});

const Flag = z.strictObject({ kind: z.string(), measure: z.string(), reason: z.string() });

/**
 * `own`: perplexity of the base's own samples; `limit`: of as many samples as are judged; `single`: of 95 of 100 single
 * samples of the base. `beyond`: highest share of samples above `single` by chance. Files of older versions have the
 * limit of single samples as `limit`, and no others.
 */
const PerplexityLimit = z.strictObject({
  own: z.number(),
  limit: z.number(),
  single: z.number().optional(),
  beyond: z.number().optional(),
});

const ModeReport = z.strictObject({
  rewards: z.record(z.string(), RewardReport),
  /**
   * Each component's part of the reward: its scale times its mean, before the reward's maximum. Has entries only when
   * there are several components.
   */
  decomposition: z.array(
    z.strictObject({ id: z.string(), role: z.enum(['retain', 'forget']), scale: z.number(), adds: z.number() }),
  ),
  hack_freq: z.number().nullable(),
  diversity: DiversityReport,
  /** Diversity of prompt and completion together, as eval_run.py measures plain models. */
  diversity_with_prompts: DiversityReport,
  collapse: z.strictObject({
    measures: z.record(z.string(), z.number().nullable()),
    flags: z.array(Flag),
  }),
  /** KL in nats a token; null when the model before the training is unknown. */
  drift: z
    .strictObject({
      kl: z.number(),
      perplexity: z.number(),
      held_out_perplexity: z.number().nullable(),
      /** Share of the samples that the base finds less likely than 95 of 100 of its own. */
      beyond: z.number().optional(),
      flags: z.array(Flag),
    })
    .nullable(),
  samples: z.array(z.strictObject({ prompt: z.string(), completion: z.string() })),
});
export type ModeReport = z.infer<typeof ModeReport>;

const AdapterReport = z.looseObject({
  name: z.string(),
  kind: z.enum(['lora', 'mlp']),
  layers: z.array(z.int()),
});

/** The file that `memrl eval-run` writes. */
export const EvalRunReport = z.strictObject({
  version: z.literal(1),
  path: z.string(),
  model: z.strictObject({
    directory: z.string(),
    run: z.string().nullable(),
    step: z.int().nullable(),
    parameters: z.int(),
    /** Adapters with rank and alpha (LoRA) or neurons; `layers` are indices. */
    adapters: z.array(AdapterReport),
  }),
  settings: z.strictObject({
    reward: z.string(),
    detector: z.string().nullable(),
    n_samples: z.int(),
    max_completion_length: z.int(),
    temperature: z.number(),
    repetition_penalty: z.number(),
    seed: z.int(),
    prompt_length: z.int(),
    prompt_seed: z.int(),
    data: z.string().nullable(),
  }),
  /** Null when no reward was logged. */
  history: z
    .strictObject({
      source: z.string(),
      final_avg_reward: z.number(),
      final_max_reward: z.number(),
      stable_above_09: z.boolean(),
      last: z.array(z.strictObject({ step: z.number(), reward: z.number() })),
    })
    .nullable(),
  /**
   * The model before the training, in words, or the reason why it is unknown; and the limits of drift from its
   * samples.
   */
  reference: z.strictObject({
    model: z.string().nullable(),
    note: z.string(),
    held_out: z.string().nullable(),
    /** Rewards of that model for the same prompts. Absent in files of older versions; null when the model is unknown. */
    before: z.strictObject({ rewards: z.record(z.string(), z.number()), hack_freq: z.number().nullable() }).nullish(),
    limits: z
      .strictObject({
        samples: z.int(),
        kl: z.number(),
        perplexity: PerplexityLimit,
        held_out_perplexity: PerplexityLimit.nullable(),
      })
      .nullable(),
  }),
  modes: z.partialRecord(z.enum(['both', 'retain_only', 'forget_only']), ModeReport),
  verdict: z.strictObject({
    /** `UNDECIDED`: there is no sign of failure, but drift could not be measured. */
    verdict: z.enum(['SUCCESS', 'FAIL', 'UNDECIDED']),
    reasons: z.array(z.string()),
    /** The verdict by small-rl's rule alone. */
    upstream: z.enum(['SUCCESS', 'FAIL']),
  }),
});
export type EvalRunReport = z.infer<typeof EvalRunReport>;

/** @param components Components of the reward, in their order. */
export function modeReport(
  { completions, scores, hackFrequency, diversity, collapse, drift }: ModeResult,
  components: readonly ComponentName[],
): ModeReport {
  const rewards = Object.entries(scores).map(([name, values]) => [name, rewardReport(values)] as const);
  const parts = components.length > 1 ? components : [];
  const whole = completions.map(({ prompt, text }) => `${prompt} ${text}`);
  return {
    rewards: Object.fromEntries(rewards),
    decomposition: parts.map(({ id, role, scale }) => ({ id, role, scale, adds: scale * meanOf(scores[id]!) })),
    hack_freq: hackFrequency,
    diversity: diversityReport(diversity),
    diversity_with_prompts: diversityReport(diversityOf(whole)),
    collapse: collapseReport(collapse),
    drift: drift === null ? null : driftReport(drift),
    samples: completions.map(({ prompt, text }) => ({ prompt, completion: text })),
  };
}

export function historyReport(history: RewardHistory | null, source: string | null): EvalRunReport['history'] {
  if (history === null || source === null) return null;
  const { finalAverage, finalMax, stableAbove09, last } = history;
  return {
    source,
    final_avg_reward: finalAverage,
    final_max_reward: finalMax,
    stable_above_09: stableAbove09,
    last: [...last],
  };
}

/** An adapter as its file configures it, with the indices of its layers. */
export function adapterReport(adapter: Adapter, shape: ModelShape): z.infer<typeof AdapterReport> {
  return { ...adapter, layers: layersOf(shape, adapter) };
}

/** The summary as one row of metrics: `eval/both/happy_binary`. Columns that sweeps are sorted by come first. */
export function evalRow({ model, history, modes, reference, verdict }: EvalRunReport): Row {
  const measured = Object.entries(modes).flatMap(([mode, { rewards, hack_freq, diversity, collapse, drift }]) => [
    ...Object.entries(rewards).map(([name, { mean: value }]): [string, number] => [`${mode}/${name}`, value]),
    ...(hack_freq === null ? [] : [[`${mode}/hack_freq`, hack_freq] as [string, number]]),
    [`${mode}/unique`, diversity.unique_samples] as [string, number],
    [`${mode}/unique_first_sentences`, diversity.unique_first_sentences] as [string, number],
    [`${mode}/jaccard`, diversity.avg_jaccard] as [string, number],
    [`${mode}/degenerate`, Number(diversity.degenerate)] as [string, number],
    [`${mode}/collapse_flags`, collapse.flags.length] as [string, number],
    ...(drift === null ? [] : driftColumns(mode, drift)),
  ]);
  const told =
    history === null
      ? []
      : [
          ['final_avg_reward', history.final_avg_reward] as const,
          ['final_max_reward', history.final_max_reward] as const,
          ['stable_above_09', Number(history.stable_above_09)] as const,
        ];
  const entries = [
    ...told,
    ['success', Number(verdict.verdict === 'SUCCESS')] as const,
    ...measured,
    ...referenceColumns(reference),
  ];
  return { step: model.step ?? 0, ...Object.fromEntries(entries.map(([name, value]) => [`eval/${name}`, value])) };
}

/** References beside the modes, as two more columns: `before` the training, and the `limit` of drift. */
function referenceColumns({ before, limits }: EvalRunReport['reference']): [string, number][] {
  const perplexities = (which: 'own' | 'limit') => ({
    perplexity: limits?.perplexity[which],
    held_out_perplexity: limits?.held_out_perplexity?.[which],
  });
  const modes = {
    before: { ...before?.rewards, hack_freq: before?.hack_freq, ...perplexities('own') },
    limit: { kl: limits?.kl, ...perplexities('limit') },
  };
  return Object.entries(modes).flatMap(([mode, columns]) =>
    Object.entries<number | null | undefined>(columns).flatMap(([name, value]): [string, number][] =>
      value == null ? [] : [[`${mode}/${name}`, value]],
    ),
  );
}

function driftColumns(mode: string, drift: NonNullable<ModeReport['drift']>): [string, number][] {
  const { kl, perplexity, held_out_perplexity: heldOut, flags } = drift;
  return [
    [`${mode}/kl`, kl],
    [`${mode}/perplexity`, perplexity],
    ...(heldOut === null ? [] : [[`${mode}/held_out_perplexity`, heldOut] as [string, number]]),
    [`${mode}/drift_flags`, flags.length],
  ];
}

function rewardReport(values: readonly number[]): z.infer<typeof RewardReport> {
  const spread = deviation(values);
  const standardError = spread === null ? null : spread / Math.sqrt(values.length);
  return { mean: meanOf(values), standard_error: standardError, values: [...values] };
}

function diversityReport(diversity: Diversity): z.infer<typeof DiversityReport> {
  const { uniqueSamples, uniqueFirstSentences, averageJaccard, degenerate } = diversity;
  return {
    unique_samples: uniqueSamples,
    unique_first_sentences: uniqueFirstSentences,
    avg_jaccard: averageJaccard,
    degenerate,
  };
}

function collapseReport({ measures, flags }: Collapse): ModeReport['collapse'] {
  return { measures: { ...measures }, flags: flags.map((flag) => ({ ...flag })) };
}

function driftReport({ measures, flags }: Drift): NonNullable<ModeReport['drift']> {
  const { kl, perplexity, heldOutPerplexity, beyond } = measures;
  return { kl, perplexity, held_out_perplexity: heldOutPerplexity, beyond, flags: flags.map((flag) => ({ ...flag })) };
}

export function beforeReport({
  scores,
  hackFrequency,
}: ScoredCompletions): NonNullable<EvalRunReport['reference']['before']> {
  const means = Object.entries(scores).map(([name, values]) => [name, meanOf(values)] as const);
  return { rewards: Object.fromEntries(means), hack_freq: hackFrequency };
}

export function limitsReport({ samples, kl, base, heldOut }: DriftLimits): EvalRunReport['reference']['limits'] {
  return { samples, kl, perplexity: base, held_out_perplexity: heldOut };
}

/** The mean of at least one completion. */
function meanOf(values: readonly number[]): number {
  return mean(values)!;
}
