/**
 * A user's own environment, reward, detector, objective or probe: the default export of a module, named by its path.
 *
 * Every error of such a module names its file: it is the one part of a run that only its author has tested.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { importModule } from '../../base/import-module.js';
import { errorText, UserError } from '../../base/user-error.js';

type OwnKind = 'environment' | 'reward' | 'detector' | 'objective' | 'probe';

type OwnFunction = (...values: readonly unknown[]) => unknown;

/** Whether a name is the path of a module, rather than a name of a registry. */
export function isModulePath(name: string): boolean {
  return /^\.{0,2}\//.test(name) || /\.[cm]?[jt]s$/.test(name);
}

/** The file's name without its extension: the module's name in metrics. */
export function moduleName(path: string): string {
  return basename(path).replace(/\.[cm]?[jt]s$/, '');
}

/**
 * The default export of a module.
 *
 * @param name A path; a relative one starts at the working directory.
 * @throws UserError when there is no file, this Node.js cannot read its language, or it cannot be loaded.
 */
export async function importOwn(name: string, kind: OwnKind): Promise<unknown> {
  const path = resolve(name);
  if (!existsSync(path)) {
    throw new UserError(
      `There is no file ${path} for the ${kind} \`${name}\`.`,
      'Check the path; it is relative to the YAML file, or to the working directory where none names it.',
    );
  }
  return (await load(path, kind))['default'];
}

/** The function that a module exports by default. @param shape For the error: how the function is called. */
export async function importOwnFunction(name: string, kind: OwnKind, shape: string): Promise<OwnFunction> {
  const exported = await importOwn(name, kind);
  if (typeof exported === 'function') return exported as OwnFunction;
  throw new UserError(
    `The module ${resolve(name)} has no function as its default export.`,
    `Write in it: export default ${shape} { … }`,
  );
}

async function load(path: string, kind: string): Promise<Record<string, unknown>> {
  try {
    return (await importModule(pathToFileURL(path).href)) as Record<string, unknown>;
  } catch (cause) {
    if (/\.[cm]?ts$/.test(path) && (cause as NodeJS.ErrnoException).code === 'ERR_UNKNOWN_FILE_EXTENSION') {
      throw new UserError(
        `The module of the ${kind} ${path} is TypeScript, which this Node.js does not read.`,
        'Use Node.js 22.18 or later, or compile it: npx esbuild FILE.ts --format=esm --outfile=FILE.mjs.',
        { cause },
      );
    }
    const fix = path.endsWith('.mjs')
      ? 'Correct the module; it must load by itself, as `node FILE` does.'
      : 'Correct the module, or name it .mjs: Node.js may take other endings for CommonJS. Of TypeScript it reads what types can be stripped from.';
    throw new UserError(`The module of the ${kind} ${path} cannot be loaded: ${errorText(cause)}`, fix, { cause });
  }
}

/** The error for a user's function that threw. @param how How to call it right: one sentence. */
export function ownFailure(what: string, cause: unknown, how: string): UserError {
  return new UserError(`${what} failed: ${errorText(cause)}`, `Correct it; ${how}`, { cause });
}

/** A hash of those names that are modules; empty when none is. Imports of a module are not hashed. */
export function hashOfModules(names: readonly (string | null)[]): string {
  const paths = names.filter((name) => name !== null && isModulePath(name)).map((path) => resolve(path!));
  if (paths.length === 0) return '';
  const hash = createHash('sha256');
  for (const path of new Set(paths)) hash.update(readFileSync(path));
  return hash.digest('hex').slice(0, 16);
}
