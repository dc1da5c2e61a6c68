/**
 * A person's own reward or detector: the default export of a JavaScript module, named by its path.
 *
 * Whatever it does wrong is said with its file: it is the one part of a run that nobody but its author has tested.
 */
import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { errorText, UserError } from '../../base/user-error.js';
import type { Completion } from './completion.js';
import type { Params } from './params.js';

type Own = (...values: readonly unknown[]) => unknown;

/** Whether a name is the path of a module, and no name of a registry. */
export function isModulePath(name: string): boolean {
  return /^\.{0,2}\//.test(name) || /\.[cm]?[jt]s$/.test(name);
}

/** The file's name without its ending: what a component of this module is called in metrics. */
export function moduleName(path: string): string {
  return basename(path).replace(/\.[cm]?[jt]s$/, '');
}

/**
 * The function that a module exports by default.
 *
 * @param name A path; a relative one starts at the working directory.
 * @param shape For the error: how the function is called.
 * @throws UserError when there is no file, it cannot be loaded, or its default export is no function.
 */
export async function importOwn(name: string, kind: 'reward' | 'detector', shape: string): Promise<Own> {
  const path = resolve(name);
  if (!existsSync(path)) {
    throw new UserError(
      `There is no file ${path} for the ${kind} \`${name}\`.`,
      'Check the path; it is relative to the YAML file, or to the working directory where none names it.',
    );
  }
  const exported = (await load(path, kind))['default'];
  if (typeof exported === 'function') return exported as Own;
  throw new UserError(
    `The module ${path} has no function as its default export.`,
    `Write in it: export default ${shape} { … }`,
  );
}

async function load(path: string, kind: string): Promise<Record<string, unknown>> {
  try {
    return (await import(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    const fix = path.endsWith('.mjs')
      ? 'Correct the module; it must load by itself, as `node FILE` does.'
      : 'Correct the module, or name it .mjs: Node.js may take other endings for CommonJS, or not read their TypeScript.';
    throw new UserError(`The module of the ${kind} ${path} cannot be loaded: ${errorText(cause)}`, fix, { cause });
  }
}

/** Copies that a person's code may keep but not change: the same completions are scored and trained on afterwards. */
export function forOwn(completions: readonly Completion[], params: Params): readonly unknown[] {
  const copies = completions.map(({ prompt, text, ids }) =>
    Object.freeze({ prompt, text, ids: Object.freeze([...ids]) }),
  );
  return [Object.freeze(copies), structuredClone(params)];
}

/** What to throw when a person's function threw. */
export function ownFailure(what: string, cause: unknown): UserError {
  return new UserError(
    `${what} failed: ${errorText(cause)}`,
    'Correct it; it is called with completions, params and must not change them.',
    { cause },
  );
}
