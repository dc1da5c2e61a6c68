import { UserError } from '../../base/user-error.js';
import { shellQuote } from '../../text/shell-words.js';
import { readYaml } from '../file/yaml-source.js';
import { isWandbFile } from '../file/wandb-file.js';
import { guildFormat } from './guild.js';
import { hydraFormat } from './hydra.js';
import type { ImportFormat, ImportSource } from './import-format.js';
import { rayFormat } from './ray.js';
import { arrayJobFormat } from './shell/array-job.js';
import { scriptFormat } from './shell/script-format.js';
import { semlFormat } from './seml.js';
import { type Conversion, noteText, sweepText } from './sweep-text.js';

/** Every kind of file that can be made into a sweep file. The first that recognises a file converts it. */
const formats: readonly ImportFormat[] = [
  semlFormat,
  hydraFormat,
  rayFormat,
  guildFormat,
  arrayJobFormat,
  scriptFormat,
];

/** The format of a file; null: it is none of these. */
export function importFormatOf(text: string, path: string): ImportFormat | null {
  const value = yamlValue(text, path);
  return formats.find(({ recognises }) => recognises(text, value, path)) ?? null;
}

/** The value of a file in YAML; undefined: it is none. */
function yamlValue(text: string, path: string): unknown {
  if (!/\.(ya?ml|json)$/i.test(path) && !looksLikeYaml(text)) return undefined;
  const read = readYaml(text, path, 'wandb');
  return 'value' in read ? read.value : undefined;
}

/** Whether a file without a telling name, such as standard input, begins with a key. */
function looksLikeYaml(text: string): boolean {
  const first = text.split('\n').find((line) => !/^(?:#|$)/.test(line.trim())) ?? '';
  return /^(?:- ?)?['"]?[\w.-]{1,200}['"]?:(?: |$)/.test(first.trim());
}

/** A sweep file made of a file of another program. `notes`: what was not taken over. `options`: of the launch. */
export type Imported = {
  readonly text: string;
  readonly format: string;
  readonly notes: readonly string[];
  readonly options: readonly string[];
  readonly commands: Conversion['commands'];
};

/**
 * Makes a sweep file of a file of another program. The file is read, never executed.
 *
 * @throws {UserError} If it is of no known kind, or has something without a faithful form.
 */
export function importSweep(source: ImportSource): Imported {
  const { text, path } = source;
  if (text.trim() === '') throw new UserError(`${path} is empty.`, 'Give the file of another program.');
  const format = importFormatOf(text, path);
  if (format === null) throw unknownFormat(text, path);
  if (!format.takesCommand && source.command.length > 0) {
    throw new UserError(
      `${path} is ${format.name}, which says itself what is run, so nothing can be done with the command behind \`--\`.`,
      'Leave the command out.',
    );
  }
  const { sweep, notes, options, commands } = format.convert(source);
  const told = notes.map(noteText);
  const launch = options.length === 0 ? [] : [`Launch it with: memrl-tui FILE ${shellQuote(options)}`];
  const from = path === '-' ? format.name : `${path}, ${format.name}`;
  const head = [
    `Made by \`memrl-tui import\` of ${from}.`,
    ...launch,
    ...(told.length === 0 ? [] : ['Not taken over:']),
    ...told.map((note) => `- ${note}`),
  ];
  return { text: sweepText(sweep, head), format: format.name, notes: told, options, commands };
}

function unknownFormat(text: string, path: string): UserError {
  if (isWandbFile(yamlValue(text, path))) {
    return new UserError(
      `${path} is a W&B sweep file, which is launched as it is.`,
      `Launch it: \`memrl-tui ${path} --dry-run\`.`,
    );
  }
  return new UserError(
    `${path} is of no kind that can be imported.`,
    `These are: ${formats.map(({ name }) => name).join(', ')}. A program of your own: \`memrl-tui init train.py\`.`,
  );
}
