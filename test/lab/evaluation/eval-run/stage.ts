import { cpSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readArguments } from '../../../../src/lab/config/arguments.js';
import { evalRun, keepReport } from '../../../../src/lab/evaluation/eval-run/eval-run.js';
import { evalRunKeys } from '../../../../src/lab/evaluation/eval-run/keys.js';
import { EvalRunReport } from '../../../../src/lab/evaluation/eval-run/report.js';
import type { ProcessContext } from '../../../../src/lab/run/process-context.js';
import { grpoIn, settingsFor } from '../../algorithms/grpo-in-test.js';
import { lettersYaml } from '../../algorithms/letters.js';
import { storyModel } from '../../algorithms/story-model.js';
import { testWorld } from '../../algorithms/run-in-test.js';
import { tempDirectory } from '../../temp-directory.js';

const letters = lettersYaml({ scale: 0.5, counted: '{name: string_match, params: {strings: [o], recall: 0.6}}' });

/** A model of Hugging Face (`model`), and runs of memrl grpo that began with it: `routed` and `whole`, which was all trained. */
export async function stageIn(directory: string): Promise<(name: string) => string> {
  const at = (name: string) => join(directory, name);
  storyModel(at('model'));
  writeFileSync(at('letters.yaml'), letters);
  const given = [`model=${at('model')}`, `config=${at('letters.yaml')}`, 'max_steps=20', 'lr=0.05', 'logging_steps=1'];
  const routed = ['gradient_routing=True', 'routing_mode=shared', 'lora_config=r2', 'eval_routing_steps=0'];
  await begun(at('routed'), [...given, ...routed, 'temperature=0.9', 'eval_rewards=happy_count']);
  await begun(at('whole'), [...given, 'eval_routing_steps=0', 'repetition_penalty=1.2']);
  return at;
}

/** With the `config.json` that the program would have kept. */
async function begun(path: string, argv: readonly string[]): Promise<void> {
  const { config, experiment } = settingsFor(argv);
  await grpoIn(path, argv);
  writeFileSync(join(path, 'config.json'), JSON.stringify({ ...config, experiment, log_path: path }));
}

/** `memrl eval-run PATH` with little to write. @returns what its file says. */
export async function evaluated(path: string, argv: readonly string[] = [], world: ProcessContext = testWorld()) {
  const { config } = readArguments(evalRunKeys, [`path=${path}`, ...small, ...argv]);
  const report = await evalRun(config, world);
  if (typeof report === 'string') throw new Error(`It was stopped by ${report}.`);
  return EvalRunReport.parse(report);
}

const small = ['n_samples=6', 'prompt_length=4'];

/** The same, and its files are kept. @returns the path of the one with everything. */
export async function kept(
  path: string,
  argv: readonly string[] = [],
  world: ProcessContext = testWorld(),
): Promise<string> {
  const { config } = readArguments(evalRunKeys, [`path=${path}`, ...small, ...argv]);
  return keepReport(config, await evaluated(path, argv, world), world);
}

/** A copy of a run, to be changed. */
export function copyOfRun(path: string): string {
  const copy = join(tempDirectory(), basename(path));
  cpSync(path, copy, { recursive: true });
  return copy;
}
