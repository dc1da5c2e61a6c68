import { UserError } from '../../../base/user-error.js';
import type { Config } from '../../config/key.js';
import { namesIn } from '../../config/value-type.js';
import { buildExperiment } from '../../rewards/build-experiment.js';
import type { Experiment } from '../../rewards/experiment-fit.js';
import { experimentOf, readExperiment } from '../../rewards/experiment.js';
import { moduleName, isModulePath } from '../../config/own-module.js';
import { rewardedBy } from '../../rewards/scores.js';
import { findReward } from '../../rewards/registry.js';
import { type RolloutOptions, taskOf } from '../../rollouts/rollouts.js';
import type { ModeEvaluation } from '../modes.js';
import { readableStories } from '../../environments/stories/parquet-stories.js';
import { beginningsOf, storyEnvironment } from '../../environments/stories/stories.js';
import type { Tokenizer } from '../../text/tokenizer.js';
import type { evalRunKeys } from './keys.js';
import { StoredRun } from './stored-run.js';

type EvalConfig = Config<typeof evalRunKeys>;

/** Settings of an evaluation: the measures, and the sampling. */
export type EvaluationMeasures = {
  readonly experiment: Experiment;
  /** Names of more rewards. */
  readonly others: readonly string[];
  readonly sampling: RolloutOptions['sampling'];
  /** Source of the stories for prompts; null: the grammar. */
  readonly data: string | null;
};

/**
 * Takes each setting from the command line, else from `training` of its file, else from the run, else from small-rl's
 * defaults. A file's rewards replace all those of the run.
 *
 * @throws UserError
 */
export function measuredOf(config: EvalConfig, stored: StoredRun): EvaluationMeasures {
  const names = namesIn(config.eval_rewards);
  const file = config.config === null ? null : readExperiment(config.config, { routingMode: routingOf(stored) });
  const inFile = file === null ? {} : trainingOf(file);
  const how = howOf(config, { ...stored, ...inFile });
  const known = file ?? stored.experiment ?? null;
  if (known === null) {
    const [first = 'happy_binary', ...others] = names;
    return { experiment: experimentOf({ rewards: [first] }), others: without([first], others), ...how };
  }
  const { base_reward: base, eval_rewards: more } = file === null ? stored : inFile;
  const wanted = [...(base == null ? [] : [base]), ...namesIn(more ?? ''), ...names];
  return { experiment: known, others: othersBeside(known, wanted), ...how };
}

/** small-rl's own settings are the defaults when neither a run nor a file sets them. */
function howOf(config: EvalConfig, known: StoredRun): Pick<EvaluationMeasures, 'sampling' | 'data'> {
  return {
    sampling: {
      maxTokens: config.max_completion_length ?? known.max_completion_length ?? 128,
      temperature: config.temperature ?? known.temperature ?? 1,
      repetitionPenalty: config.repetition_penalty ?? known.repetition_penalty ?? 1,
    },
    data: config.data ?? known.data ?? null,
  };
}

/** Opens rewards, detectors and prompts. @throws UserError for those that cannot be opened. */
export async function evaluationOf(
  config: EvalConfig,
  measured: EvaluationMeasures,
  tokenizer: Tokenizer,
): Promise<ModeEvaluation> {
  const { experiment, sampling, data } = measured;
  const { n_samples: count, prompt_length: length, prompt_seed: promptSeed, seed } = config;
  const built = await buildExperiment(experiment, tokenizer);
  const others = await Promise.all(measured.others.map((name) => findReward(name, {}, tokenizer)));
  const beginnings = beginningsOf(
    { data: await readableStories(data), seed: promptSeed, length, dropShort: false },
    'test',
    count,
    tokenizer,
  );
  const rewarded = rewardedBy(storyEnvironment(tokenizer, beginnings), built.reward);
  const tasks = beginnings.map((_, index) => taskOf(rewarded.environment, index, { seed, name: 'test' }));
  const hackDetector = built.hackFrequencyDetector ?? built.detector;
  return { ...rewarded, tasks, sampling, others, hackDetector, seed };
}

function routingOf({ gradient_routing: routes, routing_mode: mode }: StoredRun) {
  return routes === true && mode != null ? mode : 'none';
}

function trainingOf({ training, source }: Experiment): StoredRun {
  const settings = Object.entries(training).filter(([name]) => name !== 'routing_mode');
  const read = StoredRun.safeParse(Object.fromEntries(settings));
  if (read.success) return read.data;
  const { path, message } = read.error.issues[0]!;
  throw new UserError(`${source}: \`training.${path.join('.')}\`: ${message}.`, 'Write a value of that type.');
}

/**
 * The requested rewards that the experiment does not already measure as components.
 * @throws UserError for one that has the name of a component with another reward.
 */
function othersBeside({ reward }: Experiment, wanted: readonly string[]): string[] {
  const { components } = reward;
  const combined = components.map(({ id }) => id).join('+');
  const measured = components.filter(({ id, name, params }) => id === name && Object.keys(params).length === 0);
  const others = without(
    measured.map(({ id }) => id),
    wanted,
  );
  const clash = others.find((name) => [combined, ...components.map(({ id }) => id)].includes(shownAs(name)));
  if (clash === undefined) return others;
  throw new UserError(
    `eval_rewards has ${clash}, and a component of the reward is called ${shownAs(clash)}, too: their columns would be one.`,
    'Leave it out, or give the component another `id` in a file (config=…).',
  );
}

function shownAs(name: string): string {
  return isModulePath(name) ? moduleName(name) : name;
}

function without(measured: readonly string[], names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => !measured.includes(name));
}
