/** The change of the entropy in truth: by importance sampling of the batch E, at moved weights. */
import type { Engine, Floats } from '../../engine/engine.js';
import { total, type ScoredSequence } from '../../probes/entropy-estimates.js';
import { entropyChange } from '../../probes/importance-sampling.js';
import { movedAlong, scoresOf, type Batch } from '../../probes/scored-batch.js';
import type { EntropyConfig } from './keys.js';

export type Along = { readonly E: Batch; readonly scores: readonly ScoredSequence[]; readonly direction: Floats };

/** ΔH at weights + step · direction, by importance sampling. */
export async function changeAt(engine: Engine, { E, scores, direction }: Along, step: number, config: EntropyConfig) {
  const moved = await movedAlong(engine, { direction, step }, () => scoresOf(engine, E, config.temperature));
  const sums = (rows: readonly ScoredSequence[], name: keyof ScoredSequence) => rows.map((row) => total(row[name]));
  const reweighted = {
    logprobs: sums(scores, 'logprobs'),
    movedLogprobs: sums(moved, 'logprobs'),
    entropies: sums(scores, 'entropies'),
    movedEntropies: sums(moved, 'entropies'),
    lengths: scores.map(({ logprobs }) => logprobs.length),
  };
  return entropyChange(reweighted, { per: config.per, clip: config.clip_c });
}

/**
 * The truth at each learning rate. `delta_h_adjusted` has the first order's noise taken out: the prediction that is made of the same
 * estimate is replaced by the one with centred credits, which has the same mean.
 */
export async function changes(
  engine: Engine,
  along: Along & { readonly approx: { readonly difference: { readonly value: number } } },
  config: EntropyConfig,
) {
  const entries = [];
  for (const eta of config.eta) {
    const { change, standardError, before, after, ess, clipShare, logWeights } = await changeAt(
      engine,
      along,
      eta,
      config,
    );
    const diagnostics = {
      base_entropy: before,
      h_new: after,
      ess,
      clip_fraction: clipShare,
      logweight_stats: logWeights,
    };
    entries.push({
      eta,
      delta_h_true: change,
      standard_error: standardError,
      delta_h_adjusted: change + eta * along.approx.difference.value,
      diagnostics,
    });
  }
  return entries;
}
