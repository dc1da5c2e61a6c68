import * as z from 'zod';
import type { Experiment } from '../../rewards/experiment-fit.js';

const Params = z.record(z.string(), z.unknown());
const Choice = z.looseObject({
  name: z.string(),
  params: Params,
  component: z.string().nullable(),
  falsePositiveRate: z.number(),
});
const Component = z.looseObject({
  id: z.string(),
  role: z.enum(['retain', 'forget']),
  scale: z.number(),
  name: z.string(),
  params: Params,
});

/** Reward and detectors as memrl grpo writes them into `config.json`. Paths of modules in it are absolute. */
const StoredExperiment: z.ZodType<Experiment> = z.looseObject({
  source: z.string(),
  form: z.enum(['single', 'components']),
  name: z.string().nullable(),
  reward: z.looseObject({
    components: z.array(Component).nonempty(),
    maxReward: z.number().nullable(),
    normalize: z.boolean(),
  }),
  detector: Choice.nullable(),
  detectorRecall: z.number(),
  hackFrequencyDetector: Choice.nullable(),
  training: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  routingMode: z.enum(['none', 'shared', 'exclusive']).nullable(),
});

/** Settings of a run that its evaluation needs. Runs of other recipes have fewer of them. */
export const StoredRun = z.looseObject({
  model: z.string().optional(),
  log_path: z.string().nullish(),
  data: z.string().nullish(),
  max_completion_length: z.int().positive().optional(),
  temperature: z.number().positive().optional(),
  repetition_penalty: z.number().positive().optional(),
  base_reward: z.string().nullish(),
  eval_rewards: z.string().optional(),
  gradient_routing: z.boolean().optional(),
  routing_mode: z.enum(['shared', 'exclusive']).nullish(),
  experiment: StoredExperiment.optional(),
});
export type StoredRun = z.infer<typeof StoredRun>;
