import { groupBy } from '../../base/group-by.js';
import type { KeyPath } from '../file/diagnostic.js';
import { valueText } from '../expand/value-text.js';
import { type ForeignYaml, type ImportFormat, type ImportSource, pythonNumber, yamlOf } from './import-format.js';
import { type SlurmOption, slurmKeys } from './slurm-keys.js';
import { type Conversion, type ImportNote, isMap, type Written, type WrittenMap, WrittenNumber } from './sweep-text.js';

/** A file of SEML: `seml`, `slurm`, `fixed`, `grid`, `random`, and sub-configs. */
export const semlFormat: ImportFormat = {
  name: 'a SEML file',
  recognises: (_text, value) => isMap(value) && isMap(value['seml']),
  convert: convertSeml,
  takesCommand: false,
};

const sections = ['fixed', 'grid', 'random'] as const;
type Section = (typeof sections)[number];
const reserved = new Set<string>(['seml', 'slurm', ...sections]);

/** One parameter: the section and the path of its rule. */
type Rule = { readonly section: Section; readonly keys: KeyPath };
/** The parameters of a sub-config with those above it. `samples`: of the `random` blocks, the largest. */
type Level = { readonly name: string; readonly rules: ReadonlyMap<string, Rule>; readonly samples: number | null };

function convertSeml(source: ImportSource): Conversion {
  const yaml = yamlOf(source);
  const seml = yaml.mapAt(['seml']);
  if (typeof seml['executable'] !== 'string') {
    throw yaml.refusal(['seml'], 'there is no `executable`.', 'Write `executable: train.py` there.');
  }
  const levels = levelsOf(yaml, { name: '', keys: [], above: new Map(), samples: null });
  const groups = Object.fromEntries(levels.map((level) => [level.name || groupName(level), groupOf(yaml, level)]));
  const jobs = jobsOf(yaml);
  const [only] = Object.values(groups);
  // A file with a `method` and no groups would be one of W&B's.
  const isPlain = levels.length === 1 && levels[0]!.samples === null;
  return {
    sweep: {
      command: ['python', seml['executable'], 'with', '${args_no_hyphens}'],
      ...jobs.keys,
      ...(isPlain ? only : { groups }),
    },
    notes: [...semlNotes(yaml, levels), ...jobs.notes],
    options: jobs.options,
  };
}

function groupName(level: Level): string {
  return level.samples === null ? 'runs' : 'random';
}

type Above = {
  readonly name: string;
  readonly keys: KeyPath;
  readonly above: ReadonlyMap<string, Rule>;
  readonly samples: number | null;
};

/** The leaves of the tree of sub-configs: what is lower replaces a parameter of the same name above. */
function levelsOf(yaml: ForeignYaml, { name, keys, above, samples }: Above): Level[] {
  const own = sections.flatMap((section) => rulesOf(yaml, [...keys, section], section));
  const rules = new Map([...above, ...own]);
  const ownSamples = yaml.at([...keys, 'random', 'samples']);
  const most = typeof ownSamples === 'number' ? Math.max(samples ?? 0, ownSamples) : samples;
  const subs = Object.keys(yaml.mapAt(keys)).filter((key) => !reserved.has(key));
  if (subs.length === 0) {
    const isDrawn = [...rules.values()].some(({ section }) => section === 'random');
    if (isDrawn && most === null) {
      throw yaml.refusal([...keys, 'random'], 'there is no number of `samples`.', 'Write `samples: 10` there.');
    }
    return [{ name, rules, samples: isDrawn ? most : null }];
  }
  return subs.flatMap((sub) => {
    if (sub.startsWith('+') || !isMap(yaml.at([...keys, sub]))) {
      throw yaml.refusal(
        [...keys, sub],
        `\`${sub}\` is neither a block of SEML nor a sub-config.`,
        'Remove it, or put it under `fixed`.',
      );
    }
    const longer = `${name}${name === '' ? '' : '.'}${sub.replace(/[^\w.-]+/g, '-')}`;
    return levelsOf(yaml, { name: longer, keys: [...keys, sub], above: rules, samples: most });
  });
}

