import { commentText } from '../../text/display-text.js';
import { numberText } from '../expand/value-text.js';

/** A number in the notation in which a program gets it: `1.0`, `1e-4`. */
export class WrittenNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** A value of a sweep file. */
export type Written =
  | string
  | number
  | boolean
  | null
  | WrittenNumber
  | readonly Written[]
  | { readonly [name: string]: Written };

/** A map of a sweep file. */
export type WrittenMap = { readonly [name: string]: Written };

/** Something that was not taken over from the imported file: what, and what to do about it. `line` counts from 1. */
export type ImportNote = { readonly line: number | null; readonly text: string };

/** The keys of a sweep file, what the imported file says beyond them, and the options to launch it with. */
export type Conversion = {
  readonly sweep: WrittenMap;
  readonly notes: readonly ImportNote[];
  readonly options: readonly string[];
  /** The commands that it has to start, in any order, where they were worked out one by one. */
  readonly commands?: readonly (readonly string[])[];
};

/** One note as a line: `line 3: …`. */
export function noteText({ line, text }: ImportNote): string {
  const words = line === null ? text : `line ${line}: ${text}`;
  return commentText(words);
}

/** The text of a sweep file. @param head Lines of the comment at its top. */
export function sweepText(sweep: WrittenMap, head: readonly string[]): string {
  const comments = head.map((line) => `# ${commentText(line)}`);
  return [...comments, ...blockLines(sweep, ''), ''].join('\n');
}

/** Keys whose maps have a line for each entry. */
const opened = new Set(['parameters', 'groups', 'slurm', 'env']);

function blockLines(map: WrittenMap, indent: string, isGroups = false): string[] {
  return Object.entries(map).flatMap(([key, value]) => {
    const name = `${indent}${flow(key)}:`;
    if (isMap(value) && Object.keys(value).length > 0 && (isGroups || opened.has(key))) {
      return [name, ...blockLines(value, `${indent}  `, key === 'groups')];
    }
    if (key === 'cases' && Array.isArray(value)) {
      return [name, ...value.map((each: Written) => `${indent}  - ${flow(each)}`)];
    }
    return [`${name} ${flow(value)}`];
  });
}

/** Texts that YAML reads as the same text without quotes, in any of its versions. */
const plain = /^(?:-{0,2}[A-Za-z_/]|\.{1,2}\/)[\w./+@-]*$/;
const words = /^(?:null|true|false|yes|no|on|off|y|n)$/i;

/** A value on one line of YAML. */
export function flow(value: Written): string {
  if (value instanceof WrittenNumber) return value.text;
  if (typeof value === 'number') return numberText(value);
  if (typeof value === 'string') return plain.test(value) && !words.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`;
  if (!isMap(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([name, inner]) => `${flow(name)}: ${flow(inner)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

export function isMap(value: unknown): value is WrittenMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof WrittenNumber);
}

/** Whether a file says by its keys that it is one of our own. */
export function isSweepFile(value: unknown): boolean {
  return isMap(value) && ['command', 'parameters', 'groups', 'cases'].some((key) => Object.hasOwn(value, key));
}

/** Numbers whose notation a sweep file keeps. */
const kept = /^-?(?:0|[1-9]\d*)(?:\.\d*)?(?:[eE][-+]?\d+)?$|^-?\.\d+(?:[eE][-+]?\d+)?$/;

/**
 * Texts as values of one parameter, so that a program gets each as it stands. They are numbers where all of them are in a notation
 * that is kept, and no number is written in two ways.
 */
export function textValues(texts: readonly string[]): (string | WrittenNumber)[] {
  const isNumeric = texts.every(
    (text) => kept.test(text) && Number.isFinite(Number(text)) && !/^-0*(?:\.0*)?$/.test(text),
  );
  const isExact = texts.every((text) => !/^-?\d+$/.test(text) || Number.isSafeInteger(Number(text)));
  const numbers = new Set(texts.map(Number));
  const isNumber = isNumeric && isExact && numbers.size === new Set(texts).size;
  return isNumber ? texts.map((text) => new WrittenNumber(text)) : [...texts];
}

/** Macros of directories, which a value in a sweep file cannot contain as plain text. */
export function holdsMacro(text: string): boolean {
  return /\$\{(?:run_dir|run_name|sweep_dir|after_dir|after_name)\}/.test(text);
}

/** A plain text as a word of a command: `${` stands for itself. */
export function plainWord(text: string): string {
  return text.replaceAll('${', () => '$${');
}
