/** The program `memrl`: one training process, told what to do by `key=value` arguments. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRefusal } from '../base/system-refusal.js';
import { UserError } from '../base/user-error.js';
import { runMarks } from '../contract/files.js';
import { bench, benchLines, type BenchReport } from './bench/bench.js';
import { benchKeys } from './bench/keys.js';
import { type Arguments, commandHelp, readArguments, writeValue } from './config/arguments.js';
import { moduleName } from './config/own-module.js';
import type { Config, Keys } from './config/key.js';
import { evalBatch, evalBatchLines } from './evaluation/eval-batch/eval-batch.js';
import { evalBatchKeys } from './evaluation/eval-batch/keys.js';
import { entropy, entropyLines } from './evaluation/entropy/entropy.js';
import { entropyKeys } from './evaluation/entropy/keys.js';
import { evalRun, keepReport } from './evaluation/eval-run/eval-run.js';
import { evalRunKeys } from './evaluation/eval-run/keys.js';
import { evalRunLines } from './evaluation/eval-run/lines.js';
import { drGrpo, drGrpoBudget, drGrpoKeys } from './algorithms/dr-grpo.js';
import { grpoBudget, grpoKeys, grpoSettings, runName } from './algorithms/grpo-settings.js';
import { grpo } from './algorithms/grpo.js';
import { pretrain, pretrainBudget, pretrainKeys } from './algorithms/pretrain.js';
import { rl } from './algorithms/rl.js';
import { rlBudget, rlKeys } from './algorithms/rl-settings.js';
import { sft, sftBudget, sftDataKeys, sftKeys, writeSftData } from './algorithms/sft.js';
import { requireFitting, trainBudget, trainKeys } from './algorithms/train-settings.js';
import { train } from './algorithms/train.js';
import { warmup, warmupBudget, warmupKeys } from './algorithms/warmup.js';
import { evalKeys, evaluate } from './evaluation/evaluate.js';
import { rollouts, rolloutsKeys, rolloutsLines } from './evaluation/rollouts.js';
import { describeModel, exportAdapter, exportModel, modelKeys } from './hugging-face/export-model.js';
import { recipes, type Recipe } from './recipes/recipes.js';
import { ideal, idealLines, writeReference } from './reference/ideal.js';
import { idealKeys, observerKeys } from './reference/keys.js';
import { observedLines, observeRun } from './reference/observe-run.js';
import { RunBeginner } from './run/run-beginner.js';
import { processContext, type ProcessContext, type StopSignal } from './run/process-context.js';
import { resumedCommand, resumeKeys } from './run/resume.js';
import { exitCodeOf, openRun } from './run/runner.js';
import { serve, serveKeys } from './tinker/server/serve.js';

type Command = {
  readonly purpose: string;
  readonly keys: Keys;
  /** @returns the exit code. */
  readonly run: (argv: readonly string[]) => Promise<number>;
};

const context = processContext(process);
/** The result is for scripts; words go to the other stream. */
const quietContext: ProcessContext = { ...context, log: (line) => process.stderr.write(`${line}\n`) };
/** Of the terminal. */
const columns = process.stdout.columns ?? 120;
const runs = new RunBeginner(process, context);
const shared = join(tmpdir(), 'tinker-examples', 'memory_rl');

