import { importOwnFunction, ownFailure } from '../config/own-module.js';
import { UserError } from '../../base/user-error.js';
import type { OwnProbe, ProbedPolicy, Sample, Writing } from '../own-modules.js';
import type { Row } from '../run/metrics-file.js';
import type { TrainingService } from '../service/service.js';
import type { Tokenizer } from '../text/tokenizer.js';
import type { Probe } from './evaluator.js';

const how = 'it is called with a policy and returns numbers by name.';

/** The default export of a module as a probe; none without a path. @throws UserError */
export async function openProbes(path: string | null, tokenizer: Tokenizer): Promise<readonly Probe[]> {
  return path === null ? [] : [await openProbe(path, tokenizer)];
}

async function openProbe(path: string, tokenizer: Tokenizer): Promise<Probe> {
  const called = `The probe \`${path}\``;
  const own = (await importOwnFunction(path, 'probe', 'async function (policy)')) as OwnProbe;
  return async (service, updates) => {
    let found: Readonly<Record<string, number>>;
    try {
      found = await own(policyOf(service, tokenizer, updates));
    } catch (cause) {
      throw cause instanceof UserError ? cause : ownFailure(called, cause, how);
    }
    return rowOf(found, called);
  };
}

/** Prefix of the names of a user's own probe. */
export const probePrefix = 'probe/';

function rowOf(found: unknown, called: string): Row {
  if (typeof found !== 'object' || found === null) throw wrong(`${called} returned ${String(found)}.`);
  const entries = Object.entries(found as Readonly<Record<string, unknown>>);
  const stray = entries.find(([, value]) => typeof value !== 'number');
  if (stray !== undefined)
    throw wrong(`${called} returned ${String(stray[1])} for \`${stray[0]}\`, which is not a number.`);
  return Object.fromEntries(entries.map(([name, value]) => [`${probePrefix}${name}`, value as number]));
}

function wrong(problem: string): UserError {
  return new UserError(problem, `Correct it; ${how}`);
}

function policyOf(service: TrainingService, tokenizer: Tokenizer, updates: number): ProbedPolicy {
  const tokensOf = (text: string) => Int32Array.from(tokenizer.encode(text));
  return {
    updates,
    write: (texts, how) => writeTexts(service, tokenizer, texts, how),
    logprobs: async (prompt, text) => {
      const tokens = tokensOf(text);
      const [logprobs] = await service.forward([{ prompt: tokensOf(prompt), tokens, weights: tokens }]);
      return logprobs!;
    },
    weights: async () => {
      if (service.weights !== undefined) return service.weights();
      throw new UserError('A service does not give out its weights.', 'Leave out policy.weights(), or engine=tinker.');
    },
  };
}

/** Continues each text; the text at place i is drawn with the seed `seed` + i. */
export async function writeTexts(
  service: Pick<TrainingService, 'sample'>,
  tokenizer: Tokenizer,
  texts: readonly string[],
  { maxTokens, temperature = 1, seed = 0 }: Writing,
): Promise<Sample[]> {
  const prompts = texts.map((text, index) => ({ tokens: Int32Array.from(tokenizer.encode(text)), seed: seed + index }));
  const stop = tokenizer.end === null ? [] : [tokenizer.end];
  const written = await service.sample({ prompts, sampling: { maxTokens, temperature, stop } });
  return written.map(({ tokens, logprobs, ended }, index) => {
    return { prompt: texts[index]!, text: tokenizer.decodePlain(tokens), tokens, logprobs, ended };
  });
}
