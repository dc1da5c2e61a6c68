import { groupBy } from '../../base/group-by.js';
import type { KeyPath } from '../file/diagnostic.js';
import { parameterName } from '../file/parameter-schema.js';
import { type ForeignYaml, type ImportFormat, type ImportSource, yamlOf } from './import-format.js';
import {
  type Conversion,
  type ImportNote,
  isMap,
  isSweepFile,
  plainWord,
  type Written,
  type WrittenMap,
  WrittenNumber,
} from './sweep-text.js';

/** Experiments of Ray's RLlib: `NAME: {run: PPO, env: …, stop: …, config: {lr: {grid_search: […]}}}`. */
export const rayFormat: ImportFormat = {
  name: 'a file of Ray Tune',
  recognises: (_text, value) => isMap(value) && !isSweepFile(value) && Object.values(value).some(isExperiment),
  convert: convertRay,
  takesCommand: false,
};

function isExperiment(value: unknown): boolean {
  return isMap(value) && typeof value['run'] === 'string' && (isMap(value['config']) || value['env'] !== undefined);
}

function convertRay(source: ImportSource): Conversion {
  const yaml = yamlOf(source);
  const names = Object.keys(yaml.mapAt([]));
  const odd = names.find((name) => !isExperiment(yaml.at([name])));
  if (odd !== undefined)
    throw yaml.refusal([odd], `\`${odd}\` is no experiment with \`run\` and \`config\`.`, 'Remove it.');
  const read = names.map((name) => [name.replace(/[^\w.-]+/g, '-'), experimentOf(yaml, name)] as const);
  const notes = read.flatMap(([, { notes: each }]) => each);
  const [only] = read;
  const isPlain = read.length === 1 && only![1].keys['method'] === undefined;
  notes.push({
    line: null,
    text: '`rllib train` in recent versions of Ray is deprecated or missing; where it is, put your own script into `command`.',
  });
  return {
    sweep: isPlain ? only![1].keys : { groups: Object.fromEntries(read.map(([name, { keys }]) => [name, keys])) },
    notes,
    options: [],
  };
}

/** Keys with an option of `rllib train` whose value is passed as it stands. */
const flags: Readonly<Record<string, string>> = { checkpoint_freq: 'checkpoint-freq', local_dir: 'local-dir' };
const switches: Readonly<Record<string, string>> = { checkpoint_at_end: 'checkpoint-at-end' };
const known = new Set(['run', 'env', 'stop', 'config', 'num_samples', ...Object.keys(flags), ...Object.keys(switches)]);

type Experiment = { readonly keys: WrittenMap; readonly notes: ImportNote[] };

function experimentOf(yaml: ForeignYaml, name: string): Experiment {
  const samples = samplesOf(yaml, name);
  const config = rulesOf(yaml, [name, 'config']);
  const isDrawn = config.some(({ kind }) => kind === 'drawn');
  const grid = config.reduce((product, { kind, size }) => (kind === 'grid' ? product * size : product), 1);
  const words = commandOf(yaml, name).map(plainWord);
  return {
    keys: {
      command: [...words, ...(config.length === 0 ? [] : ['--config', '${args_json}'])],
      ...(config.length === 0 ? {} : { parameters: parametersOf(yaml, config, isDrawn) }),
      ...(isDrawn ? { method: 'random', run_cap: samples * grid } : {}),
    },
    notes: notesOf(yaml, name, { samples, isDrawn }),
  };
}

function samplesOf(yaml: ForeignYaml, name: string): number {
  const samples = yaml.at([name, 'num_samples']) ?? 1;
  if (typeof samples === 'number' && Number.isInteger(samples) && samples >= 1) return samples;
  throw yaml.refusal([name, 'num_samples'], 'this is no number of runs.', 'Write a whole number from 1 on.');
}

function notesOf(
  yaml: ForeignYaml,
  name: string,
  { samples, isDrawn }: { samples: number; isDrawn: boolean },
): ImportNote[] {
  const strange = Object.keys(yaml.mapAt([name])).filter((key) => !known.has(key));
  const notes = strange.map((key) => ({
    line: yaml.lineOf([name, key]),
    text: `\`${key}\` is left out: no option of \`rllib train\` is known for it; write it into \`command\`.`,
  }));
  if (isDrawn) return [...notes, { line: null, text: 'points are drawn at random, and are not those that Ray draws.' }];
  if (samples === 1) return notes;
  const text = `\`num_samples: ${samples}\` is left out, as equal runs are one run here: add \`seed\` with ${samples} values to \`parameters\`.`;
  return [...notes, { line: yaml.lineOf([name, 'num_samples']), text }];
}

function commandOf(yaml: ForeignYaml, name: string): string[] {
  const experiment = yaml.mapAt([name]);
  const env = yaml.textAt([name, 'env']) || yaml.textAt([name, 'config', 'env']);
  return [
    ...['rllib', 'train', '--run', yaml.textAt([name, 'run'])],
    ...(env === '' ? [] : ['--env', env]),
    ...(experiment['stop'] === undefined ? [] : ['--stop', jsonText(yaml.written([name, 'stop']))]),
    ...Object.entries(flags).flatMap(([key, flag]) =>
      experiment[key] === undefined ? [] : [`--${flag}`, yaml.textAt([name, key])],
    ),
    ...Object.entries(switches).flatMap(([key, flag]) => (experiment[key] === true ? [`--${flag}`] : [])),
  ];
}

type Rule = {
  readonly keys: KeyPath;
  readonly path: readonly string[];
  readonly value: Written;
  readonly kind: 'fixed' | 'grid' | 'drawn';
  readonly size: number;
};

