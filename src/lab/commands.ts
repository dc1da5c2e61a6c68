/** The commands of `memrl`. Each is one process, set by `key=value` arguments. */
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { UserError } from '../base/user-error.js';
import { runFiles, runMarks } from '../contract/files.js';
import { bench, benchLines, type BenchReport } from './bench/bench.js';
import { benchKeys } from './bench/keys.js';
import { type Arguments, commandHelp, readArguments, writeValue } from './config/arguments.js';
import { moduleName } from './config/own-module.js';
import { withSettingsFile } from './config/settings-file.js';
import type { Config, Keys } from './config/key.js';
import { evalBatch, evalBatchLines } from './evaluation/eval-batch/eval-batch.js';
import { evalBatchKeys } from './evaluation/eval-batch/keys.js';
import { entropy, entropyLines } from './evaluation/entropy/entropy.js';
import { entropyKeys } from './evaluation/entropy/keys.js';
import { evalRun, keepReport } from './evaluation/eval-run/eval-run.js';
import { evalRunKeys } from './evaluation/eval-run/keys.js';
import { evalRunLines } from './evaluation/eval-run/lines.js';
import { drGrpo } from './algorithms/dr-grpo.js';
import { drGrpoBudget, drGrpoKeys } from './algorithms/dr-grpo-settings.js';
import { grpoBudget, grpoKeys, grpoSettings, runName, type Settings } from './algorithms/grpo-settings.js';
import { grpo } from './algorithms/grpo.js';
import { pretrain, pretrainBudget, pretrainKeys } from './algorithms/pretrain.js';
import { rl } from './algorithms/rl.js';
import { rlBudget, rlKeys } from './algorithms/rl-settings.js';
import { withFirstWeights } from './algorithms/first-weights.js';
import { sft, sftBudget, sftDataKeys, sftKeys, suitedSft, writeSftData } from './algorithms/sft.js';
import { requireFitting, suitedTrain, trainBudget, trainKeys } from './algorithms/train-settings.js';
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
import { type OwnProcess, processContext, type ProcessContext, type StopSignal } from './run/process-context.js';
import { resumedCommand, resumeKeys } from './run/resume.js';
import { gridWords, startManager, sweepUsage } from './run/sweep-line.js';
import { exitCodeOf, openRun } from './run/runner.js';
import { claimsJson, studyKeys, writeStudy, writeTests } from './study/study.js';
import { keepTheoryLines } from './study/theory-lines.js';
import { serve, serveKeys } from './tinker/server/serve.js';
import { type CommandName, isHelp, purposes } from './purposes.js';

type Command = {
  readonly keys: Keys;
  /** The command's usage line, when it takes words that are not keys. */
  readonly usage?: string;
  /** @returns the exit code. */
  readonly run: (argv: readonly string[], world: CommandContext) => Promise<number>;
};

/** The parts of its process that a command may use. */
type CommandContext = {
  readonly own: OwnProcess;
  readonly context: ProcessContext;
  /** Context of commands whose stdout is read by scripts: their messages go to stderr. */
  readonly quietContext: ProcessContext;
  readonly runs: RunBeginner;
  readonly print: (text: string) => void;
  /** Width of the terminal in characters. */
  readonly columns: number;
};

/** Default parent directory of runs, the same as in memory-rl. */
const shared = () => join(tmpdir(), 'tinker-examples', 'memory_rl');