const commands: Readonly<Record<string, Command>> = {
  train: command(
    'Learns a secret by policy gradient on a memory game, or what another environment rewards.',
    trainKeys,
    async (read) => {
      requireFitting(read);
      const { config, given } = read;
      const directory = runs.begin({
        path: config.log_path ?? join(shared, trainName(config)),
        config,
        budget: trainBudget(config),
      });
      noteInert(trainKeys, given, config);
      return exitCodeOf(await train(config, openRun(directory, context)));
    },
  ),
  'sft-data': command('Writes the examples that memrl sft learns from.', sftDataKeys, async ({ config }) => {
    writeSftData(config, config.output_dir ?? join(shared, 'sft_data'), context.log);
    return 0;
  }),
  sft: command('Learns a secret from examples.', sftKeys, async ({ config, given }) => {
    const name = `sft_N${config.N}_bs${config.batch_size}_lr${config.learning_rate}_${timestamp()}`;
    const directory = runs.begin({ path: config.log_path ?? join(shared, 'sft', name), config, budget: sftBudget });
    noteInert(sftKeys, given, config);
    const dataPath = config.train_data_path ?? join(shared, 'sft_data', 'train.jsonl');
    return exitCodeOf(await sft(config, dataPath, openRun(directory, context)));
  }),
  warmup: command(
    'Teaches a fresh model the format, all answers equally likely.',
    warmupKeys,
    async ({ config, given }) => {
      const name = config.env_type === 'single_step' ? 'format_sft' : 'format_sft_multi_step';
      const directory = runs.begin({ path: config.log_path ?? join(shared, name), config, budget: warmupBudget });
      noteInert(warmupKeys, given, config);
      return exitCodeOf(await warmup(config, openRun(directory, context)));
    },
  ),
  pretrain: command(
    'Teaches a new model to write stories; what it writes opens in transformers.',
    pretrainKeys,
    async ({ config }) => {
      const name = `pretrain_${config.model_name.replaceAll('/', '-')}_s${config.seed}`;
      const directory = runs.begin({ path: config.log_path ?? join(shared, name), config, budget: pretrainBudget });
      return exitCodeOf(await pretrain(config, openRun(directory, context)));
    },
  ),
  grpo: command(
    'Trains a story model by GRPO on a reward of its text, with two adapters and routed gradients if asked to.',
    grpoKeys,
    async (read) => {
      const settings = grpoSettings(read);
      const { config, experiment } = settings;
      // The manager looks for the files of a run where it told it to write them.
      const given = process.env[runMarks.directory];
      const path = config.log_path ?? given ?? join('output', config.run_name ?? runName(config, experiment));
      const directory = runs.begin({ path, config: { ...config, experiment }, budget: grpoBudget });
      noteInert(grpoKeys, read.given, config);
      return exitCodeOf(await grpo(settings, openRun(directory, context)));
    },
  ),
  'dr-grpo': command(
    'Trains by Dr. GRPO: a curriculum of pass rates, groups that differ, and the noise scale of the gradient.',
    drGrpoKeys,
    async ({ config }) => {
      const name = `dr-grpo_${moduleName(config.environment)}_lr${config.lr}_s${config.seed}`;
      const directory = runs.begin({ path: config.log_path ?? join(shared, name), config, budget: drGrpoBudget });
      return exitCodeOf(await drGrpo(config, openRun(directory, context)));
    },
  ),
  rl: command(
    'Trains by the loop of tinker-cookbook, on an engine in this process or on a service of Tinker’s protocol.',
    rlKeys,
    async ({ config, given }) => {
      const path = config.log_path ?? join(shared, `rl_${moduleName(config.environment)}_${timestamp()}`);
      const directory = runs.begin({ path, config, budget: rlBudget });
      noteInert(rlKeys, given, config);
      return exitCodeOf(await rl(config, await runs.openKept(directory)));
    },
  ),
  ...Object.fromEntries(Object.entries(recipes).map(([name, each]) => [name, recipe(name, each)])),
  resume: command(
    'Continues a run from one of its checkpoints for so many steps more.',
    resumeKeys,
    async ({ config }) => {
      const { command: name, argv } = resumedCommand(config, (each) => commands[each]?.keys);
      return commands[name]!.run(argv);
    },
    'path',
  ),
  'eval-run': command(
    'Says of a story model what it earns, whether it hacks and whether it has collapsed, in each mode of its adapters.',
    evalRunKeys,
    async ({ config }) => {
      const reporting = config.json ? quietContext : context;
      const report = await evalRun(config, reporting);
      if (typeof report === 'string') return exitCodeOf({ kind: 'stopped', signal: report });
      const lines = config.json ? [JSON.stringify(report)] : ['', ...evalRunLines(report), ''];
      process.stdout.write(`${lines.join('\n')}\n`);
      reporting.log(`written to ${keepReport(config, report, context)}`);
      return 0;
    },
    'path',
  ),
  'eval-batch': command(
    'Plays the same tasks with every checkpoint of a run, and puts pass rates, lengths and entropies into one table.',
    evalBatchKeys,
    async ({ config }) =>
      printed(await evalBatch(config, quietContext), ({ rows }) => ['', ...evalBatchLines(rows, columns), '']),
    'path',
  ),
  entropy: command(
    'Measures what a gradient step does to the entropy of a policy, as predicted to first order and in truth.',
    entropyKeys,
    async ({ config }) => {
      const directory = config.log_path ?? process.env[runMarks.directory] ?? 'entropy';
      return printed(await entropy(config, directory, context), (found) => [
        '',
        ...entropyLines(found, columns),
        '',
        `written to ${directory}`,
      ]);
    },
    'path',
  ),
  eval: command(
    'Measures how many bits of a secret saved weights know; prints one line of JSON.',
    evalKeys,
    async ({ config }) => {
      const row = await evaluate(config, quietContext);
      process.stdout.write(`${JSON.stringify(row)}\n`);
      return 0;
    },
  ),
  model: command(
    'Says what a saved model is, ours or one of Hugging Face; writes it for transformers.',
    modelKeys,
    async ({ config }) => {
      if (config.path === null) {
        throw new UserError(
          'There is no model to look at.',
          'Give its directory: memrl model runs/abcd/warmup_single.',
        );
      }
      const { text, opens } = describeModel(config.path);
      process.stdout.write(text);
      if (opens && config.output_dir !== null) await exportModel(config.path, config.output_dir, config.adapter);
      if (opens && config.adapter_dir !== null) exportAdapter(config.path, config.adapter_dir);
      return opens ? 0 : 2;
    },
    'path',
  ),
  bench: command('Measures a training step on every engine of this machine.', benchKeys, async ({ config }) => {
    const linesOf = (report: BenchReport) => (config.json ? [JSON.stringify(report, null, 2)] : benchLines(report));
    return printed(await bench(config, context), linesOf);
  }),
  ideal: command(
    'Says what the ideal learner and a table of logits need to learn a secret from the same rewards.',
    idealKeys,
    async ({ config }) => {
      return printed(await ideal(config, context), (found) => {
        if (config.out !== null) writeReference(config.out, found);
        return config.json ? [JSON.stringify(found)] : idealLines(found, columns);
      });
    },
  ),
  observer: command(
    'Says after how many episodes of a run its secret was determined, and when its weights knew it.',
    observerKeys,
    async ({ config }) => {
      if (config.path === null) {
        throw new UserError('There is no run to look at.', 'Give its directory: memrl observer runs/mine/first.');
      }
      return printed(observeRun(config.path), (found) =>
        config.json ? [JSON.stringify(found)] : observedLines(found),
      );
    },
    'path',
  ),
  rollouts: command(
    'Shows the episodes of a step of a run: answers, rewards, advantages, log-probabilities.',
    rolloutsKeys,
    async ({ config }) => {
      if (config.path === null || config.step === null) {
        throw new UserError(
          `There is no ${config.path === null ? 'run' : 'step'} to look at.`,
          'Give a run and a step: memrl rollouts runs/mine/first step=100.',
        );
      }
      return printed(await rollouts(config.path, { ...config, step: config.step }, quietContext), (found) =>
        config.json ? [JSON.stringify(found)] : rolloutsLines(found, columns),
      );
    },
    'path',
  ),
  serve: command(
    'Serves training and sampling over HTTP: the SDK of Tinker, and every program on it, runs on this machine.',
    serveKeys,
    async ({ config }) => exitCodeOf({ kind: 'stopped', signal: await serve(config, context) }),
    'model',
  ),
};