/** The parameters of a configuration, nested ones by their paths. */
function rulesOf(yaml: ForeignYaml, keys: KeyPath, path: readonly string[] = []): Rule[] {
  return Object.keys(yaml.mapAt(keys)).flatMap((name) => {
    if (parameterName.safeParse(name).success) return ruleOf(yaml, [...keys, name], [...path, name]);
    throw yaml.refusal(
      [...keys, name],
      `\`${name}\` cannot be the name of a parameter.`,
      'Put it into `command` by hand.',
    );
  });
}

function ruleOf(yaml: ForeignYaml, keys: KeyPath, path: readonly string[]): Rule[] {
  const value = yaml.at(keys);
  if (isMap(value) && Array.isArray(value['grid_search'])) {
    const values = yaml.written([...keys, 'grid_search']) as Written[];
    if (values.length > 0) return [{ keys, path, value: values, kind: 'grid', size: values.length }];
    throw yaml.refusal(keys, 'there are no values.', 'List them.');
  }
  const drawn = typeof value === 'string' ? searchOf(yaml, keys, value) : null;
  if (drawn !== null) return [{ keys, path, ...drawn }];
  if (isMap(value) && Object.keys(value).length > 0) return rulesOf(yaml, keys, path);
  const written = yaml.written(keys);
  const isWhole = Array.isArray(written) || isMap(written);
  return [{ keys, path, value: isWhole ? { value: written } : written, kind: 'fixed', size: 1 }];
}

type Search = Omit<Rule, 'path' | 'keys'>;

/** A rule from `tune.uniform(0, 1)`; null: a plain text. @throws {UserError} For functions that have no form here. */
function searchOf(yaml: ForeignYaml, keys: KeyPath, text: string): Search | null {
  const [, name = '', inside = ''] = /^(?:ray\.)?tune\.(\w+)\((.*)\)$/s.exec(text.trim()) ?? [];
  if (name === '') return null;
  const search = listedSearch(name, inside) ?? drawnSearch(name, inside);
  if (search !== null) return search;
  const fix = 'Write `grid_search` with a list, or tune.uniform, loguniform, randint or choice.';
  throw yaml.refusal(keys, `\`tune.${name}(…)\` in this form cannot be taken over.`, fix);
}

function listedSearch(name: string, inside: string): Search | null {
  const list = /^\s*\[(.*)\]\s*$/s.exec(inside)?.[1];
  const values = list === undefined ? null : literals(list);
  if (values === null || (name !== 'grid_search' && name !== 'choice')) return null;
  return name === 'choice'
    ? { value: values, kind: 'drawn', size: 1 }
    : { value: values, kind: 'grid', size: values.length };
}

function drawnSearch(name: string, inside: string): Search | null {
  const numbers = inside.split(',').map((part) => Number(part.trim() || NaN));
  const [min = NaN, max = NaN] = numbers;
  if (numbers.length !== 2 || !(min < max)) return null;
  const drawn = (distribution: WrittenMap): Search => ({ value: distribution, kind: 'drawn', size: 1 });
  if (name === 'uniform') return drawn({ distribution: 'uniform', min, max });
  if (name === 'loguniform' && min > 0) return drawn({ distribution: 'log_uniform_values', min, max });
  // The end is excluded.
  return name === 'randint' ? drawn({ distribution: 'int_uniform', min, max: max - 1 }) : null;
}

/** The numbers, booleans and quoted texts of a list; null: something else is in it. */
function literals(inside: string): Written[] | null {
  const items = inside.split(',').map((item) => item.trim());
  const values = items.map((item): Written | undefined => {
    if (/^-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(item)) return new WrittenNumber(item);
    if (/^(?:True|False)$/.test(item)) return item === 'True';
    return /^(['"])[^'"\\]*\1$/.test(item) ? item.slice(1, -1) : undefined;
  });
  return values.length > 0 && values.every((value) => value !== undefined) ? values : null;
}

/** The parameters by their outermost names: `--config` takes nested maps, so that an axis inside a map makes an axis of maps. */
function parametersOf(yaml: ForeignYaml, rules: readonly Rule[], isDrawn: boolean): WrittenMap {
  const byName = groupBy(rules, ({ path }) => path[0]!);
  return Object.fromEntries(
    [...byName].map(([name, own]): [string, Written] => {
      const [only] = own;
      if (only!.path.length === 1)
        return [name, isDrawn && only!.kind === 'grid' ? { grid: only!.value } : only!.value];
      const drawn = own.find(({ kind }) => kind === 'drawn');
      if (drawn !== undefined) {
        const fix = 'List values with `grid_search`, or move it to the top of `config`.';
        throw yaml.refusal(drawn.keys, 'a parameter that is drawn inside a map cannot be taken over.', fix);
      }
      const maps = mapsOf(own);
      if (maps.length === 1) return [name, { value: maps[0]! }];
      return [name, isDrawn ? { grid: maps } : maps];
    }),
  );
}

/** All maps of the rules below one name, the last rule varying fastest. */
function mapsOf(rules: readonly Rule[]): WrittenMap[] {
  return rules.reduce<WrittenMap[]>(
    (maps, { path, value, kind }) => {
      const values =
        kind === 'grid' ? (value as Written[]) : [isMap(value) && 'value' in value ? value['value']! : value];
      return maps.flatMap((map) => values.map((each) => withValue(map, path.slice(1), each)));
    },
    [{}],
  );
}

function withValue(map: WrittenMap, [name = '', ...rest]: readonly string[], value: Written): WrittenMap {
  const inner = map[name];
  return { ...map, [name]: rest.length === 0 ? value : withValue(isMap(inner) ? inner : {}, rest, value) };
}

function jsonText(value: Written): string {
  return JSON.stringify(value, (_key, each: unknown) => (each instanceof WrittenNumber ? Number(each.text) : each));
}
