/**
 * Makes a tool of a verb: its name, description and parameters are those of its row in the table of verbs, and a call is its command
 * line.
 */
import * as z from 'zod';
import { collect } from '../options.js';
import type { Verb, VerbOption } from '../verb.js';
import type { Answer, Caller, RunCommand } from './command.js';

/** The arguments of a call, by name. */
export type Given = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Something that an agent can call. */
export type Tool = {
  readonly name: string;
  readonly about: string;
  readonly input: z.ZodObject;
  /** Null: it only looks. `isFinal`: it cannot be undone. */
  readonly acts: { readonly isFinal: boolean } | null;
  readonly call: (given: Given, run: RunCommand, caller: Caller) => Promise<Answer>;
};

/** The part of a verb that a tool is made of. */
export type VerbRow = Pick<Verb, 'name' | 'takes' | 'behind' | 'options'>;

const queryAbout =
  'runs, by name (of a run, sweep/run, or a sweep) or by a query such as `status:failed,lost`, `group:A lr>=1e-3`, `error:"out of memory"`, `x or y`, `not x`; `all`: every run of every sweep';
const abouts: Readonly<Record<string, string>> = {
  query: queryAbout,
  sweep: 'name of a sweep that was launched',
  file: 'path of a sweep file',
  n: 'a whole number; the higher first',
  text: 'the text',
};

/** The parameters of a verb: its arguments, and the options with these names. @throws When it has no such option. */
export function inputOf(verb: VerbRow, options: readonly string[]): z.ZodObject {
  const fields = [
    ...argumentsOf(verb).map(({ name, isRequired }) => [name, maybe(fieldFor(name), isRequired)]),
    ...options.map((name) => [fieldName(name), maybe(valueOf(optionNamed(verb, name)), false)]),
  ];
  return z.strictObject(Object.fromEntries(fields) as Record<string, z.ZodType>);
}

/** The command line of a call, without the name of the verb: options, then arguments behind `--`, where none is taken for an option. */
export function wordsOf(verb: VerbRow, given: Given): string[] {
  const words = argumentsOf(verb).flatMap(({ name }) => given[name] ?? []);
  return [...optionsOf(verb, given), '--', ...words.map(String)];
}

/** The options of a call. */
export function optionsOf({ options }: VerbRow, given: Given): string[] {
  return options.flatMap((option) => optionWords(option, given[fieldName(longName(option))]));
}

/** `a table of runs`: `A table of runs.` */
export function sentence(about: string): string {
  return `${about.slice(0, 1).toUpperCase()}${about.slice(1)}.`;
}

/** The long names of its options. */
export function optionNames({ options }: VerbRow): string[] {
  return options.map(longName);
}

type Argument = { readonly name: string; readonly isRequired: boolean };

/** `<n> <query...>`, and what stands behind it: `TEXT`, `+TAG… -TAG…`. */
function argumentsOf({ takes, behind }: VerbRow): Argument[] {
  const named = [...takes.matchAll(/([<[])(\w+)/g)].map(([, bracket, name]) => ({
    name: name!,
    isRequired: bracket === '<',
  }));
  if (behind === undefined) return named;
  return [...named, behind === 'TEXT' ? { name: 'text', isRequired: false } : { name: 'tags', isRequired: true }];
}

function fieldFor(name: string): z.ZodType {
  if (name === 'tags')
    return z.array(z.string().regex(/^[+-]/)).describe('tags to add and to remove: ["+good", "-bad"]');
  return (name === 'n' ? z.int() : z.string()).describe(abouts[name] ?? name);
}

function valueOf({ flags, about, read }: VerbOption): z.ZodType {
  const [, placeholder] = /<(.*)>/.exec(flags) ?? [];
  return schemaFor(placeholder, read === collect).describe(about);
}

function schemaFor(placeholder: string | undefined, isRepeated: boolean): z.ZodType {
  if (placeholder === undefined) return z.boolean();
  if (isRepeated || placeholder.endsWith('...')) return z.array(z.string());
  return placeholder === 'n' ? z.int().nonnegative() : z.string();
}

function maybe(field: z.ZodType, isRequired: boolean): z.ZodType {
  return isRequired ? field : field.optional();
}

function optionNamed({ name: verb, options }: VerbRow, name: string): VerbOption {
  const found = options.find((option) => longName(option) === name);
  if (found === undefined) throw new Error(`The verb ${verb} has no option --${name}.`);
  return found;
}

/** `-n, --lines <n>`: `lines`. */
function longName({ flags }: VerbOption): string {
  return /--([\w-]+)/.exec(flags)![1]!;
}

function fieldName(option: string): string {
  return option.replaceAll('-', '_');
}

/** The words of an option: one for each value, so that no value is taken for an option. */
function optionWords(option: VerbOption, value: Given[string]): string[] {
  const flag = `--${longName(option)}`;
  if (value === undefined || value === false) return [];
  if (value === true) return [flag];
  return [value].flat().map((each) => `${flag}=${String(each)}`);
}
