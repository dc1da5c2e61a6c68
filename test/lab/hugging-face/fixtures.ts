import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from '../../../src/lab/engine/engine.js';
import { createEngine } from '../../../src/lab/engine/create-engine.js';
import type { LoadedModel } from '../../../src/lab/hugging-face/directory.js';
import { tempDirectory } from '../temp-directory.js';

/** Where the directories lie that `transformers` and `tokenizers` wrote. */
export const fixtures = 'test/fixtures/hugging-face';

/**
 * What `transformers` computes: after each of the tokens, the log-probability of every next one. `gradients`: of the mean of minus the
 * log-probability of each next token of the sequence, by tensor.
 */
type Expected = { tokens: number[]; logprobs: number[][]; gradients?: Record<string, number[]> };

export function expected(name: string): Expected {
  return JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8')) as Expected;
}

/** A copy of a fixture, to be spoiled. */
export function copyOf(name: string): string {
  const directory = tempDirectory();
  cpSync(join(fixtures, name), directory, { recursive: true });
  return directory;
}

export async function engineOf({ config, weights }: LoadedModel): Promise<Engine> {
  const engine = await createEngine(config.shape);
  await engine.loadWeights(weights);
  return engine;
}

/** The log-probability of every next token after each of these. */
export async function nextLogprobs(engine: Engine, tokens: readonly number[]): Promise<number[][]> {
  const decoder = await engine.decoder(Int32Array.of(tokens[0]!), 1);
  const rows = [[...(await decoder.logprobs())]];
  for (const token of tokens.slice(1)) {
    await decoder.extend([[token]]);
    rows.push([...(await decoder.logprobs())]);
  }
  return rows;
}
