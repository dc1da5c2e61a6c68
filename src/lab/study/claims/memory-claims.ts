import type { Claim, Figure } from './claim.js';
import type { RowKey } from './measures.js';
import type { Cell } from './published-cell.js';

const document = 'memory-rl';
const headline = 'sweeps/headline.yaml';
/** Fifteen warm-ups and thirty secrets that were not used to choose any setting. */
const fresh = 'sweeps/replicate.yaml';
const [theExperiment, why] = ['The Experiment', 'Why This Matters'];

/** A figure agrees with a claimed size within this factor. */
const factor = 1.5;
const sizes = [64, 1024] as const;

const binary = (N: number): RowKey => ({ condition: 'binary', N });
const levels = (N: number): RowKey => ({ condition: 'binned', bins: 8, N });
const dense = (N: number): RowKey => ({ condition: 'dense, stepwise', N });
const examples = (N: number, batch_size: 1 | 128 = 1): RowKey => ({ condition: 'SFT', N, extra: { batch_size } });

/** Figures for both sizes of the secret. */
function bits(what: string, row: (N: number) => RowKey, expected: (bits: number) => Figure['expected']): Figure[] {
  return sizes.map((N) => ({
    ...{ what: `bits per ${what}, N = ${N}`, unit: 'bits', expected: expected(Math.log2(N)) },
    measure: { kind: 'bits', row: row(N) },
  }));
}

function ratioFigures(
  what: string,
  rl: (N: number) => RowKey,
  expected: (bits: number) => number,
  batch: 1 | 128 = 1,
): Figure[] {
  return sizes.map((N) => ({
    ...{ what: `${what}, N = ${N}`, unit: 'times', expected: { kind: 'about', value: expected(Math.log2(N)), factor } },
    measure: { kind: 'episodes over examples', of: rl(N), over: examples(N, batch) },
  }));
}

const atOneRate = (condition: string, row: Readonly<Record<string, string>>): Cell => ({
  ...{ page: 'docs/bits-per-episode.md', after: 'abcd-10seeds`, prints', row: { condition, ...row }, n: 10 },
  column: 'all seeds',
});