/** Reads the command line and does what it says. @returns the exit code. */
async function main([name, ...argv]: readonly string[]): Promise<number> {
  if (name === undefined || isHelp(name)) {
    process.stdout.write(overview());
    return name === undefined ? 2 : 0;
  }
  const chosen = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (chosen === undefined) {
    throw new UserError(`There is no command \`${name}\`.`, `Use one of: ${Object.keys(commands).join(', ')}.`);
  }
  if (argv.some(isHelp)) {
    process.stdout.write(commandHelp(name, chosen.purpose, chosen.keys));
    return 0;
  }
  return chosen.run(argv);
}

/** Prints what a command found, in lines. @returns the exit code; that of the signal which ended the command, if one did. */
function printed<T extends object>(found: T | StopSignal, linesOf: (found: T) => readonly string[]): number {
  if (typeof found === 'string') return exitCodeOf({ kind: 'stopped', signal: found });
  process.stdout.write(`${linesOf(found).join('\n')}\n`);
  return 0;
}

/** @param first Key of the first argument when that names none itself. */
function command<K extends Keys>(
  purpose: string,
  keys: K,
  run: (read: Arguments<K>) => Promise<number>,
  first?: keyof K & string,
): Command {
  const named = (argv: readonly string[]): readonly string[] =>
    first === undefined || argv[0] === undefined || /^--|=/.test(argv[0])
      ? argv
      : [`${first}=${argv[0]}`, ...argv.slice(1)];
  return { purpose, keys, run: async (argv) => run(inProject(readArguments(keys, named(argv)))) };
}