const commands: Readonly<Record<string, Command>> = {
  train: command(trainKeys, async (read, { context, runs }) => {
    requireFitting(read);
    const { config } = withFirstWeights(read, suitedTrain);
    const directory = runs.begin({
      path: config.log_path ?? join(shared(), trainName(config)),
      config,
      budget: trainBudget(config),
    });
    keepTheoryLines(directory.path, config);
    noteInert(trainKeys, read, context);
    return exitCodeOf(await train(config, openRun(directory, context)));
  }),
  'sft-data': command(sftDataKeys, async ({ config }, { context }) => {
    writeSftData(config, config.output_dir ?? join(shared(), 'sft_data'), context.log);
    return 0;
  }),
  sft: command(sftKeys, async (read, { context, runs }) => {
    const { config } = withFirstWeights(read, suitedSft);
    const name = `sft_N${config.N}_bs${config.batch_size}_lr${config.learning_rate}_${timestamp()}`;
    const directory = runs.begin({ path: config.log_path ?? join(shared(), 'sft', name), config, budget: sftBudget });
    keepTheoryLines(directory.path, config);
    noteInert(sftKeys, read, context);
    const dataPath = config.train_data_path ?? join(shared(), 'sft_data', 'train.jsonl');
    return exitCodeOf(await sft(config, dataPath, openRun(directory, context)));
  }),
  warmup: command(warmupKeys, async ({ config, given }, { context, runs }) => {
    const name = config.env_type === 'single_step' ? 'format_sft' : 'format_sft_multi_step';
    const directory = runs.begin({ path: config.log_path ?? join(shared(), name), config, budget: warmupBudget });
    noteInert(warmupKeys, { given, config }, context);
    return exitCodeOf(await warmup(config, openRun(directory, context)));
  }),
  pretrain: command(pretrainKeys, async ({ config }, { context, runs }) => {
    const name = pretrainName(config.model_name, config.seed);
    const directory = runs.begin({ path: config.log_path ?? join(shared(), name), config, budget: pretrainBudget });
    return exitCodeOf(await pretrain(config, openRun(directory, context)));
  }),
  grpo: command(grpoKeys, async (read, { context, runs }) => {
    const settings = withStories(grpoSettings(read));
    const { config, experiment } = settings;
    // The manager tells a run its directory, and looks there for the run's files.
    const given = context.environment[runMarks.directory];
    const path = config.log_path ?? given ?? join('output', config.run_name ?? runName(config, experiment));
    const directory = runs.begin({ path, config: { ...config, experiment }, budget: grpoBudget });
    noteInert(grpoKeys, read, context);
    grpoDefaults(read, settings).forEach(context.log);
    return exitCodeOf(await grpo(settings, openRun(directory, context)));
  }),
  sweep: { keys: {}, usage: sweepUsage, run: (argv, { own }) => startManager(gridWords(argv), own) },
  'dr-grpo': command(drGrpoKeys, async (read, { context, runs }) => {
    const { config } = withSettingsFile(drGrpoKeys, read, read.config.cfg);
    const name = `dr-grpo_${moduleName(config.environment)}_lr${config.lr}_s${config.seed}`;
    const directory = runs.begin({ path: config.log_path ?? join(shared(), name), config, budget: drGrpoBudget });
    return exitCodeOf(await drGrpo(config, openRun(directory, context)));
  }),
  rl: command(rlKeys, async ({ config, given }, { context, runs }) => {
    const path = config.log_path ?? join(shared(), `rl_${moduleName(config.environment)}_${timestamp()}`);
    const directory = runs.begin({ path, config, budget: rlBudget });
    noteInert(rlKeys, { given, config }, context);
    return exitCodeOf(await rl(config, await runs.openKept(directory)));
  }),
  ...Object.fromEntries(Object.entries(recipes).map(([name, each]) => [name, recipe(name, each)])),
  resume: command(
    resumeKeys,
    async ({ config }, world) => {
      const { command: name, argv } = resumedCommand(config, (each) => commands[each]?.keys);
      return commands[name]!.run(argv, world);
    },
    'path',
  ),
  'eval-run': command(
    evalRunKeys,
    async ({ config }, { context, quietContext, print }) => {
      const reporting = config.json ? quietContext : context;
      const report = await evalRun(config, reporting);
      if (typeof report === 'string') return exitCodeOf({ kind: 'stopped', signal: report });
      const lines = config.json ? [JSON.stringify(report)] : ['', ...evalRunLines(report), ''];
      print(`${lines.join('\n')}\n`);
      reporting.log(`written to ${keepReport(config, report, context)}`);
      return 0;
    },
    'path',
  ),
  'eval-batch': command(
    evalBatchKeys,
    async ({ config }, { quietContext, columns, print }) =>
      printResult(print, await evalBatch(config, quietContext), ({ rows }) => [
        '',
        ...evalBatchLines(rows, columns),
        '',
      ]),
    'path',
  ),
  entropy: command(
    entropyKeys,
    async ({ config }, { context, columns, print }) => {
      const directory = config.log_path ?? context.environment[runMarks.directory] ?? 'entropy';
      return printResult(print, await entropy(config, directory, context), (found) => [
        '',
        ...entropyLines(found, columns),
        '',
        `written to ${directory}`,
      ]);
    },
    'path',
  ),
  eval: command(evalKeys, async ({ config }, { quietContext, print }) => {
    const row = await evaluate(config, quietContext);
    print(`${JSON.stringify(row)}\n`);
    return 0;
  }),
  model: command(
    modelKeys,
    async ({ config }, { print }) => {
      if (config.path === null) {
        throw new UserError('No model was given.', 'Give its directory: memrl model runs/abcd/warmup_single.');
      }
      const { text, opens } = describeModel(config.path);
      print(text);
      if (opens && config.output_dir !== null) await exportModel(config.path, config.output_dir, config.adapter);
      if (opens && config.adapter_dir !== null) exportAdapter(config.path, config.adapter_dir);
      return opens ? 0 : 2;
    },
    'path',
  ),
  bench: command(benchKeys, async ({ config }, { context, print }) => {
    const linesOf = (report: BenchReport) => (config.json ? [JSON.stringify(report, null, 2)] : benchLines(report));
    return printResult(print, await bench(config, context), linesOf);
  }),
  ideal: command(idealKeys, async ({ config }, { context, columns, print }) => {
    return printResult(print, await ideal(config, context), (found) => {
      if (config.out !== null) writeReference(config.out, found);
      return config.json ? [JSON.stringify(found)] : idealLines(found, columns);
    });
  }),
  observer: command(
    observerKeys,
    async ({ config }, { print }) => {
      if (config.path === null) {
        throw new UserError('No run was given.', 'Give its directory: memrl observer runs/mine/first.');
      }
      return printResult(print, observeRun(config.path), (found) =>
        config.json ? [JSON.stringify(found)] : observedLines(found),
      );
    },
    'path',
  ),
  rollouts: command(
    rolloutsKeys,
    async ({ config }, { quietContext, columns, print }) => {
      if (config.path === null || config.step === null) {
        throw new UserError(
          `No ${config.path === null ? 'run' : 'step'} was given.`,
          'Give a run and a step: memrl rollouts runs/mine/first step=100.',
        );
      }
      return printResult(print, await rollouts(config.path, { ...config, step: config.step }, quietContext), (found) =>
        config.json ? [JSON.stringify(found)] : rolloutsLines(found, columns),
      );
    },
    'path',
  ),
  study: command(
    studyKeys,
    async ({ config: { path, tests, json } }, { print, columns }) => {
      if (path === null) throw new UserError('No sweep was given.', 'Give its directory: memrl study runs/quick.');
      if (json) return printResult(print, { path }, () => [claimsJson(path)]);
      const written = writeStudy(path);
      return printResult(print, { path }, () => [
        ...(tests ? writeTests(path, columns) : []),
        written === null ? `there is nothing to study in the runs of ${path}` : `written: ${written}`,
      ]);
    },
    'path',
  ),
  serve: command(
    serveKeys,
    async ({ config }, { context }) => exitCodeOf({ kind: 'stopped', signal: await serve(config, context) }),
    'model',
  ),
};