/** Predictions and conclusions of memory-rl. */
export const memoryClaims: readonly Claim[] = [
  {
    claim: 'Reinforcement learning with one reward at the end of an episode learns about 1 bit per episode.',
    ...{ document, section: theExperiment, headline: 'About 1 bit per episode' },
    tried: {
      by: 'sweep',
      sweep: headline,
      figures: bits('episode of right or wrong', binary, () => ({ kind: 'about', value: 1, factor })),
    },
    note: '1 bit is what such a reward can carry at most, and only where it is right half of the time.',
  },
  {
    claim: 'One reward of right or wrong carries at most 1 bit per episode.',
    ...{ document, section: theExperiment },
    tried: {
      by: 'sweep',
      sweep: fresh,
      figures: [64, 1024, 4096].map((N) => ({
        ...{ what: `bits per episode of right or wrong, N = ${N}`, unit: 'bits' },
        expected: { kind: 'at most', value: 1 },
        measure: { kind: 'bits', row: binary(N) },
      })),
    },
    note: 'A bound that no learner can break; the figures say how far below it training stays.',
  },
  {
    claim: 'Supervised learning takes log2 N bits from an example of the answer.',
    ...{ document, section: theExperiment },
    tried: {
      by: 'sweep',
      sweep: headline,
      figures: bits('example', examples, (value) => ({ kind: 'about', value, factor })),
    },
    note: 'One update with the answer is not enough to know it; some ten are.',
  },
  {
    claim:
      'Reinforcement learning with one reward takes log2 N times the episodes that supervised learning takes examples.',
    ...{
      document,
      section: theExperiment,
      headline: 'One reward takes log2 N times the examples of supervised learning (6 and 10)',
    },
    tried: { by: 'sweep', sweep: headline, figures: ratioFigures('episodes over examples', binary, (value) => value) },
    note: 'One example an update. In updates of the weights the two are nearer to each other: `memrl study runs/headline --tests` has these ratios, too.',
  },
  {
    claim: 'The same with supervised learning counted at batch 128, each at the rate that suits it.',
    ...{ document, section: 'Quick Start' },
    tried: {
      by: 'sweep',
      sweep: headline,
      figures: ratioFigures('episodes over examples at batch 128', binary, (value) => value, 128),
    },
    note: 'The 128 examples of a batch are one and the same, so these are the ratios of the row above divided by 128.',
  },
  {
    claim:
      'The same as the source counts: supervised learning at batch 128, all of reinforcement learning at one rate.',
    ...{ document, section: 'Quick Start' },
    tried: {
      by: 'sweep',
      sweep: 'sweeps/abcd-10seeds.yaml',
      figures: [
        {
          ...{ what: 'episodes over examples at batch 128, N = 1024, within a factor of two', unit: 'times' },
          expected: { kind: 'about', value: Math.log2(1024), factor: 2 },
          measure: { kind: 'episodes over examples', of: binary(1024), over: examples(1024, 128) },
          published: {
            ...atOneRate('binary', { N: '1024' }),
            over: atOneRate('SFT batch_size=128', { N: '1024' }),
          },
        },
      ],
    },
    note: 'It looks like the theory, and is none: batch 128 multiplies the examples by 128 and one low rate for all multiplies the episodes by some three. Another batch or another rate gives another ratio.',
  },
  {
    claim: 'A reward for each bit matches supervised learning.',
    ...{
      document,
      section: theExperiment,
      headline: 'A reward for each bit takes as many episodes as that takes examples (1)',
    },
    tried: { by: 'sweep', sweep: headline, figures: ratioFigures('episodes over examples', dense, () => 1) },
  },
  {
    claim: 'A reward for each bit teaches log2 N bits per episode.',
    ...{ document, section: theExperiment, headline: 'It teaches log2 N bits per episode (6 and 10)' },
    tried: {
      by: 'sweep',
      sweep: headline,
      figures: bits('episode with each bit rewarded', dense, (value) => ({ kind: 'about', value, factor })),
    },
  },
  {
    claim: 'A reward in B levels teaches at most log2 B bits per episode.',
    ...{ document, section: theExperiment },
    tried: {
      by: 'sweep',
      sweep: 'sweeps/abcd-10seeds.yaml',
      figures: [8, 16, 32].map((B) => ({
        ...{
          what: `bits per episode with ${B} levels, N = 1024`,
          unit: 'bits',
          expected: { kind: 'at most', value: Math.log2(B) },
        },
        measure: { kind: 'bits', row: { condition: 'binned', bins: B, N: 1024 } },
        published: { ...atOneRate('binned', { N: '1024', B: String(B) }), column: 'bits/episode' },
      })),
    },
    note: 'All at one learning rate, as the source trains. The published table has no interval; the study of the runs has it.',
  },
  {
    claim: 'Levels speed learning up as their bits do: with 8 levels a third of the episodes of right or wrong.',
    ...{
      document,
      section: theExperiment,
      headline: 'Eight levels take 1 / log2 8 of the episodes of right or wrong (0.333)',
    },
    tried: {
      by: 'sweep',
      sweep: fresh,
      figures: [
        ...[64, 1024, 4096].map((N) => ({ N, at: '', over: binary(N) })),
        { N: 1024, at: ' at 3.2e-3', over: { ...binary(1024), group: 'others' } },
        { N: 4096, at: ' at 2e-4', over: { ...binary(4096), group: 'others' } },
      ].map(({ N, at, over }) => ({
        ...{ what: `episodes with 8 levels over right or wrong${at}, N = ${N}`, unit: 'times' },
        expected: { kind: 'about', value: 1 / 3, factor },
        measure: { kind: 'ratio', of: levels(N), over },
      })),
    },
    note: 'The ratio depends on the rate that right or wrong has: none of these was chosen on these secrets ([on fresh secrets](bits-per-episode.md#on-fresh-secrets)).',
  },
  {
    claim:
      'The cost of a bit does not depend on N: episodes of one reward grow as log2 N, those with each bit rewarded not at all.',
    ...{ document, section: 'Sweep Experiments' },
    tried: {
      by: 'sweep',
      sweep: headline,
      figures: [
        {
          what: 'exponent of N, right or wrong',
          condition: 'binary',
          expected: { kind: 'at most', value: 0.25 },
        } as const,
        {
          what: 'exponent of N, 8 levels',
          condition: 'binned',
          bins: 8,
          expected: { kind: 'at most', value: 0.25 },
        } as const,
        {
          what: 'exponent of N, each bit rewarded',
          condition: 'dense, stepwise',
          expected: { kind: 'at most', value: 0.25 },
        } as const,
      ].map(({ what, expected, ...law }) => ({ what, unit: '', expected, measure: { kind: 'exponent', ...law } })),
    },
    note: 'log2 N grows as N^0.18 from 64 to 1,024. Right or wrong has to meet the secret by chance first, which costs N.',
  },
  {
    claim: 'The ceiling is the channel, not the algorithm: what the rewards have said the weights know.',
    ...{ document, section: why },
    tried: {
      by: 'sweep',
      sweep: fresh,
      figures: [
        ['binary', binary(1024)] as const,
        ['binned B=8', levels(1024)] as const,
        ['dense, stepwise', dense(1024)] as const,
      ].map(([condition, row]) => ({
        ...{ what: `episodes until known over episodes until said, ${condition}, N = 1024`, unit: 'times' },
        expected: { kind: 'about', value: 1, factor: 2 },
        measure: { kind: 'took/told', row },
      })),
    },
  },
  {
    claim: 'An adapter of low rank is enough to store what rewards tell.',
    ...{ document, section: why, headline: 'Adapters of low rank suffice (share of ten secrets memorised)' },
    tried: {
      by: 'sweep',
      sweep: 'sweeps/lora-rank.yaml',
      figures: [1, 2, 4, 16].map((rank) => ({
        ...{ what: `share of secrets memorised with rank ${rank}, N = 1024`, unit: '' },
        expected: { kind: 'at least', value: 0.5 },
        measure: { kind: 'memorised', row: { condition: 'dense, stepwise', N: 1024, extra: { lora_rank: rank } } },
        published: {
          ...{ page: 'docs/bits-per-episode.md', after: 'report lora-rank`', column: 'memorised' },
          row: { condition: `dense, stepwise lora_rank=${rank} learning_rate=${rank === 1 ? 0.001 : 0.0003}` },
        },
      })),
    },
    note: 'For ten bits, and in about twice the episodes that all weights take.',
  },
  {
    claim: 'Dense rewards are the only way to match supervised learning: levels and distances do not.',
    ...{ document, section: why },
    tried: {
      by: 'sweep',
      sweep: headline,
      figures: [
        ...ratioFigures('episodes over examples, each bit rewarded', dense, () => 1),
        ...ratioFigures(
          'episodes over examples, distance as the reward',
          (N) => ({ condition: 'log distance', N }),
          () => 1,
        ),
      ],
    },
    note: 'None of the two matches it. A reward without levels (the logarithm of the distance) is no nearer to it than eight levels.',
  },
  {
    claim: 'A warm-up teaches the form of an answer and nothing of the secret.',
    ...{ document, section: 'Format Warmup' },
    tried: {
      by: 'sweep',
      sweep: headline,
      figures: ['warmup_single', 'warmup_multi'].flatMap((group) => [
        {
          ...({ what: `legal answers, ${group}`, unit: '', expected: { kind: 'at least', value: 0.99 } } as const),
          measure: { kind: 'mean', group, metric: 'warmup/valid_rate' } as const,
        },
        {
          ...{ what: `entropy of the answers over that of a uniform choice, ${group}`, unit: '' },
          expected: { kind: 'at least', value: 0.99 } as const,
          measure: { kind: 'mean', group, metric: 'warmup/entropy_ratio' } as const,
        },
      ]),
    },
  },
  {
    claim: 'All of this regardless of the capacity of the model.',
    ...{ document, section: 'Introduction' },
    tried: {
      by: 'nothing',
      why: 'Every sweep here trains one model of 101,184 weights; only the rank of its adapter varies. A larger one takes hours on two cores for each size.',
      command: 'npx memrl-tui sweeps/headline.yaml --set model_name=DIRECTORY',
    },
  },
  {
    claim: 'Llama-3.1-8B learns N = 64 under each reward, as the pictures show.',
    ...{ document, section: 'Results' },
    tried: {
      by: 'nothing',
      why: 'Models of more than 268 million weights do not fit into the memory that the engines can address.',
    },
  },
];
