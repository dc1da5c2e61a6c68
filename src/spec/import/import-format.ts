import { UserError } from '../../base/user-error.js';
import { numberText } from '../expand/value-text.js';
import { diagnosticsError, type KeyPath } from '../file/diagnostic.js';
import { readYaml, type YamlSource } from '../file/yaml-source.js';
import { type Conversion, isMap, type Written, WrittenNumber } from './sweep-text.js';

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

/** A file of another program in YAML, as Python reads it. */
export class ForeignYaml {
  readonly source: YamlSource;

  /** @throws {UserError} With every mistake, if the text is no YAML. */
  constructor(text: string, path: string) {
    const read = readYaml(text, path, 'wandb');
    if (!('value' in read)) throw diagnosticsError(path, text, read);
    this.source = read;
  }

  get value(): unknown {
    return this.source.value;
  }

  /** The line of the key or the value at a path. */
  lineOf(keys: KeyPath): number {
    const { start } = this.source.placeOf(keys);
    return this.source.text.slice(0, start).split('\n').length;
  }

  /** The value at a path; undefined: there is none. */
  at(keys: KeyPath): unknown {
    return keys.reduce<unknown>(
      (value, key) =>
        typeof value === 'object' && value !== null ? (value as Record<string | number, unknown>)[key] : undefined,
      this.value,
    );
  }

  /** The text, number or boolean at a path as a text; empty: something else is there, or nothing. */
  textAt(keys: KeyPath): string {
    const value = this.at(keys);
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
  }

  /** The map at a path; empty: there is none. @throws {UserError} If something else is there. */
  mapAt(keys: KeyPath): Readonly<Record<string, unknown>> {
    const value = this.at(keys);
    if (value === undefined || value === null) return {};
    if (isMap(value)) return value;
    throw this.refusal(keys, 'is not a map of keys.', 'Write `name: value` there.');
  }

  /** The value at a path with its numbers as Python writes them, also at any depth. */
  written(keys: KeyPath): Written {
    const value = this.at(keys);
    if (Array.isArray(value)) return value.map((_, index) => this.written([...keys, index]));
    if (isMap(value)) return Object.fromEntries(Object.keys(value).map((key) => [key, this.written([...keys, key])]));
    if (typeof value !== 'number') return value as Written;
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw this.refusal(keys, `${value} is a number that a sweep file cannot hold.`, 'Put it in quotes.');
    }
    return pythonNumber(value, this.source.writtenAsDouble(keys));
  }

  /** What cannot be converted, as an error with its place. */
  refusal(keys: KeyPath, problem: string, fix: string): UserError {
    const { path, text } = this.source;
    return diagnosticsError(path, text, [{ place: this.source.placeOf(keys), keys, problem, fix }]);
  }
}

/** A number as Python writes it. @param isDouble Whether a whole number is one of Python's floats. */
export function pythonNumber(value: number, isDouble: boolean): WrittenNumber {
  const text = numberText(value);
  return new WrittenNumber(isDouble && /^-?\d+$/.test(text) ? `${text}.0` : text);
}