function recipe(name: string, { purpose, keys, budget, run }: Recipe): Command {
  return command(purpose, keys, async ({ config, given }) => {
    const path = config.log_path ?? join(tmpdir(), 'tinker-examples', `${name}_${timestamp()}`);
    const directory = runs.begin({ path, config, budget });
    noteInert(keys, given, config);
    return exitCodeOf(await run(config, await runs.openKept(directory)));
  });
}

/** A project that is not named is that of W&B's own variable, for commands that write files for W&B. */
function inProject<K extends Keys>(read: Arguments<K>): Arguments<K> {
  const project = process.env['WANDB_PROJECT'];
  if (!project || !('wandb_project' in read.config) || read.config['wandb_project'] !== null) return read;
  return { ...read, config: { ...read.config, wandb_project: project } };
}

function noteInert(keys: Keys, given: ReadonlySet<string>, config: Config<Keys>): void {
  for (const name of given) {
    const why = keys[name]?.inert;
    if (why !== undefined) context.log(`${name}=${writeValue(config[name])} has no effect here: ${why}`);
  }
}

function trainName(config: Config<typeof trainKeys>): string {
  if (config.environment !== 'memory')
    return `${moduleName(config.environment)}_lr${config.learning_rate}_${timestamp()}`;
  const bins = config.reward_bins === null ? '' : `_B${config.reward_bins}`;
  const { env_type: env, reward_type: reward, N, batch_size: batch, group_size: group, learning_rate: lr } = config;
  return `${env}_${reward}${bins}_N${N}_bs${batch}_gs${group}_lr${lr}_${timestamp()}`;
}

/** `20261121-075322`, local time. */
function timestamp(): string {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  return `${day}-${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

function overview(): string {
  const lines = Object.entries(commands).map(([name, { purpose }]) => `  memrl ${name.padEnd(9)} ${purpose}`);
  const usage =
    'Arguments are key=value. `memrl train --help` lists the keys of train with types, defaults and meanings.';
  return ['memrl: how many bits does reinforcement learning learn per episode?', '', ...lines, '', usage, ''].join(
    '\n',
  );
}

function isHelp(argument: string): boolean {
  return argument === '--help' || argument === '-h' || argument === 'help';
}

/** Prints what went wrong, and how to mend it if it can be. @returns 2 when it can, 1 when it is our bug. */
function report(error: unknown): 1 | 2 {
  if (error instanceof UserError) {
    runs.undo();
    process.stderr.write(`${error.message}\n\n→ ${error.fix}\n`);
    return 2;
  }
  const refusal = systemRefusal(error);
  if (refusal !== null) {
    process.stderr.write(`${refusal}\n`);
    return 2;
  }
  const trace = error instanceof Error ? error.stack : String(error);
  process.stderr.write(`This is a bug in memrl, not in your settings.\n${trace}\n`);
  return 1;
}

process.exitCode = await main(process.argv.slice(2)).catch(report);
