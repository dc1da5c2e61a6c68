import { join } from 'node:path';
import * as z from 'zod';
import { deviation, mean } from '../../analysis/statistics.js';
import { UserError } from '../../base/user-error.js';
import { namesIn } from '../config/value-type.js';
import type { Engine } from '../engine/engine.js';
import { batchesPerEpoch, epochBatches } from '../recipes/epochs.js';
import { lrMultiplier } from '../recipes/learning-rate.js';
import { findReward } from '../rewards/registry.js';
import { rng } from '../rng.js';
import { lastCheckpoint, restore, type Resumed } from '../run/checkpoint.js';
import type { Companions } from '../run/companion-files.js';
import { requireFinite } from '../run/finite.js';
import { appendJsonLine, dropRowsFrom, type Row } from '../run/metrics-file.js';
import type { RunDirectory } from '../run/run-directory.js';
import { isComplete, runRecipe, type Ending, type Recipe, type Schedule } from '../run/run-recipe.js';
import { wandbRun } from '../run/wandb-file.js';
import type { World } from '../run/world.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { Averages, AveragesState } from './averages.js';
import { advantagesOf } from './baselines.js';
import { batchMetrics, shareOf } from './batch-metrics.js';
import { fingerprint } from './fingerprint.js';
import { examinationLines, examinationRow, examine, type Examination } from './examine.js';
import { openJudge, type Judge, type Judged } from './judge.js';
import { Learner } from './learner.js';
import { openModels, openPrompts, tokenizerOf } from './material.js';
import { rollOut, type Prompt, type Rollout } from './rollouts.js';
import type { Learnt } from './samples.js';
import { stepsOf, type GrpoConfig, type Settings } from './settings.js';
import { sampleLine, withTrainLog } from './train-log.js';
import { trainerState } from './trainer-state.js';

/** Keys that may differ from attempt to attempt. max_steps is none: the learning rate falls to 0 at it. */
export const grpoBudget = new Set(
  'log_path run_name logging_steps save_steps eval_routing_steps eval_samples eval_rewards eval_prompts engine threads keep_checkpoints tensorboard no_wandb wandb_project wandb_name'.split(
    ' ',
  ),
);

const routingEvalFile = 'routing_eval.jsonl';

/** GRPO on stories: from the first step, or from the last checkpoint in the directory. */
export async function grpo(settings: Settings, directory: RunDirectory, world: World): Promise<Ending> {
  const { config, experiment } = settings;
  const { tokenizer, files } = tokenizerOf(config.model);
  const judge = await openJudge(config, experiment, tokenizer);
  const prompts = openPrompts(config, tokenizer);
  const perEpoch = batchesPerEpoch(prompts.train.length, config.batch_size / config.num_generations);
  const schedule = scheduleOf(config, stepsOf(config, perEpoch));
  const resumed = lastCheckpoint(directory, world.log);
  if (isComplete(resumed, schedule)) {
    world.log(`already complete: ${resumed!.batch} steps are done.`);
    return { kind: 'finished' };
  }
  const logged = withTrainLog(world, directory);
  const { engine, reference } = await openModels(settings, { tokenizer, resumed }, logged, directory);
  if (resumed !== null) await restore(engine, resumed);
  const learning = { beta: config.beta, temperature: config.temperature, routing: settings.routing };
  const examination = await examinationOf(config, { tokenizer, judge, prompts: prompts.test });
  const trainer = new Trainer(
    config,
    {
      learner: new Learner(engine, reference, learning),
      judge,
      prompts: prompts.train,
      examination,
      begun: fingerprint(prompts.train, experiment),
    },
    { directory, files, steps: schedule.batches, log: logged.log },
    resumed,
  );
  dropRowsFrom(join(directory.path, routingEvalFile), resumed?.batch ?? 0);
  announce(settings, { judge, prompts: prompts.train, resumed }, logged.log);
  return runRecipe({ world: logged, directory, schedule, recipe: trainer, start: resumed?.batch ?? 0 });
}

type Examined = { readonly tokenizer: Tokenizer; readonly judge: Judge; readonly prompts: readonly Prompt[] };

