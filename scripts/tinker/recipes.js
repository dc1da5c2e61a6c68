/**
 * The cookbook's recipes and settings with which each learns something in a minute or two. Those which need what is not on this
 * machine are listed with what they need.
 *
 * A recipe has a `module` below `tinker_cookbook.recipes`, the `keys` of its command line, and `shows`, by which its metrics file tells
 * that it learns: a metric, of which the first and the last values (`over` of them on average) are compared, and the least change wanted.
 * `home`: path of what it writes, where it takes no `log_path`. `teachers`: keys that get the weights which another recipe has saved.
 */
import { characterLessons, characters, judge, wordLessons, words, wordsBase } from './hub.js';

const inCharacters = { model_name: characters, renderer_name: 'role_colon', learning_rate: 1e-3 };
const inWords = { model_name: words, renderer_name: 'qwen3_5_disable_thinking', learning_rate: 1e-3 };
const guessing = { ...inWords, learning_rate: 3e-3, batch_size: 2, group_size: 8, max_tokens: 16, eval_every: 0 };
const policyGradient = { loss_fn: 'importance_sampling' };
const maths = { ...inCharacters, env: 'gsm8k', groups_per_batch: 16, group_size: 8, max_tokens: 24, eval_every: 0 };
const reward = { metric: 'env/all/reward/total', name: 'reward', over: 3 };
const nll = { metric: 'train_mean_nll', name: 'nll of a token', over: 3 };

const taught = {
  module: 'chat_sl.train',
  settings: { learning_rate: 3e-3, lora_rank: 0, eval_every: 0 },
  shows: { ...nll, least: -1 },
};

/**
 * Supervised learning of lessons from random weights: what it makes is what the other recipes begin with.
 *
 * `lessons` makes them of texts of the cookbook; see `hub.js`. `names`: names of the hub that the model gets.
 */
export const bases = [
  {
    ...{ ...taught, as: 'role_colon', keys: { ...inCharacters, ...taught.settings, batch_size: 32 } },
    ...{ model: 'memrl/tiny', lessons: () => characterLessons(8000), names: [characters] },
  },
  {
    ...{ ...taught, as: 'qwen3_5_disable_thinking', keys: { ...inWords, ...taught.settings, batch_size: 15 } },
    ...{ model: 'memrl/words', lessons: (about) => wordLessons(1800, about), names: [words, wordsBase, judge] },
  },
];

