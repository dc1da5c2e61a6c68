/**
 * `memrl rl_loop`: tinker-cookbook's loop to read and to change, directly on the four operations of a service. It does
 * for word problems of one turn what `memrl rl` does in general.
 */
import * as z from 'zod';
import { key, type Config } from '../config/key.js';
import { logPath, runKeys, seed } from '../config/run-keys.js';
import { float, int, orNone, text } from '../config/value-type.js';
import { numericalSuffix, readProblems, scoreAnswer, type Problem } from '../environments/word-problems/gsm8k.js';
import { importanceSampling } from '../objectives/objectives.js';
import { trainedKeys } from '../algorithms/rl-settings.js';
import { rng } from '../rng.js';
import { epochBatches, someBatches, turnFrom } from '../rollouts/rollouts.js';
import type { Companions } from '../run/companion-files.js';
import type { Means } from '../run/metrics-file.js';
import { restoredState, runTraining, scheduleOf, type Ending, type Run, type Training } from '../run/runner.js';
import type { Datum, TrainingService } from '../service/service.js';
import type { Renderer } from '../text/conversation.js';
import { openRenderer } from '../text/renderers.js';
import { endingsOf } from '../text/tokenizer.js';
import { openTrainedModel, type OpenedModel } from '../tinker/client/open-trained.js';
import { cookbookAdam } from '../update/update.js';

export const rlLoopKeys = {
  ...trainedKeys,
  path: key(text, '', 'the problems: JSON lines or parquet with the columns question and answer, as GSM8K has them'),
  renderer_name: key(orNone(text), null, 'role_colon, llama3 or chatml; None: as the chat template of the tokenizer'),
  batch_size: key(int(1), 128, 'problems per step'),
  group_size: key(int(2), 16, 'answers per problem'),
  learning_rate: key(float(0), 4e-5, 'learning rate of Adam (betas 0.9, 0.95), constant'),
  max_tokens: key(int(1), 256, 'maximum tokens of an answer'),
  num_epochs: key(int(0), 1, 'passes over the problems'),
  save_every: key(int(0), 20, 'steps between checkpoints, 0 for only the last'),
  log_every: key(int(1), 1, 'steps between rows of metrics.jsonl'),
  log_path: logPath,
  seed,
};
type RlLoopConfig = Config<typeof rlLoopKeys>;

export const rlLoopBudget: ReadonlySet<string> = new Set([
  ...'num_epochs base_url save_every log_every'.split(' '),
  ...Object.keys(runKeys),
]);

export async function rlLoop(config: RlLoopConfig, run: Run): Promise<Ending> {
  const problems = await readProblems(config.path);
  const steps = someBatches(config.path, problems.length, config.batch_size) * config.num_epochs;
  const open = async () => new RlLoop(config, { ...(await openTrainedModel(config, run)), problems }, run);
  return runTraining(open, scheduleOf(config, { ...config, eval_every: 0 }, steps), run);
}

class RlLoop implements Training {
  readonly algorithm = 'rl_loop';
  readonly service: TrainingService;
  readonly companions: Companions | undefined;
  readonly #config: RlLoopConfig;
  readonly #trained: OpenedModel;
  readonly #renderer: Renderer;
  readonly #batch: (step: number) => Problem[];
  #reward = NaN;

  constructor(config: RlLoopConfig, trained: OpenedModel & { readonly problems: readonly Problem[] }, run: Run) {
    this.service = trained.service;
    this.companions = trained.companions ?? undefined;
    this.#config = config;
    this.#trained = trained;
    this.#renderer = openRenderer(config.renderer_name, trained.tokenizer);
    this.#batch = epochBatches(trained.problems, config.batch_size, { seed: config.seed, name: 'problems' });
    restoredState(run, z.looseObject({}), this.algorithm);
  }

  async step(step: number, row: Means): Promise<void> {
    const { service, tokenizer } = this.#trained;
    const { group_size: size, max_tokens: maxTokens, learning_rate: learningRate, seed } = this.#config;
    const renderer = this.#renderer;
    const sampling = { maxTokens, temperature: 1, stop: [...endingsOf(renderer.stop, tokenizer)] };
    const random = rng(seed, `sampling/${step}`);

    // Save weights for sampling.
    const sampler = service.snapshot?.() ?? service;
    // Sample group_size responses to each question.
    const sampled = this.#batch(step).map(({ question, gold }) => {
      const messages = [{ role: 'user', content: question + numericalSuffix }] as const;
      const prompt = Int32Array.from(tokenizer.encode(renderer.prompt(messages)));
      const prompts = Array.from({ length: size }, () => ({ tokens: prompt, seed: random.below(2 ** 32) }));
      return { prompt, gold, sequences: sampler.sample({ prompts, sampling }) };
    });

    const datums: Datum[] = [];
    const batchRewards: number[] = [];
    for (const { prompt, gold, sequences } of sampled) {
      const turns = (await sequences).map((generated) => turnFrom(generated, renderer.stop, tokenizer).turn);
      const rewards = turns.map((turn) => scoreAnswer(turn.text, gold).correct);
      const meanReward = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
      batchRewards.push(meanReward);
      const advantages = rewards.map((reward) => reward - meanReward);
      // A group with equal rewards has no signal.
      if (advantages.every((advantage) => advantage === 0)) continue;
      turns.forEach(({ tokens, logprobs }, index) => {
        const each = (value: number) => Float32Array.from(tokens, () => value);
        datums.push({ prompt, tokens, logprobs, advantages: each(advantages[index]!), weights: each(1) });
      });
    }

    this.#reward = batchRewards.reduce((sum, reward) => sum + reward, 0) / batchRewards.length;
    row.add('reward/total', this.#reward);
    if (datums.length === 0) return;

    // Training step: both requests are sent before the first result is waited for.
    const learning = service.forwardBackward(datums, { objective: importanceSampling });
    const stepping = service.optimStep({ ...cookbookAdam, learningRate });
    await Promise.all([learning, stepping]);
  }

  progress() {
    return { 'optim/lr': this.#config.learning_rate };
  }

  ended(): Promise<void> {
    return this.#trained.close();
  }

  words(): string {
    return `reward ${this.#reward.toFixed(3)}`;
  }
}
