import type { KeyPath } from '../file/diagnostic.js';
import { parameterName } from '../file/parameter-schema.js';
import { asksForMultirun, withoutMultirun } from '../grid-line/multirun.js';
import { ValueMistake } from '../grid-line/value-syntax.js';
import { hydraText } from '../expand/hydra-text.js';
import type { ForeignYaml } from './foreign-yaml.js';
import { hydraValue, type HydraValue } from './hydra-value.js';
import { searchOf, searchSpace } from './hydra-search.js';
import { demandedCommand, type ImportFormat, type ImportSource, yamlOf } from './import-format.js';
import { type Conversion, type ImportNote, isMap, plainWord, type Written, WrittenNumber } from './sweep-text.js';

/** A configuration of Hydra with the parameters of a multirun (`hydra.sweeper.params`), also of the Optuna sweeper. */
export const hydraFormat: ImportFormat = {
  name: 'a configuration of Hydra',
  recognises: (text, value) => isMap(value) && (isMap(value['hydra']) || isSweeperPackage(text, value)),
  convert: convertHydra,
  takesCommand: true,
};

/** A file of the config group `hydra/sweeper`, whose keys are those of the sweeper. */
function isSweeperPackage(text: string, value: unknown): boolean {
  const isSweeper = isMap(value) && (isMap(value['params']) || isMap(value['search_space']));
  return (
    isSweeper &&
    (/^# *@package +hydra\.sweeper\b/m.test(text) || /[Ss]weeper/.test(JSON.stringify(value['_target_'] ?? '')))
  );
}

function convertHydra(source: ImportSource): Conversion {
  const yaml = yamlOf(source);
  const place: KeyPath = isMap(yaml.at(['hydra'])) ? ['hydra', 'sweeper'] : [];
  const search = searchOf(yaml, place);
  const parameters = new Map([...paramsOf(yaml, place, search !== null), ...searchSpace(yaml, place)]);
  if (parameters.size === 0) {
    const fix =
      'Give a file with `hydra.sweeper.params`, or type the sweep: `memrl-tui grid lr=0.1,0.01 --args hydra -- python train.py`.';
    throw yaml.refusal(place, 'there are no parameters of a sweep.', fix);
  }
  const typed = demandedCommand(source, 'python train.py');
  const command = withoutMultirun(typed);
  const text = '`--multirun` is left out of the command: the sweep takes its place.';
  const notes = asksForMultirun(typed) ? [{ line: null, text }] : [];
  const isMultirun = /multirun/i.test(yaml.textAt(['hydra', 'mode']));
  const words = argumentWords(parameters, yaml, place);
  return {
    sweep: {
      command: [...command.map(plainWord), ...(isMultirun ? ['hydra.mode=RUN'] : []), ...words],
      parameters: Object.fromEntries([...parameters].map(([name, value]) => [safeName(name), formOf(value)])),
      ...(search === null ? drawnKeys(parameters, yaml, place) : search.keys),
    },
    notes: [...notes, ...(search?.notes ?? []), ...leftOut(yaml, place)],
    options: search?.options ?? [],
  };
}

function paramsOf(yaml: ForeignYaml, place: KeyPath, isSearch: boolean): [string, HydraValue][] {
  return Object.keys(yaml.mapAt([...place, 'params'])).map((name) => {
    const keys = [...place, 'params', name];
    const value = yaml.written(keys);
    if (/^[~+]/.test(name)) {
      throw yaml.refusal(
        keys,
        '`+`, `++` and `~` have no form among parameters.',
        'Remove it here, and put it into the command behind `--`.',
      );
    }
    if (isMap(value)) throw yaml.refusal(keys, 'a map is no value of an override.', 'Write a text: `lr: 0.1,0.01`.');
    if (typeof value !== 'string') return [name, { kind: 'constant', value }];
    try {
      return [name, hydraValue(value, isSearch)];
    } catch (error) {
      if (error instanceof ValueMistake) throw yaml.refusal(keys, error.message, error.fix);
      throw error;
    }
  });
}

/** A grid with an interval, which only sweepers that search can draw from. */
function drawnKeys(
  parameters: ReadonlyMap<string, HydraValue>,
  yaml: ForeignYaml,
  place: KeyPath,
): Record<string, Written> {
  const drawn = [...parameters].find(([, { kind }]) => kind === 'drawn');
  if (drawn === undefined) return {};
  const keys = [...place, 'params', drawn[0]];
  throw yaml.refusal(
    keys,
    "Hydra's own sweeper cannot draw from an interval.",
    'List values, or name the sweeper (`override hydra/sweeper: optuna`, `n_trials: 20`).',
  );
}

function formOf(value: HydraValue): Written {
  if (value.kind === 'drawn') return value.distribution;
  if (value.kind === 'list') return value.values;
  return typeof value.value === 'object' && value.value !== null && !(value.value instanceof WrittenNumber)
    ? { value: value.value }
    : value.value;
}

/** A config group (`model/opt`, `db@src`) under a name that a parameter may have. */
function safeName(name: string): string {
  return parameterName.safeParse(name).success ? name : name.replace(/[^\w.-]+/g, '_').replace(/^(?=[^A-Za-z_])/, '_');
}

/** The words that pass the parameters. Config groups are passed by their own names, and have plain words as values. */
function argumentWords(parameters: ReadonlyMap<string, HydraValue>, yaml: ForeignYaml, place: KeyPath): string[] {
  const names = [...parameters.keys()];
  const odd = names.find((name) => safeName(name) !== name);
  if (odd === undefined) return ['${args_hydra}'];
  for (const [name, value] of parameters) {
    const values = value.kind === 'list' ? value.values : value.kind === 'constant' ? [value.value] : [];
    const isPlain = values.every(
      (each) => each instanceof WrittenNumber || typeof each === 'boolean' || isPlainText(each),
    );
    if (isPlain) continue;
    const fix = `Put \`${odd}\` into the command instead, and import again.`;
    throw yaml.refusal(
      [...place, 'params', name],
      `this value needs quotes of Hydra, and stands beside the config group \`${odd}\`.`,
      fix,
    );
  }
  return names.map((name) => `${plainWord(name)}=\${${safeName(name)}}`);
}

function isPlainText(value: Written): boolean {
  return typeof value === 'string' && hydraText(value) === value;
}

function leftOut(yaml: ForeignYaml, place: KeyPath): ImportNote[] {
  const launcher = yaml.at(['hydra', 'launcher']);
  const sweep = yaml.at(['hydra', 'sweep']);
  return [
    ...(launcher === undefined
      ? []
      : [
          {
            line: yaml.lineOf(['hydra', 'launcher']),
            text: '`hydra.launcher` is left out: runs are started here, or with `executor: slurm`.',
          },
        ]),
    ...(sweep === undefined
      ? []
      : [
          {
            line: yaml.lineOf(['hydra', 'sweep']),
            text: "`hydra.sweep` is left out: each run is a single run of Hydra; pass 'hydra.run.dir=${run_dir}' to have its output in the directory of the run.",
          },
        ]),
    ...(yaml.at([...place, 'max_batch_size'])
      ? [
          {
            line: yaml.lineOf([...place, 'max_batch_size']),
            text: '`max_batch_size` is left out: it is `--slots` here.',
          },
        ]
      : []),
  ];
}
