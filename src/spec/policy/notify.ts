import { diagnosticsError, type KeyPath, locatedDiagnostic } from '../file/diagnostic.js';
import { isWebAddress, type NotifyText } from '../file/policy-schema.js';
import type { SweepFile } from '../file/sweep-file.js';
import { Notify } from '../planned-run.js';

type GroupsFile = Extract<SweepFile, { kind: 'groups' }>;
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * `notify` with `${envvar:NAME}` replaced, so that a token need not stand in the file.
 *
 * @throws {UserError} For a variable that is not set, any other macro, and what is then no web address.
 */
export function notifyOf(file: GroupsFile, text: NotifyText, environment: Environment): Notify {
  const fill = (written: string, keys: KeyPath) => filled(file, { written, keys }, environment);
  const command = text.command?.map((word, index) => fill(word, ['notify', 'command', index]));
  const webhook = text.webhook === undefined ? undefined : fill(text.webhook, ['notify', 'webhook']);
  if (webhook !== undefined && !isWebAddress(webhook)) {
    // What the variables hold may be secret, so it is not shown.
    const problem = 'with its variables filled in, this is no web address that begins with https:// or http://.';
    throw mistake(file, ['notify', 'webhook'], { problem, fix: 'Look at the variables that it names.' });
  }
  return Notify.parse({ command, webhook, on: text.on });
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