/** Runs a command of the program. @returns the exit code. */
export async function runCommand(name: CommandName, argv: readonly string[], own: OwnProcess): Promise<number> {
  const world = worldOf(own);
  const { keys, usage, run } = commands[name]!;
  if (argv.some(isHelp)) {
    world.print(usage === undefined ? commandHelp(name, purposes[name], keys) : `${usage}\n\n${purposes[name]}\n`);
    return 0;
  }
  let code = 1;
  try {
    code = await run(argv, world);
    return code;
  } catch (error) {
    if (error instanceof UserError) world.runs.undo();
    throw error;
  } finally {
    world.runs.end();
    keepStudy(world.context, code);
  }
}

/** Writes the study of the sweep whose run has ended. A failure here is only a warning: it does not fail the run. */
function keepStudy({ environment, log }: ProcessContext, code: number): void {
  const directory = environment[runMarks.directory];
  if (directory === undefined || !existsSync(join(directory, runFiles.record))) return;
  try {
    const state = code === 0 ? 'done' : code > 128 ? 'killed' : 'failed';
    writeStudy(dirname(directory), { name: basename(directory), state });
  } catch (error) {
    log(`warning: the study of the sweep was not written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function worldOf(own: OwnProcess): CommandContext {
  const context = processContext(own);
  return {
    own,
    context,
    quietContext: { ...context, log: (line) => own.stderr.write(`${line}\n`) },
    runs: new RunBeginner(own, context),
    print: (text) => own.stdout.write(text),
    columns: own.stdout.columns ?? 120,
  };
}

/** The settings with the model that `memrl pretrain` makes by default, when no model was given. */
function withStories(settings: Settings): Settings {
  const base = join(shared(), pretrainName(pretrainKeys.model_name.default, pretrainKeys.seed.default));
  const isOpen = settings.config.model === '' && existsSync(join(base, runFiles.checkpoints));
  return isOpen ? { ...settings, config: { ...settings.config, model: base } } : settings;
}

function pretrainName(model: string, number: number): string {
  return `pretrain_${model.replaceAll('/', '-')}_s${number}`;
}

/** Messages about defaults that decide what is learnt. */
function grpoDefaults({ config: commandLine }: Arguments<typeof grpoKeys>, { config, experiment }: Settings): string[] {
  return [
    ...(commandLine.model === '' && config.model !== '' ? [`model=${config.model}: the run of memrl pretrain`] : []),
    ...(commandLine.routing_mode === null && config.routing_mode === 'shared'
      ? ['routing_mode=shared: samples that are not flagged change both adapters']
      : []),
    ...(commandLine.reward !== null && experiment.form === 'components'
      ? [`warning: reward=${commandLine.reward} takes the place of all components of ${experiment.source}`]
      : []),
  ];
}

/**
 * Prints the result of a command, as lines.
 * @returns the exit code; that of the signal which ended the command, if one did.
 */
function printResult<T extends object>(
  print: CommandContext['print'],
  found: T | StopSignal,
  linesOf: (found: T) => readonly string[],
): number {
  if (typeof found === 'string') return exitCodeOf({ kind: 'stopped', signal: found });
  print(`${linesOf(found).join('\n')}\n`);
  return 0;
}

/** @param first Key of the first argument when that names none itself. */
function command<K extends Keys>(
  keys: K,
  run: (read: Arguments<K>, world: CommandContext) => Promise<number>,
  first?: keyof K & string,
): Command {
  const named = (argv: readonly string[]): readonly string[] =>
    first === undefined || argv[0] === undefined || /^--|=/.test(argv[0])
      ? argv
      : [`${first}=${argv[0]}`, ...argv.slice(1)];
  return {
    keys,
    run: async (argv, world) => run(inProject(readArguments(keys, named(argv)), world.context), world),
  };
}

function recipe(name: string, { keys, budget, run }: Recipe): Command {
  return command(keys, async ({ config, given }, { context, runs }) => {
    const path = config.log_path ?? join(tmpdir(), 'tinker-examples', `${name}_${timestamp()}`);
    const directory = runs.begin({ path, config, budget });
    noteInert(keys, { given, config }, context);
    return exitCodeOf(await run(config, await runs.openKept(directory)));
  });
}

/** Takes the project from W&B's own variable when none is given, for commands that write files for W&B. */
function inProject<K extends Keys>(read: Arguments<K>, { environment }: ProcessContext): Arguments<K> {
  const project = environment['WANDB_PROJECT'];
  if (!project || !('wandb_project' in read.config) || read.config['wandb_project'] !== null) return read;
  return { ...read, config: { ...read.config, wandb_project: project } };
}

function noteInert(keys: Keys, { given, config }: Arguments<Keys>, context: ProcessContext): void {
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
