import { parse } from 'yaml';
import * as z from 'zod';
import { errorText, UserError } from '../../base/user-error.js';
import { nearest } from '../../text/nearest.js';
import { importOwn, isModulePath, moduleName, ownFailure } from '../config/own-module.js';
import type { TextEnvironment } from '../own-modules.js';
import { readParams, type Params } from '../rewards/params.js';
import type { Tokenizer } from '../text/tokenizer.js';
import { arithmetic, arithmeticParams } from './arithmetic/arithmetic.js';
import type { Environment } from './environment.js';
import { manySecrets, manySecretsParams } from './memory/many-secrets.js';
import { gsm8k, gsm8kParams } from './word-problems/gsm8k.js';
import { wordProblems, wordProblemParams } from './word-problems/word-problems.js';
import { environmentOf, requireTextEnvironment } from './text-environment.js';

/** An environment as a command line names it. `params`: its parameters as YAML or JSON: `{max: 9}`. */
export type EnvironmentName = { readonly environment: string; readonly environment_params: string | null };

/** Environments of texts, by name. Memory games and stories belong to the algorithms that were made for them. */
const registry: Readonly<Record<string, Opener>> = {
  arithmetic: (params) => arithmetic(readParams(arithmeticParams, params, 'The environment `arithmetic`')),
  gsm8k: (params, tokenizer) => gsm8k(readParams(gsm8kParams, params, 'The environment `gsm8k`'), tokenizer),
  secrets: (params) => manySecrets(readParams(manySecretsParams, params, 'The environment `secrets`')),
  word_problems: (params, tokenizer) =>
    wordProblems(readParams(wordProblemParams, params, 'The environment `word_problems`'), tokenizer),
};
type Opener = (params: Params, tokenizer: Tokenizer) => TextEnvironment | Promise<TextEnvironment>;

/**
 * Opens an environment of texts by its name, or by the path of a module whose default export is one, or a function of
 * parameters that returns one or a promise of one.
 *
 * @param own Names of the caller's own environments, for errors.
 * @throws UserError
 */
export async function openEnvironment(
  { environment: name, environment_params: written }: EnvironmentName,
  tokenizer: Tokenizer,
  own: readonly string[] = [],
): Promise<Environment> {
  const called = `The environment \`${name}\``;
  const params = paramsIn(written, called);
  const found = isModulePath(name)
    ? await ownEnvironment(name, params, called)
    : await openerOf(name, own)(params, tokenizer);
  return environmentOf(found, { name: moduleName(name), called, tokenizer });
}

async function ownEnvironment(path: string, params: Params, called: string): Promise<TextEnvironment> {
  const exported = await importOwn(path, 'environment');
  let found = exported;
  try {
    if (typeof exported === 'function')
      found = await (exported as (params: Params) => unknown)(structuredClone(params));
  } catch (cause) {
    throw ownFailure(called, cause, 'it is called with its parameters and returns an environment.');
  }
  requireTextEnvironment(found, called);
  if (typeof exported === 'function' || Object.keys(params).length === 0) return found;
  throw new UserError(`${called} takes no parameters.`, 'Export a function of them that returns the environment.');
}

function openerOf(name: string, own: readonly string[]): Opener {
  const entry = Object.hasOwn(registry, name) ? registry[name] : undefined;
  if (entry !== undefined) return entry;
  const names = [...own, ...Object.keys(registry)];
  const near = nearest(name, names);
  throw new UserError(
    `There is no environment \`${name}\`.`,
    `${near === null ? '' : `Did you mean \`${near}\`? `}There are: ${names.join(', ')}. The path of a module (./my-environment.mjs) is your own environment.`,
  );
}

function paramsIn(written: string | null, called: string): Params {
  if (written === null) return {};
  const fix = 'Write an object: environment_params="{max: 9}".';
  let read: unknown;
  try {
    read = parse(written);
  } catch (cause) {
    throw new UserError(`${called}: environment_params cannot be read: ${errorText(cause)}`, fix, { cause });
  }
  const params = z.record(z.string(), z.unknown()).safeParse(read);
  if (params.success) return params.data;
  throw new UserError(`${called}: environment_params=${written} is not an object.`, fix);
}
