/**
 * The second derivative of a policy's entropy along v, from sequences that the policy drew: v⊤∇²H v, with which a step of length η changes
 * the entropy by η ∇H·v + ½η² v⊤∇²H v.
 *
 * With S the log-probability of a sequence, h its entropy, s its size (its tokens, or 1) and derivatives along v, the sums
 * N = E[h], D = E[s] of H = N/D have N′ = E[h′ + hS′], N″ = E[h″ + 2S′h′ + h(S″ + S′²)], and D likewise with s, which does not move; then
 * H′ = (N′ − HD′)/D and H″ = (N″ − 2H′D′ − HD″)/D. It is the second derivative of the entropy by importance sampling of the same sequences.
 */
import { errorOfSum, total, type Estimate, type ScoredSequence, type Unit } from './entropy-estimates.js';

/** The same sequences at θ, θ + length · v and θ − length · v. */
type ScoredAlong = {
  readonly here: readonly ScoredSequence[];
  readonly up: readonly ScoredSequence[];
  readonly down: readonly ScoredSequence[];
  readonly length: number;
};

/** Derivatives by second-order differences: `length` has to be small against the curvature of the scores. */
export function entropyCurvature({ here, up, down, length }: ScoredAlong, per: Unit = 'token'): Estimate {
  const count = here.length;
  const parts = here.map((scores, index) => {
    const S = derivativesAt(total(scores.logprobs), total(up[index]!.logprobs), total(down[index]!.logprobs), length);
    const h = derivativesAt(
      total(scores.entropies),
      total(up[index]!.entropies),
      total(down[index]!.entropies),
      length,
    );
    const weight = S.second + S.first ** 2;
    const s = per === 'token' ? scores.logprobs.length : 1;
    return {
      ...{ N: h.value, N1: h.first + h.value * S.first, N2: h.second + 2 * S.first * h.first + h.value * weight },
      ...{ D: s, D1: s * S.first, D2: s * weight },
    };
  });
  const mean = (name: keyof (typeof parts)[number]) => total(parts.map((part) => part[name])) / count;
  const D = mean('D');
  const [H, D1, D2] = [mean('N') / D, mean('D1'), mean('D2')];
  const H1 = (mean('N1') - H * D1) / D;
  const value = (mean('N2') - 2 * H1 * D1 - H * D2) / D;
  // Every mean of the formula is an estimate: the influence of a sequence on the value through each of them (delta
  // method).
  const influences = parts.map((part) => {
    const onH = (part.N - H * part.D) / D;
    const onH1 = (part.N1 - onH * D1 - H * part.D1 - H1 * part.D) / D;
    const moved = part.N2 - 2 * (onH1 * D1 + H1 * part.D1) - onH * D2 - H * part.D2;
    return (moved - value * part.D) / D / count;
  });
  return { value, standardError: errorOfSum(influences) };
}

function derivativesAt(here: number, up: number, down: number, length: number) {
  return { value: here, first: (up - down) / (2 * length), second: (up - 2 * here + down) / length ** 2 };
}