/** The rules of a block by dotted names; collections and nested maps are taken apart. */
function rulesOf(yaml: ForeignYaml, keys: KeyPath, section: Section, outer = ''): [string, Rule][] {
  const isCount = (key: string) => section === 'random' && outer === '' && (key === 'samples' || key === 'seed');
  return Object.keys(yaml.mapAt(keys))
    .filter((key) => !isCount(key))
    .flatMap((key): [string, Rule][] => {
      const [place, name] = [[...keys, key], `${outer}${key}`];
      refuseOdd(yaml, place, name);
      const inner = innerPlace(yaml.at(place), section);
      return inner === null
        ? [[name, { section, keys: place }]]
        : rulesOf(yaml, [...place, ...inner], section, `${name}.`);
    });
}

/** Where the parameters inside a value are, below it; null: it is one parameter. */
function innerPlace(value: unknown, section: Section): KeyPath | null {
  if (!isMap(value)) return null;
  if (section === 'fixed') return Object.keys(value).length > 0 ? [] : null;
  if (value['type'] === 'parameter_collection') return ['params'];
  return value['type'] === undefined ? [] : null;
}

function refuseOdd(yaml: ForeignYaml, place: KeyPath, name: string): void {
  if (name.startsWith('+')) {
    const fix = 'Remove it here, and add the name of the config to `command` by hand.';
    throw yaml.refusal(place, 'a named config has no form as a parameter.', fix);
  }
  if (JSON.stringify(yaml.at(place))?.includes('${')) {
    throw yaml.refusal(place, 'an interpolation (`${…}`) cannot be taken over.', 'Write the value that it stands for.');
  }
}

function groupOf(yaml: ForeignYaml, { rules, samples }: Level): WrittenMap {
  // SEML takes the grid first, and draws for each of its points; fixed values are in all of them.
  const order = [...rules].sort((left, right) => rank(left[1]) - rank(right[1]));
  const zipOf = ({ section, keys }: Rule) => (section === 'grid' ? yaml.textAt([...keys, 'zip_id']) : '');
  const zips = groupBy(
    order.filter(([, rule]) => zipOf(rule) !== ''),
    ([, rule]) => zipOf(rule),
  );
  const [zipped] = [...zips.values()];
  if (zips.size > 1 || (zipped !== undefined && samples !== null)) {
    const fix = 'Write the values out: `cases` of a sweep file sets several parameters together.';
    throw yaml.refusal([], 'more than one `zip_id`, or one beside `random`, cannot be taken over.', fix);
  }
  const parameters = order.flatMap(([name, rule]): [string, Written][] =>
    zipOf(rule) === '' ? [[name, ruleOf(yaml, rule, samples !== null)]] : [],
  );
  return {
    parameters: shown(parameters),
    ...(zipped === undefined ? {} : { cases: casesOf(yaml, zipped) }),
    ...(samples === null ? {} : { method: 'random', run_cap: samples * gridSize(parameters) }),
  };
}

/** @param isDrawn Whether points are drawn, each of which is run at all points of the grid. */
function ruleOf(yaml: ForeignYaml, { section, keys }: Rule, isDrawn: boolean): Written {
  if (section === 'fixed') return constantOf(yaml.written(keys));
  if (section === 'random') return drawnOf(yaml, keys);
  const values = gridValues(yaml, keys);
  return isDrawn ? { grid: values } : values;
}

function rank({ section }: Rule): number {
  return ['grid', 'fixed', 'random'].indexOf(section);
}

/** The number of points of the grid that each draw is run at. */
function gridSize(parameters: readonly (readonly [string, Written])[]): number {
  const sizes = parameters.map(([, value]) =>
    isMap(value) && Array.isArray(value['grid']) ? value['grid'].length : 1,
  );
  return sizes.reduce((product, size) => product * size, 1);
}