async function examinationOf(config: GrpoConfig, { tokenizer, judge, prompts }: Examined): Promise<Examination> {
  const names = [...(config.base_reward === null ? [] : [config.base_reward]), ...namesIn(config.eval_rewards)];
  const others = names.map((name) => findReward(name, {}, tokenizer));
  const { reward, hackDetector } = judge;
  return { tokenizer, prompts, manner: mannerOf(config), reward, others: await Promise.all(others), hackDetector };
}

type Material = {
  readonly learner: Learner;
  readonly judge: Judge;
  readonly prompts: readonly Prompt[];
  readonly examination: Examination;
  /** What the run began with, see `fingerprint`. */
  readonly begun: string;
};

/** Where a run writes. `files`: of the tokenizer, for checkpoints. `steps`: of the whole run. */
type Place = {
  readonly directory: RunDirectory;
  readonly files: ReadonlyMap<string, string>;
  readonly steps: number;
  readonly log: (line: string) => void;
};

const SavedState = z.object({ averages: AveragesState, tokens: z.int(), begun: z.string() });

/** The state of a run between checkpoints and rows. What is drawn depends on seed and step alone. */
class Trainer implements Recipe {
  readonly engine: Engine;
  readonly #config: GrpoConfig;
  readonly #material: Material;
  readonly #place: Place;
  readonly #batch: (step: number) => readonly Prompt[];
  readonly #averages = new Averages();
  /** Tokens of prompts and completions learnt from. */
  #tokens = 0;
  #step: number;
  #sample: Rollout | null = null;
  #lastReward: number | null = null;

  constructor(config: GrpoConfig, material: Material, place: Place, resumed: Resumed | null) {
    this.engine = material.learner.engine;
    this.#config = config;
    this.#material = material;
    this.#place = place;
    const { seed, batch_size: size, num_generations: copies } = config;
    this.#batch = epochBatches(material.prompts, size / copies, { seed, name: 'prompts' });
    this.#step = resumed?.batch ?? 0;
    if (resumed === null) return;
    const saved = SavedState.safeParse(resumed.state);
    if (!saved.success) {
      throw new UserError(`The checkpoint ${resumed.path} is not one of memrl grpo.`, 'Choose another log_path.');
    }
    if (saved.data.begun !== material.begun) {
      throw new UserError(
        'The stories, or a module with a reward or detector, have changed since this run began.',
        'Put back the files, or begin again in another log_path.',
      );
    }
    this.#averages.restore(saved.data.averages);
    this.#tokens = saved.data.tokens;
  }

