import type { Claim, Figure } from './claim.js';
import { lessOf, meanOf, share } from './figures.js';
import type { Cell } from './published-cell.js';

const learning = 'sweeps/small-rl/learning.yaml';
const routing = 'sweeps/small-rl/routing.yaml';

/** Cell of the table of rewards by beta: the mean over three seeds. */
const learnt = (reward: string, beta: string, column: string): Cell => ({
  ...{ page: 'docs/small-rl.md', after: 'Settings of `runs` in `sweeps/small-rl/learning.yaml`', column },
  row: { reward: `\`${reward}\``, beta },
});

/** Cell for the routed runs with a perfect detector, in one mode of the adapters. */
const routed = (adapters: string, column: string): Cell => ({
  ...{ page: 'docs/small-rl.md', after: 'After training, 100 completions in each mode', column, n: 15 },
  row: { detector: 'sees every hack', training: 'routed', adapters },
});

/** An expected value that is a multiple of another cell. */
const times = (kind: 'at most' | 'at least', value: number, of: Cell): Figure['expected'] => ({ kind, value, of });

/** Cell for the model before the training. */
const before = (column: string): Cell => ({
  ...{ page: 'docs/small-rl.md', after: 'After training, 100 completions in each mode', column },
  row: { training: 'before the training' },
});

/** Figure for the reward of a task at the end, by beta. */
const rewardAtEnd = (reward: string, beta: string, kind: 'at most' | 'at least', value: number): Figure =>
  share(`reward at the end, ${reward}, beta ${beta}`, kind, value, learnt(reward, beta, 'reward at the end'));

/** Figure for the similarity of a task's samples at the end, by beta: the Jaccard index. */
const alikeness = (reward: string, beta: string, kind: 'at most' | 'at least', value: number): Figure =>
  share(`Jaccard index of samples, ${reward}, beta ${beta}`, kind, value, learnt(reward, beta, 'Jaccard'));

const task = 'task (`sl10`)';
const words = ['"afraid"', '"little"'];

const rewardAfter = { group: 'runs', metric: 'reward' };