function casesOf(yaml: ForeignYaml, zipped: readonly (readonly [string, Rule])[]): Written[] {
  const columns = zipped.map(([name, { keys }]) => [name, gridValues(yaml, keys)] as const);
  const [[, first]] = columns as [(typeof columns)[number]];
  if (columns.some(([, values]) => values.length !== first.length)) {
    const fix = 'Give them as many values each.';
    throw yaml.refusal([], 'parameters of one `zip_id` have different numbers of values.', fix);
  }
  return first.map((_, index) => shown(columns.map(([name, values]) => [name, constantOf(values[index]!)])));
}

/**
 * Parameters under their dotted names. SEML passes the outermost map as one argument, which sacred takes apart: `a.b=1` and
 * `a={'b': 1}` are the same to it. Texts are in Python's quotes, as SEML passes them.
 */
function shown(parameters: readonly (readonly [string, Written])[]): WrittenMap {
  return Object.fromEntries(parameters.map(([name, value]) => [name, shownText(value)]));
}

function shownText(value: Written): Written {
  if (typeof value === 'string') return inQuotes(value);
  if (Array.isArray(value)) return value.map((each: Written) => (typeof each === 'string' ? inQuotes(each) : each));
  if (isMap(value) && Array.isArray(value['grid'])) return { grid: shownText(value['grid']) };
  return value;
}

function inQuotes(text: string): string {
  return valueText([text]).slice(1, -1);
}

function constantOf(value: Written): Written {
  const isPlain = typeof value !== 'object' || value === null || value instanceof WrittenNumber;
  return isPlain ? value : { value };
}

function gridValues(yaml: ForeignYaml, keys: KeyPath): Written[] {
  const { type } = yaml.mapAt(keys);
  if (type === 'choice') {
    const options = yaml.written([...keys, 'options']);
    if (Array.isArray(options) && options.length > 0) return options as Written[];
    throw yaml.refusal(keys, 'there are no `options`.', 'List them.');
  }
  const [min, max] = [numberAt(yaml, [...keys, 'min']), numberAt(yaml, [...keys, 'max'])];
  if (type === 'range') return arange(yaml, keys, { min, max });
  const count = Math.trunc(numberAt(yaml, [...keys, 'num']));
  if (count < 1 || count > mostValues)
    throw yaml.refusal([...keys, 'num'], 'this is no number of values.', 'Write one from 1 on.');
  if (type === 'uniform') return linspace(min, max, count).map((value) => pythonNumber(value, true));
  if (type === 'loguniform' && min > 0) {
    return linspace(Math.log10(min), Math.log10(max), count).map((power) => pythonNumber(powerOfTen(power), true));
  }
  throw yaml.refusal(
    keys,
    `\`type: ${yaml.textAt([...keys, 'type'])}\` is not one of choice, range, uniform and loguniform.`,
    'List the values: `type: choice`, `options: […]`.',
  );
}

/** `10 ** -5` is off by the last digit in V8. */
function powerOfTen(power: number): number {
  return Number.isInteger(power) ? Number(`1e${power}`) : 10 ** power;
}

/** Limit on the number of values of one parameter. */
const mostValues = 200_000;

/** NumPy's `arange`: the end is excluded, and steps are not rounded. */
function arange(yaml: ForeignYaml, keys: KeyPath, { min, max }: { min: number; max: number }): Written[] {
  const step = numberAt(yaml, [...keys, 'step']);
  const count = Math.ceil((max - min) / step);
  if (!(count >= 1 && count <= mostValues))
    throw yaml.refusal(keys, 'there are no values in this range, or too many.', 'Correct `min`, `max` or `step`.');
  const isDouble = ['min', 'max', 'step'].some(
    (key) => !/^-?\d+$/.test((yaml.written([...keys, key]) as WrittenNumber).text),
  );
  // The second value sets the distance of all.
  const distance = min + step - min;
  return Array.from({ length: count }, (_, index) => pythonNumber(min + index * distance, isDouble));
}

/** NumPy's `linspace`, both ends included. */
function linspace(min: number, max: number, count: number): number[] {
  if (count === 1) return [min];
  const step = (max - min) / (count - 1);
  return Array.from({ length: count }, (_, index) => (index === count - 1 ? max : min + index * step));
}

