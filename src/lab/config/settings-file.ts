/** Settings of a command in a YAML file: a mapping of its keys. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { parse } from 'yaml';
import { UserError } from '../../base/user-error.js';
import { readArguments, writeValue, type Arguments } from './arguments.js';
import type { Config, Keys } from './key.js';

const Settings = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.number())]));

/**
 * Completes the arguments of a command line with a file of settings; where both set a key, the command line wins.
 *
 * @param path null when there is no file.
 * @throws UserError naming the file, when it is not a mapping of keys to valid values.
 */
export function withSettingsFile<K extends Keys>(
  keys: K,
  { config, given }: Arguments<K>,
  path: string | null,
): Arguments<K> {
  if (path === null) return { config, given };
  const argv = Object.entries(settingsIn(path)).map(([name, value]) => `${name}=${writeValue(value)}`);
  try {
    const file = readArguments(keys, argv);
    const own = [...file.given].filter((name) => !given.has(name)).map((name) => [name, file.config[name]]);
    const said = Object.fromEntries(own) as Partial<Config<K>>;
    return { config: { ...config, ...said }, given: new Set([...given, ...file.given]) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`${path}: ${error.message}`, error.fix, { cause: error });
  }
}

function settingsIn(path: string): z.infer<typeof Settings> {
  try {
    return Settings.parse(parse(readFileSync(path, 'utf8')) ?? {});
  } catch (cause) {
    throw new UserError(
      `${path} cannot be read as settings.`,
      'Give a YAML file with one setting a line, for example `lr: 1e-5`.',
      { cause },
    );
  }
}