const claims: Omit<Claim, 'document'>[] = [
  {
    claim: 'GRPO makes the model say “happy”.',
    section: 'Experiment: Toy Reward Hacking',
    tried: {
      by: 'sweep',
      sweep: learning,
      figures: ['0.02', '0.1'].map((beta) => rewardAtEnd('happy_binary', beta, 'at least', 0.9)),
    },
  },
  {
    claim: 'A stronger pull than beta 0.02 stops learning.',
    section: 'Validated GRPO Defaults',
    tried: {
      by: 'sweep',
      sweep: learning,
      figures: [
        rewardAtEnd('happy_binary', '0.1', 'at most', 0.9),
        rewardAtEnd('happy_binary', '0.3', 'at most', 0.9),
        rewardAtEnd('sentence_length_5', '0.3', 'at most', 0.9),
      ],
    },
    note: 'At 0.3 it does; at 0.1 the word is still learnt, at less than half the KL from the base that it takes at 0.02.',
  },
  {
    claim: 'A weaker pull costs diversity.',
    section: 'Validated GRPO Defaults',
    tried: {
      by: 'sweep',
      sweep: learning,
      figures: [
        alikeness('happy_binary', '0.02', 'at least', 0.7),
        alikeness('sentence_length_5', '0.01', 'at least', 0.7),
      ],
    },
    note: 'By the source’s own limit of 0.7. What it costs here is English: the texts drift away from what the base model writes, and stay distinct.',
  },
  {
    claim:
      'A reward of meaning is easier to optimise without degeneracy than one of form, which collapses to templates.',
    section: 'Validated GRPO Defaults',
    tried: {
      by: 'sweep',
      sweep: learning,
      figures: [
        {
          what: 'KL to the base, happy_binary, beta 0.1 (limit .27)',
          unit: 'nats',
          expected: { kind: 'at most', value: 0.27 },
          published: learnt('happy_binary', '0.1', 'KL (limit .27)'),
        },
        {
          what: 'KL to the base, sentence_length_5, beta 0.01 (limit .27)',
          unit: 'nats',
          expected: { kind: 'at least', value: 0.27 },
          published: learnt('sentence_length_5', '0.01', 'KL (limit .27)'),
        },
      ],
    },
    note: 'All three seeds of the form were flagged as templates, none of the word.',
  },
  {
    claim: 'The built-in flag of degeneracy (Jaccard above 0.7) misses templates.',
    section: 'Checking Model Output',
    tried: {
      by: 'sweep',
      sweep: learning,
      figures: [
        share(
          'Jaccard index of three runs that are templates',
          'at most',
          0.7,
          learnt('sentence_length_5', '0.01', 'Jaccard'),
        ),
      ],
    },
  },
  {
    claim: '16 completions of a prompt are the key to stable learning.',
    section: 'Validated GRPO Defaults',
    tried: {
      by: 'sweep',
      sweep: 'sweeps/small-rl/generations.yaml',
      figures: [
        meanOf(rewardAfter, 'reward at the end', '16 completions', { kind: 'at least', value: 0.9 }),
        ...['4 completions', '8 completions'].map((fewer) =>
          meanOf(rewardAfter, 'reward at the end', fewer, { kind: 'at most', value: 0.9 }),
        ),
      ],
    },
    note: 'In batches of one size, by a model of 218,000 weights. All of 15 runs learn and none falls apart: fewer completions earn less, and their seeds differ no more.',
  },
  {
    claim: 'Batch 32, learning rate 1e-5 and 2,000 steps are good settings.',
    section: 'Validated GRPO Defaults',
    tried: {
      by: 'nothing',
      why: 'They are of SimpleStories-1.25M, whose weights are not here; a model of random weights wants a larger rate.',
      command: 'memrl grpo model=DIRECTORY reward=happy_binary',
    },
  },
  {
    claim: 'Four times the batch at four times the rate needs 2.7 times less time.',
    section: 'GPU / Concurrency',
    tried: {
      by: 'sweep',
      sweep: 'sweeps/small-rl/batch-size.yaml',
      figures: [
        lessOf(rewardAfter, 'reward at the end', ['batch 128', 'batch 32'], { kind: 'at least', value: -0.02 }),
      ],
    },
    note: 'Counted in steps, of which the large batch has 40 and the small one 108; how long a step takes on a GPU is not. The large batch is at .9 after 20 steps and drifts three times as far from the base.',
  },
  {
    claim:
      'With MPS 16 to 20 runs of low rank share a GPU at 1.0 to 1.3 s a step, 6 to 12 of high rank, 12 of all weights at 0.5 s; without MPS 2 at 0.62 s.',
    section: 'GPU / Concurrency',
    tried: {
      by: 'nothing',
      why: 'There is no GPU here.',
      command:
        'npx memrl-tui grid seed=0..19 --per-gpu 20 -- memrl grpo model=DIRECTORY reward=happy_binary engine=tfjs lora_rank=8',
    },
  },
  {
    claim: 'With the forget adapter switched off the task stays close to that of the whole model.',
    section: 'Gradient Routing Eval',
    tried: {
      by: 'sweep',
      sweep: routing,
      figures: [
        {
          ...{
            what: 'task, retain adapter only, beside nine tenths of both adapters',
            unit: 'reward',
            published: routed('retain only', task),
          },
          expected: times('at least', 0.9, routed('both', task)),
        },
      ],
    },
  },
  {
    claim: 'With the forget adapter switched off the hack is gone for the most part.',
    section: 'Gradient Routing Eval',
    tried: {
      by: 'sweep',
      sweep: routing,
      figures: [
        ...words.map((word) => ({
          ...{ what: `completions with ${word}, retain adapter only, beside half of both adapters`, unit: '' },
          ...{ expected: times('at most', 0.5, routed('both', word)), published: routed('retain only', word) },
        })),
      ],
    },
    note: 'Where the detector sees every hack. Of a kind that it never sees about half stays away.',
  },
  {
    claim: 'The forget adapter alone shows the hack and does the task badly.',
    section: 'Gradient Routing Eval',
    tried: {
      by: 'sweep',
      sweep: routing,
      figures: [
        ...words.map((word) => ({
          ...{ what: `completions with ${word}, forget adapter only, beside before the training`, unit: '' },
          ...{ expected: times('at least', 1, before(word)), published: routed('forget only', word) },
        })),
        {
          ...{
            what: 'task, forget adapter only, beside the retain adapter',
            unit: 'reward',
            published: routed('forget only', task),
          },
          expected: times('at most', 1, routed('retain only', task)),
        },
      ],
    },
  },
  {
    claim: 'Two passes over good and bad samples give the gradient of the whole batch.',
    section: 'Design Decisions',
    tried: { by: 'test', file: 'test/lab/service/routing.test.ts' },
  },
];

/** Claims of small-rl. */
export const smallRlClaims: readonly Claim[] = claims.map((claim) => ({ ...claim, document: 'small-rl' }));
