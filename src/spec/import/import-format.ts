import { UserError } from '../../base/user-error.js';
import { ForeignYaml } from './foreign-yaml.js';
import type { Conversion } from './sweep-text.js';

/** A file of another program, and what else a conversion may use. */
export type ImportSource = {
  readonly text: string;
  /** For messages and endings; nothing is opened by it. */
  readonly path: string;
  /** The words behind `--`; empty: none. */
  readonly command: readonly string[];
  /** The text of a file that the imported one names; null: it is not readable. */
  readonly readFile: (path: string) => string | null;
};

/** One kind of file that can be made into a sweep file. */
export type ImportFormat = {
  /** `a SEML file` */
  readonly name: string;
  /** Judged by keys and words; `value` is that of the YAML, undefined if the file is none. */
  readonly recognises: (text: string, value: unknown, path: string) => boolean;
  /** @throws {UserError} For what has no faithful form as a sweep file. */
  readonly convert: (source: ImportSource) => Conversion;
  /** Whether it takes a command behind `--`, because its files do not name the program. */
  readonly takesCommand: boolean;
};

/** The YAML of a source. @throws {UserError} If it is none. */
export function yamlOf({ text, path }: ImportSource): ForeignYaml {
  return new ForeignYaml(text, path);
}

/** The command of a file that names none. @throws {UserError} If there is none. */
export function demandedCommand({ command, path }: ImportSource, example: string): readonly string[] {
  if (command.length > 0) return command;
  throw new UserError(
    `${path} does not say which program its parameters are for.`,
    `Add the command: \`memrl-tui import ${path} -- ${example}\`.`,
  );
}