  get companions(): Companions {
    const log = trainerState(this.#place.directory.metrics, this.#step, this.#place.steps);
    return { shape: this.engine.shape, files: new Map([...this.#place.files, log]) };
  }

  state(): unknown {
    return { averages: this.#averages.state(), tokens: this.#tokens, begun: this.#material.begun };
  }

  progress(step: number): Row {
    const { batch_size: size, num_generations: copies } = this.#config;
    const perEpoch = batchesPerEpoch(this.#material.prompts.length, size / copies);
    return {
      epoch: step / Math.max(1, perEpoch),
      learning_rate: this.#learningRate(step),
      num_tokens: this.#tokens,
      'progress/episodes': step * size,
    };
  }

  async evaluate(): Promise<Row> {
    const { examination } = this.#material;
    if (examination.prompts.length === 0) return {};
    const results = await examine(this.engine, examination);
    const row = examinationRow(results);
    const lines = [`[Routing Eval @ step ${this.#step}]`, ...examinationLines(results)];
    lines.forEach(this.#place.log);
    appendJsonLine(join(this.#place.directory.path, routingEvalFile), { step: this.#step, ...shortNames(row) });
    return row;
  }

  enough(): null {
    return null;
  }

  async step(step: number): Promise<void> {
    const { learner, judge, examination } = this.#material;
    const { num_generations: copies, baseline } = this.#config;
    const random = rng(this.#config.seed, `sampling/${step}`);
    const manner = { ...mannerOf(this.#config), copies };
    const rollouts = await rollOut(
      { engine: this.engine, tokenizer: examination.tokenizer },
      this.#batch(step),
      manner,
      random,
    );
    const judged = await judge.judge(
      rollouts.map(({ completion }) => completion),
      copies,
      step,
    );
    const advantages = advantagesOf({ ...judged, groupSize: copies }, baseline);
    const learnt = await learner.differentiate(rollouts, advantages, judged.passes);
    requireFinite(learnt.loss, 'the loss', step);
    const gradientNorm = await learner.step(this.#learningRate(step));
    requireFinite(gradientNorm, 'the norm of the gradient', step);
    this.#tokens += rollouts.reduce((sum, { prompt, tokens }) => sum + prompt.tokens.length + tokens.length, 0);
    this.#step = step + 1;
    this.#sample = rollouts[0] ?? null;
    this.#note(rollouts, judged, learnt, gradientNorm);
  }

  statistics(): Row {
    return this.#averages.take();
  }

  rowLines(): string[] {
    if (this.#sample === null) return [];
    const { prompt, completion } = this.#sample;
    return ['', sampleLine(this.#step, { prompt: prompt.text, text: completion.text }), ''];
  }

  words(): string {
    return `reward ${this.#lastReward?.toFixed(3) ?? '–'}`;
  }

  #note(rollouts: readonly Rollout[], judged: Judged, learnt: Learnt, gradientNorm: number): void {
    const { num_generations: groupSize, gradient_routing: routes } = this.#config;
    const lengths = rollouts.map(({ tokens }) => tokens.length);
    const ended = rollouts.map((rollout) => rollout.ended);
    const metrics = batchMetrics({ rewards: judged.rewards, groupSize, lengths, ended });
    this.#lastReward = metrics['reward'] ?? null;
    this.#averages.add({
      loss: learnt.loss,
      grad_norm: gradientNorm,
      ...metrics,
      ...(this.#config.beta > 0 && { kl: learnt.kl / learnt.tokens }),
      entropy: learnt.entropy / learnt.tokens,
      ...rewardMetrics(judged, this.#material.judge),
      ...(routes && {
        'routing/frac_rh': shareOf(judged.passes.hack),
        'routing/frac_ablated': shareOf(judged.passes.ablated),
      }),
    });
  }

  #learningRate(step: number): number {
    return this.#config.lr * lrMultiplier('linear', step, this.#place.steps);
  }
}

function rewardMetrics({ scores, hacks, retain }: Judged, { hackDetector, reward }: Judge): Row {
  const parts = scores.components.length > 1 ? scores.components : [];
  const measured = [{ id: reward.name, scores: scores.plain }, ...parts];
  const rewards = measured.flatMap(({ id, scores: values }): [string, number | null][] => [
    [`rewards/${id}/mean`, mean(values)],
    [`rewards/${id}/std`, deviation(values)],
  ]);
  return {
    ...Object.fromEntries(rewards),
    'rewards/retain/mean': mean(retain),
    ...(hacks !== null && { [`hack_freq/${hackDetector!.name}`]: shareOf(hacks) }),
  };
}

function mannerOf(config: GrpoConfig) {
  const { max_completion_length: maxTokens, temperature, repetition_penalty: repetitionPenalty } = config;
  return { maxTokens, temperature, repetitionPenalty };
}

function scheduleOf(config: GrpoConfig, batches: number): Schedule {
  return {
    batches,
    evalEvery: config.eval_routing_steps,
    logEvery: config.logging_steps,
    saveEvery: config.save_steps,
    keep: config.keep_checkpoints,
    tensorboard: config.tensorboard,
    wandb: wandbRun({ ...config, wandb_name: config.wandb_name ?? config.run_name }),
  };
}

/** `routing_eval/both/unique` → `both/unique`: the file is of nothing else. */
function shortNames(row: Row): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name.replace(/^routing_eval\//, ''), value]));
}

function announce(
  { config, experiment, routing }: Settings,
  { judge, prompts, resumed }: { judge: Judge; prompts: readonly Prompt[]; resumed: Resumed | null },
  log: (line: string) => void,
): void {
  const detector = experiment.detector === null ? 'none' : experiment.detector.name;
  log(
    `reward ${judge.reward.name} · ${prompts.length} prompts · ${config.batch_size} completions a step, ${config.num_generations} of each prompt`,
  );
  if (routing !== null) log(`gradient routing: ${routing}, detector ${detector}`);
  if (config.baseline !== null) log(`baseline: ${config.baseline}, detector ${detector}`);
  if (resumed !== null) log(`continues at step ${resumed.batch} from ${resumed.path}`);
}
