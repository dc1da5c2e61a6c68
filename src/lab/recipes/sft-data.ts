import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { Config } from '../config/key.js';
import { singleStepPrompt } from '../memory/prompts.js';
import { writeWhole } from '../run/run-directory.js';
import type { sftDataKeys } from './keys.js';

/** Writes `train.jsonl` and `test.jsonl`: the question and the right answer, over and over. */
export function writeSftData(config: Config<typeof sftDataKeys>, directory: string, log: (line: string) => void): void {
  const { N, fixed_secret: secret } = config;
  if (secret >= N)
    throw new UserError(`The secret ${secret} is not in [0, ${N}).`, `Give fixed_secret a value from 0 to ${N - 1}.`);
  const line = `${JSON.stringify({ messages: [singleStepPrompt(N), { role: 'assistant', content: String(secret) }] })}\n`;
  mkdirSync(directory, { recursive: true });
  writeWhole(join(directory, 'test.jsonl'), line.repeat(config.num_test));
  writeWhole(join(directory, 'train.jsonl'), line.repeat(config.num_train));
  log(`${config.num_train} + ${config.num_test} examples of the secret ${secret} below ${N} in ${directory}`);
}