function numberAt(yaml: ForeignYaml, keys: KeyPath): number {
  const value = yaml.at(keys);
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw yaml.refusal(keys, 'a number is missing.', 'Write it there.');
}

function drawnOf(yaml: ForeignYaml, keys: KeyPath): Written {
  const { type } = yaml.mapAt(keys);
  if (type === 'choice') return yaml.written([...keys, 'options']);
  const ends = () => ({ min: numberAt(yaml, [...keys, 'min']), max: numberAt(yaml, [...keys, 'max']) });
  if (type === 'uniform') return { distribution: 'uniform', ...ends() };
  if (type === 'loguniform') return { distribution: 'log_uniform_values', ...ends() };
  if (type === 'randint') {
    const { min, max } = ends();
    return { distribution: 'int_uniform', min: Math.trunc(min), max: Math.trunc(max) - 1 };
  }
  throw yaml.refusal(
    keys,
    `\`type: ${yaml.textAt([...keys, 'type'])}\` cannot be drawn here.`,
    'Write choice, uniform, loguniform or randint.',
  );
}

function semlNotes(yaml: ForeignYaml, levels: readonly Level[]): ImportNote[] {
  const at = (key: string, text: string) =>
    yaml.at(['seml', key]) == null ? [] : [{ line: yaml.lineOf(['seml', key]), text }];
  const isDrawn = levels.some(({ samples }) => samples !== null);
  const hasSeed = levels.every(({ rules }) => rules.has('seed'));
  return [
    {
      line: null,
      text: '`db_collection`, `overwrite` and `--force` are left out: there is no database, so an observer of MongoDB in the program must be left out, too.',
    },
    ...(hasSeed
      ? []
      : [
          {
            line: null,
            text: 'SEML adds a seed to each experiment: add `seed: [0, 1, 2]`, or each run draws its own.',
          },
        ]),
    ...(isDrawn
      ? [{ line: null, text: 'values under `random` are drawn anew here, and are not the numbers that SEML draws.' }]
      : []),
    ...at('conda_environment', '`conda_environment` is left out: activate it before the launch.'),
    ...at('project_root_dir', '`project_root_dir` is left out: launch the sweep in that folder, or write `cwd`.'),
    ...at('output_dir', '`output_dir` is left out: the output of each run is in its own output.log.'),
    ...at('reschedule_timeout', '`reschedule_timeout` is left out: write `retry` and `timeout`.'),
  ];
}

/** The keys for Slurm, of the first block. */
function jobsOf(yaml: ForeignYaml): { keys: WrittenMap; notes: ImportNote[]; options: string[] } {
  const said = yaml.at(['slurm']);
  if (said == null) return { keys: {}, notes: [], options: [] };
  const place: KeyPath = Array.isArray(said) ? ['slurm', 0] : ['slurm'];
  const more =
    Array.isArray(said) && said.length > 1
      ? [{ line: yaml.lineOf(['slurm', 1]), text: 'only the first block of `slurm` is taken over.' }]
      : [];
  const { experiments_per_job: shared, max_simultaneous_jobs: most, sbatch_options: given } = yaml.mapAt(place);
  const options = Object.keys(isMap(given) ? given : {}).map((name): SlurmOption => {
    const keys = [...place, 'sbatch_options', name];
    return { name: name.replace(/^-+/, ''), value: optionText(yaml, keys), line: yaml.lineOf(keys) };
  });
  const { keys, notes } = slurmKeys(options);
  const resources = {
    ...(keys['resources'] as WrittenMap),
    ...(typeof shared === 'number' && shared > 1 ? { per_gpu: shared } : {}),
  };
  return {
    keys: { ...keys, resources },
    notes: [...notes, ...more],
    options: typeof most === 'number' ? ['--slots', String(most)] : [],
  };
}

/** An option as it is written: YAML reads `08:00` as a number. */
function optionText(yaml: ForeignYaml, keys: KeyPath): string | null {
  const value = yaml.at(keys);
  if (value === null || value === true) return null;
  const { start, end } = yaml.source.placeOf(keys);
  return typeof value === 'number' ? yaml.source.text.slice(start, end).trim() : yaml.textAt(keys);
}