/** In this order: later ones take the weights of earlier ones as teachers. @param logs Directory of the recipes' logs. */
export const recipes = [
  {
    module: 'sl_basic',
    keys: { model_name: characters, learning_rate: 1e-3, max_steps: 16 },
    shows: { ...nll, least: -0.04 },
  },
  {
    module: 'sl_loop',
    keys: { model_name: characters, learning_rate: 1e-3, batch_size: 32, max_steps: 30 },
    shows: { ...nll, least: -0.05 },
  },
  {
    module: 'distillation.off_policy_reasoning',
    keys: { ...inWords, renderer_name: 'qwen3_5', batch_size: 16, buffer_size: 256, max_prompts: 480, eval_every: 0 },
    shows: { ...nll, least: -0.5 },
  },
  {
    module: 'prompt_distillation.create_data',
    home: 'languages.jsonl',
    keys: { output_file: 'languages.jsonl' },
    shows: { lines: 'languages.jsonl', name: 'sentences that the teacher has labelled', least: 100 },
  },
  {
    module: 'prompt_distillation.train',
    keys: { ...inWords, model_name: judge, file_path: 'languages.jsonl', batch_size: 16, num_epochs: 4, eval_every: 0 },
    shows: { ...nll, least: -0.1 },
  },
  {
    module: 'preference.dpo.train',
    keys: { ...inCharacters, batch_size: 16, max_steps: 20 },
    shows: { metric: 'dpo_loss', name: 'loss of DPO', over: 3, least: -0.1 },
  },
  {
    module: 'preference.shorter.train',
    keys: { ...inCharacters, batch_size: 16, group_size: 8, max_tokens: 48, max_steps: 15, eval_every: 0 },
    shows: { metric: 'env/all/ac_tokens_per_turn', name: 'tokens of an answer', over: 3, least: -3 },
  },
  ...Object.entries({
    sft: { as: 'supervised', max_steps: 40, shows: { ...nll, least: -1 } },
    rm: { as: 'reward model', max_steps: 256, shows: { ...nll, least: -7 } },
    rl: {
      ...{ as: 'reinforced by the reward model', max_steps: 25 },
      shows: { metric: 'env/all/reward/total', name: 'reward', over: 3, least: 0.3 },
    },
  }).map(([stage, { as, max_steps, shows }]) => ({
    ...{ module: 'preference.rlhf.rlhf_pipeline', as, shows, home: `runs/rlhf-box/${stage}` },
    keys: {
      ...{
        base_model: wordsBase,
        short_name: 'box',
        lora_rank: 32,
        batch_size: 16,
        max_steps,
        eval_every: 8,
        rl_max_tokens: 24,
      },
      ...{ sft_learning_rate: 3e-3, rm_learning_rate: 1e-3, rl_learning_rate: 1e-3 },
      ...Object.fromEntries(['sft', 'rm', 'rl'].map((each) => [`run_${each}`, each === stage])),
    },
  })),
  {
    module: 'rl_loop',
    keys: {
      ...policyGradient,
      model_name: characters,
      learning_rate: 1e-3,
      batch_size: 16,
      group_size: 8,
      max_tokens: 24,
      max_steps: 25,
    },
    shows: { metric: 'reward/total', name: 'reward', over: 3, least: 0.3 },
  },
  {
    module: 'rl_basic',
    keys: {
      ...{ model_name: characters, learning_rate: 1e-3, max_tokens: 24, max_steps: 20 },
      dataset_builder: 'tinker_cookbook.recipes.math_rl.math_env:Gsm8kDatasetBuilder',
      ...Object.fromEntries(
        Object.entries({ batch_size: 16, group_size: 8, model_name_for_tokenizer: characters, renderer_name: 'role_colon' }).map(([key, value]) => [`dataset_builder.${key}`, value]), // prettier-ignore
      ),
    },
    shows: { ...reward, least: 0.3 },
  },
  { module: 'math_rl.train', keys: { ...maths, ...policyGradient, max_steps: 20 }, shows: { ...reward, least: 0.3 } },
  {
    module: 'math_rl.train',
    as: 'stream minibatches',
    keys: { ...maths, ...policyGradient, 'stream_minibatch_config.groups_per_batch': 16, 'stream_minibatch_config.num_minibatches': 4, max_steps: 20 }, // prettier-ignore
    shows: { ...reward, least: 0.3 },
  },
  {
    module: 'math_rl.train',
    as: 'asynchronous, 2 steps off policy',
    keys: { ...maths, loss_fn: 'ppo', max_steps_off_policy: 2, max_steps: 20 },
    shows: { ...reward, least: 0.2 },
  },
  {
    module: 'multiplayer_rl.guess_number.train',
    keys: { ...guessing, max_steps: 10 },
    shows: { ...reward, least: 0.5 },
  },
  {
    module: 'multiplayer_rl.twenty_questions.train',
    keys: { ...guessing, max_steps: 4 },
    shows: { ...reward, name: 'share of games won', over: 1 },
  },
  {
    module: 'multiplayer_rl.text_arena.train',
    keys: { ...inWords, learning_rate: 3e-3, batch_size: 64, num_train_datapoints: 1024, num_test_datapoints: 32, test_opponent: 'random', max_tokens: 6, eval_every: 0, max_steps: 14 }, // prettier-ignore
    shows: { metric: 'env/all/turns_per_episode', name: 'moves of a player until one is illegal', over: 3, least: 0.1 },
  },
  {
    module: 'rubric.train',
    keys: {
      ...{
        ...inCharacters,
        ...policyGradient,
        groups_per_batch: 8,
        train_group_size: 8,
        max_tokens: 12,
        eval_every: 0,
        max_steps: 15,
      },
      ...{ grader_llm_name: judge, train_jsonl_path: 'rubric-train.jsonl', test_jsonl_path: 'rubric-test.jsonl' },
    },
    shows: reward,
  },
  {
    module: 'forecasting.train',
    keys: {
      ...{
        ...inWords,
        ...policyGradient,
        data_path: 'prophet.csv',
        split_date: '2030-01-01',
        max_train_questions: 256,
      },
      ...{
        max_validation_questions: 32,
        groups_per_batch: 16,
        group_size: 8,
        max_tokens: 8,
        max_steps: 15,
        eval_every: 0,
      },
    },
    shows: { ...reward, least: 0.05 },
  },
  {
    module: 'decisions.forecasting',
    keys: {
      ...{
        ...inWords,
        data_path: 'prophet.csv',
        split_date: '2030-01-01',
        max_train_questions: 512,
        max_validation_questions: 64,
      },
      ...{ batch_size: 16, epochs: 2, max_steps: 60, eval_every: 0 },
    },
    shows: { metric: 'test/brier_reward', name: "Brier's reward on other markets", over: 1, least: 0.1 },
  },
  {
    module: 'rl_numerics_check.train',
    keys: {
      ...{
        ...inWords,
        groups_per_batch: 8,
        group_size: 8,
        max_tokens: 32,
        max_trajectory_tokens: 4000,
        max_steps: 10,
        eval_every: 0,
      },
      ...{
        'task.num_pages_min': 1,
        'task.num_pages_max': 2,
        'task.page_chars': 200,
        'task.words': 'until',
        'task.reward_tolerance': 1,
      },
    },
    shows: { ...reward, least: 0.05 },
  },
  {
    module: 'distillation.on_policy_distillation',
    teachers: { teacher_checkpoint: 'sl_loop' },
    keys: {
      ...inCharacters,
      teacher_model: characters,
      groups_per_batch: 16,
      group_size: 4,
      max_tokens: 24,
      max_steps: 20,
      eval_every: 0,
    },
    shows: { metric: 'teacher_kl', name: 'KL to the teacher', over: 3, least: -0.1 },
  },
  {
    module: 'distillation.on_policy_multi_teacher',
    teachers: { deepmath_teacher_checkpoint: 'sl_loop', tulu3_teacher_checkpoint: 'sl_basic' },
    keys: {
      ...{
        ...inCharacters,
        deepmath_teacher_model: characters,
        tulu3_teacher_model: characters,
        group_size: 4,
        max_tokens: 24,
      },
      ...{ deepmath_groups_per_batch: 8, tulu3_groups_per_batch: 8, max_steps: 20, eval_every: 0 },
    },
    shows: { metric: 'teacher_kl', name: 'KL to the teachers', over: 3, least: -0.1 },
  },
  {
    module: 'sdft.train',
    keys: {
      ...inCharacters,
      // At 1e-3, as the others have it, single steps throw it back.
      learning_rate: 3e-4,
      groups_per_batch: 32,
      max_tokens: 24,
      topk: 8,
      reverse: true,
      max_context_length: 1024,
      max_steps: 25,
      eval_every: 0,
    },
    shows: { metric: 'sdft/reverse_kl_mean', name: 'KL to itself with the answer at hand', over: 3, least: -0.05 },
  },
];

/** Why the others cannot be run, by their directories. */
export const elsewhere = {
  audio: 'needs models that hear, and a data set of the hub',
  code_rl: 'needs a sandbox that runs programs (SandboxFusion or Modal)',
  'distillation.on_policy_distillation_harbor_multi_turn': 'needs a sandbox that runs programs (Modal)',
  harbor_rl: 'needs a sandbox that runs programs (Modal)',
  search_tool: 'needs a Chroma database of Wikipedia, and the embeddings of Gemini',
  true_thinking_score: 'trains nothing: it measures how much a model that thinks depends on its thoughts',
  verifiers_rl:
    "fails before its first step, on any service: the cookbook's loop gives its own function an argument `termination` that it does not take",
  vlm_classifier: 'needs models that see, and a data set of the hub',
};
