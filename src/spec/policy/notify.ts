import { diagnosticsError, type KeyPath, locatedDiagnostic } from '../file/diagnostic.js';
import type { NotifyText } from '../file/policy-schema.js';
import type { SweepFile } from '../file/sweep-file.js';
import { Notify } from '../planned-run.js';
import { type ChannelName, channelNames, notifyChannels } from './notify-channels.js';

type GroupsFile = Extract<SweepFile, { kind: 'groups' }>;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `notify` with `${envvar:NAME}` replaced, so that a token need not be in the file.
 *
 * @throws {UserError} For a variable that is not set, any other macro, and a result that is not a web address.
 */
export function notifyOf(file: GroupsFile, { on, ...written }: NotifyText, environment: Environment): Notify {
  const settings = channelNames.map((name) => [name, settingOf(file, name, { written: written[name], environment })]);
  return Notify.parse({ ...Object.fromEntries(settings), ...(on === undefined ? {} : { on }) });
}

/** A text, or a list of words, with its variables filled in. */
function settingOf(
  file: GroupsFile,
  name: ChannelName,
  { written, environment }: { written: string | string[] | undefined; environment: Environment },
): string | string[] | undefined {
  if (written === undefined) return undefined;
  const keys = ['notify', name];
  const fill = (text: string, at: KeyPath) => filled(file, { written: text, keys: at }, environment);
  const setting = Array.isArray(written)
    ? written.map((word, index) => fill(word, [...keys, index]))
    : fill(written, keys);
  const { accepts, problem } = notifyChannels[name];
  if (accepts(setting)) return setting;
  // The values of the variables may be secret, so they are not shown.
  const said = `with its variables filled in, ${problem}`;
  throw mistake(file, keys, { problem: said, fix: 'Look at the variables that it names.' });
}

function filled(file: GroupsFile, { written, keys }: { written: string; keys: KeyPath }, environment: Environment) {
  return written.replace(/\$\{([^}]*)\}/g, (whole, macro: string) => {
    const [, name] = /^envvar:([A-Za-z_][A-Za-z0-9_]*)$/.exec(macro) ?? [];
    if (name === undefined) {
      const problem = `\`${whole}\` means nothing here.`;
      throw mistake(file, keys, { problem, fix: 'Only `${envvar:NAME}` can stand in `notify`.' });
    }
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined) return value;
    const problem = `the environment has no variable \`${name}\`.`;
    throw mistake(file, keys, { problem, fix: `Set ${name} before the launch.` });
  });
}

function mistake(file: GroupsFile, keys: KeyPath, said: { problem: string; fix: string }): Error {
  return diagnosticsError(file.path, file.text, [locatedDiagnostic(file.placeOf)({ keys, ...said })]);
}
