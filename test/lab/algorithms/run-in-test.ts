import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readArguments } from '../../../src/lab/config/arguments.js';
import { pretrain, pretrainKeys } from '../../../src/lab/algorithms/pretrain.js';
import { rl } from '../../../src/lab/algorithms/rl.js';
import { rlKeys } from '../../../src/lab/algorithms/rl-settings.js';
import { sft, sftKeys } from '../../../src/lab/algorithms/sft.js';
import { trainKeys } from '../../../src/lab/algorithms/train-settings.js';
import { train } from '../../../src/lab/algorithms/train.js';
import { warmup, warmupKeys } from '../../../src/lab/algorithms/warmup.js';
import { openRunDirectory } from '../../../src/lab/run/run-directory.js';
import { openRun, type Ending } from '../../../src/lab/run/runner.js';
import type { ProcessContext } from '../../../src/lab/run/process-context.js';

/** A world without a clock; a signal comes before step `stopBefore` of this attempt, if at all. */
export function testWorld(stopBefore = Infinity): ProcessContext & { readonly lines: string[] } {
  const lines: string[] = [];
  let asked = 0;
  return {
    lines,
    log: (line) => lines.push(line),
    environment: {},
    processes: { own: process.pid, answers: () => true },
    now: () => 0,
    time: () => 1_700_000_000_000,
    stopAsked: async () => (asked++ >= stopBefore ? 'SIGTERM' : null),
  };
}

/** `memrl train` in `path` with the micro model. */
export function trainIn(path: string, argv: readonly string[], world: ProcessContext = testWorld()): Promise<Ending> {
  const { config } = readArguments(trainKeys, [
    'model_name=micro',
    'load_checkpoint_path=none',
    `log_path=${path}`,
    ...argv,
  ]);
  return train(config, openRun(openRunDirectory(path), world));
}

export function sftIn(
  path: string,
  data: string,
  argv: readonly string[],
  world: ProcessContext = testWorld(),
): Promise<Ending> {
  const { config } = readArguments(sftKeys, [
    'model_name=micro',
    'load_checkpoint_path=none',
    'eval_n_batches=0',
    ...argv,
  ]);
  return sft(config, data, openRun(openRunDirectory(path), world));
}

export function warmupIn(path: string, argv: readonly string[], world: ProcessContext = testWorld()): Promise<Ending> {
  const { config } = readArguments(warmupKeys, ['model_name=micro', ...argv]);
  return warmup(config, openRun(openRunDirectory(path), world));
}

/** A short run that learns stories, with a small vocabulary. */
export function pretrainIn(
  path: string,
  argv: readonly string[],
  world: ProcessContext = testWorld(),
): Promise<Ending> {
  const small = ['model_name=micro', 'vocabulary_size=300', 'batch_size=4', 'eval_stories=8', 'samples=0'];
  const { config } = readArguments(pretrainKeys, [...small, ...argv]);
  return pretrain(config, openRun(openRunDirectory(path), world));
}

/** `memrl rl` with a new model of characters. */
export function rlIn(path: string, argv: readonly string[], world: ProcessContext = testWorld()): Promise<Ending> {
  const small = ['model_name=micro', 'engine=wasm', 'threads=1', 'lora_rank=0', 'max_tokens=3', 'eval_every=0'];
  const { config } = readArguments(rlKeys, [...small, 'num_groups_to_log=0', 'group_size=2', ...argv]);
  return rl(config, openRun(openRunDirectory(path), world));
}

export function rowsIn(path: string): Record<string, number | null>[] {
  const lines = readFileSync(join(path, 'metrics.jsonl'), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as Record<string, number | null>);
}

/** The files that must not depend on interruptions: metrics, final weights and optimizer, those of adapters, final state. */
export function resultsIn(path: string): string[] {
  const names = ['metrics.jsonl', 'checkpoints/final/model.safetensors', 'checkpoints/final/state.json'];
  const adapters = 'checkpoints/final/adapters.safetensors';
  return [...names, ...(existsSync(join(path, adapters)) ? [adapters] : [])].map((name) =>
    readFileSync(join(path, name)).toString('base64'),
  );
}
