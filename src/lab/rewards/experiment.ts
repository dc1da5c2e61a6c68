/**
 * The reward and the detector of hacks of a run: a YAML file in either of small-rl's two forms, or names alone.
 *
 * The first form has one reward, `reward: {name, params}`, and everything is optional. The second has `reward:
 * {components: […]}` with roles, and is strict: everything that routing needs must be given, even if it is `null`.
 */
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod';
import { errorText, UserError } from '../../base/user-error.js';
import { nearest } from '../../text/nearest.js';
import { isModulePath, moduleName } from '../config/own-module.js';
import { readText } from '../hugging-face/regular-file.js';
import type { Role } from './scores.js';
import { checkDetector, type DetectorName } from './detectors.js';
import {
  type ComponentName,
  type DetectorChoice,
  type Experiment,
  requireFit,
  type RoutingMode,
} from './experiment-fit.js';
import { type Params, valueText } from './params.js';
import { checkReward } from './registry.js';

// The YAML of an experiment: its keys and types, in both of small-rl's forms.

const word = z.string('a text').min(1, 'a text that is not empty');
const finite = z.number('a finite number');
const share = z.number('a number from 0 to 1').min(0, 'a number from 0 to 1').max(1, 'a number from 0 to 1');
const params = z
  .record(z.string(), z.unknown(), 'a map of parameters')
  .nullish()
  .transform((value) => value ?? {});

const Id = z.string('a text').regex(/^[\w.+-]+$/, 'a name of letters, digits, and . + - _');
const Component = z.strictObject(
  {
    name: word,
    role: z.enum(['retain', 'forget'], 'retain or forget'),
    scale: finite.default(1),
    params,
    id: Id.optional(),
  },
  'a map with `name` and `role`',
);
const Detector = z.strictObject(
  { name: word, params, component: word.nullish(), false_positive_rate: share.default(0) },
  'a map with `name`, or null',
);
type DetectorSource = z.infer<typeof Detector>;

const Training = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.boolean(), z.null()], 'a number, a text, true, false or null'),
  'a map of settings',
);
const common = {
  name: word.nullish(),
  rh_detector: Detector.nullish(),
  rh_detector_recall: share.default(1),
  hack_freq_detector: Detector.nullish(),
  training: Training.nullish(),
};

const Single = z.strictObject({
  ...common,
  reward: z
    .strictObject({ name: word.default('happy_binary'), params }, 'a map with `name`, or with `components`')
    .nullish(),
});
const Components = z.strictObject({
  ...common,
  reward: z.strictObject({
    components: z.array(Component, 'a list of components').min(1, 'at least one component'),
    max_reward: finite.nullish(),
    normalize: z.boolean('true or false').default(false),
  }),
});

/** A file's values, and its top-level keys: some must be present even if their value is null. */
type ExperimentSource = { readonly keys: ReadonlySet<string> } & (
  | { readonly form: 'single'; readonly file: z.infer<typeof Single> }
  | { readonly form: 'components'; readonly file: z.infer<typeof Components> }
);

/** Settings of the command line that override the file. */
export type Overrides = { readonly routingMode?: RoutingMode };

/** Bytes of the largest file of settings; small-rl's files have some 50 lines. */
const longestFile = 2 ** 20;

/**
 * Reads a file of either form. Paths of modules in it start at its directory.
 *
 * @throws UserError naming the file, the place in it and the fix: for invalid YAML, unknown keys, wrong types, unknown
 * rewards and detectors, parameters they do not take, and inconsistent settings.
 */
export function readExperiment(path: string, overrides: Overrides = {}): Experiment {
  const source = parseExperiment(readText(path, longestFile), path);
  return checkExperiment(experimentFrom(source, path), source, overrides);
}

/**
 * An experiment without a file: rewards by their names, each of scale 1 and role retain. A relative path of a module
 * starts at the working directory.
 *
 * @param detector Detector of routed runs; default: three or more times "happy".
 * @throws UserError
 */
export function experimentOf(options: {
  readonly rewards?: readonly string[];
  readonly detector?: DetectorName | null;
}): Experiment {
  const { rewards = ['happy_binary'], detector = standardDetector } = options;
  const components = rewards.map((name) => componentOf({ name }, '.'));
  const experiment: Experiment = {
    ...noOptions,
    source: 'the command line',
    reward: { components, maxReward: null, normalize: false },
    detector: detector === null ? null : { ...detector, falsePositiveRate: 0 },
  };
  return checkExperiment(experiment, null, {});
}

/**
 * The experiment with another reward, as `--reward` gives it: that reward becomes the only component, and the file's
 * components are dropped with their parameters.
 *
 * @throws UserError when a detector reads one of the components that are dropped.
 */
export function withReward(experiment: Experiment, name: string): Experiment {
  const { detector, hackFrequencyDetector: hacks } = experiment;
  if ([detector, hacks].some((each) => each !== null && each.component !== null)) {
    throw new UserError(
      `${experiment.source} has a detector of one component of its reward, and the reward \`${name}\` of the command line would drop that.`,
      'Leave the reward out of the command line, or write it as a component in the file.',
    );
  }
  checkReward(name, {});
  return { ...experiment, name: null, reward: { ...experiment.reward, components: [componentOf({ name }, '.')] } };
}

/** The detector of routed runs that name none, as in small-rl's first form. */
const standardDetector: DetectorName = { name: 'happy_count', params: {}, component: null };

const noOptions = {
  form: 'single',
  name: null,
  detectorRecall: 1,
  hackFrequencyDetector: null,
  training: {},
  routingMode: null,
} as const;

function experimentFrom(source: ExperimentSource, path: string): Experiment {
  const at = dirname(path);
  const { form, file } = source;
  const isGiven = source.keys.has('rh_detector') || form === 'components';
  const detector = isGiven ? detectorOf(file.rh_detector ?? null, at) : { ...standardDetector, falsePositiveRate: 0 };
  return {
    source: path,
    form,
    name: file.name ?? null,
    reward: source.form === 'components' ? combinedOf(source.file.reward, at) : singleOf(source.file.reward, at),
    detector,
    detectorRecall: file.rh_detector_recall,
    hackFrequencyDetector: detectorOf(file.hack_freq_detector ?? null, at),
    training: file.training ?? {},
    routingMode: routingModeOf(file.training?.['routing_mode'] ?? null, path),
  };
}

type ComponentsReward = Extract<ExperimentSource, { form: 'components' }>['file']['reward'];
type SingleReward = Extract<ExperimentSource, { form: 'single' }>['file']['reward'];

function combinedOf({ components, max_reward: most, normalize }: ComponentsReward, at: string): Experiment['reward'] {
  return { components: components.map((each) => componentOf(each, at)), maxReward: most ?? null, normalize };
}

function singleOf(reward: SingleReward, at: string): Experiment['reward'] {
  return { components: [componentOf(reward ?? { name: 'happy_binary' }, at)], maxReward: null, normalize: false };
}

type WrittenComponent = { name: string; role?: Role; scale?: number; params?: Params; id?: string | undefined };

function componentOf(
  { name, role = 'retain', scale = 1, params = {}, id }: WrittenComponent,
  at: string,
): ComponentName {
  const component = { role, scale, params, name: resolveModule(name, at) };
  return { id: id ?? (isModulePath(name) ? moduleName(name) : name), ...component };
}

function detectorOf(source: DetectorSource | null, at: string): DetectorChoice | null {
  if (source === null) return null;
  const { name, params, component, false_positive_rate: falsePositiveRate } = source;
  return { name: resolveModule(name, at), params, component: component ?? null, falsePositiveRate };
}

function resolveModule(name: string, directory: string): string {
  return isModulePath(name) ? resolve(directory, name) : name;
}

/** `classic` is small-rl's earlier name of `shared`. */
function routingModeOf(value: string | number | boolean | null, path: string): RoutingMode | null {
  if (value === null) return null;
  if (value === 'classic') return 'shared';
  if (value === 'none' || value === 'shared' || value === 'exclusive') return value;
  throw new UserError(
    `${path}: \`training.routing_mode\`: expected none, shared or exclusive, but found ${JSON.stringify(value)}.`,
    'Write one of the three.',
  );
}

/** Names and parameters are checked first, since inconsistencies are easier to explain between things that exist. */
function checkExperiment(experiment: Experiment, source: ExperimentSource | null, overrides: Overrides): Experiment {
  const { components } = experiment.reward;
  const at = (place: string) => (source === null ? 'the command line' : `${experiment.source}: \`${place}\``);
  components.forEach(({ name, params }, index) => {
    const place = experiment.form === 'components' ? `reward.components[${index}]` : 'reward';
    withPlace(at(place), () => checkReward(name, params));
  });
  if (experiment.detector !== null) withPlace(at('rh_detector'), () => checkDetector(experiment.detector!));
  const { hackFrequencyDetector } = experiment;
  if (hackFrequencyDetector !== null) withPlace(at('hack_freq_detector'), () => checkDetector(hackFrequencyDetector));
  requireFit(experiment, source?.keys ?? new Set(), overrides.routingMode ?? experiment.routingMode);
  return experiment;
}

function withPlace(place: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`${place}: ${error.message}`, error.fix, { cause: error });
  }
}

/** @param path For errors. @throws UserError with every error and its place. */
function parseExperiment(text: string, path: string): ExperimentSource {
  const value = valueOf(text, path);
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  const raw = value === null ? {} : isMap ? (value as Record<string, unknown>) : null;
  if (raw === null) {
    throw new UserError(
      `${path} holds no map of settings.`,
      'Begin it with `reward:`, and put what belongs to it below.',
    );
  }
  const keys = new Set(Object.keys(raw));
  const { reward } = raw;
  const hasComponents = typeof reward === 'object' && reward !== null && 'components' in reward;
  if (hasComponents) return { form: 'components', keys, file: checkedFile(Components, raw, path) };
  return { form: 'single', keys, file: checkedFile(Single, raw, path) };
}

function valueOf(text: string, path: string): unknown {
  try {
    const document = parseDocument(text, { merge: true, prettyErrors: false, logLevel: 'error' });
    // An unknown YAML tag is only a warning, and the value below it would be read as plain text.
    const [error] = [...document.errors, ...document.warnings];
    if (error === undefined) return document.toJS({ maxAliasCount: 100 }) as unknown;
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw notYaml(`${path}:${line}`, error.message, error);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    // The YAML library throws for too many aliases, and for brackets nested too deeply for the stack.
    throw notYaml(path, errorText(cause), cause);
  }
}

function notYaml(place: string, why: string, cause: unknown): UserError {
  return new UserError(`${place} is not YAML: ${why}`, 'Correct that line or the one above it.', { cause });
}

function checkedFile<S extends z.ZodType>(schema: S, value: unknown, path: string): z.infer<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const mistakes = parsed.error.issues.flatMap((issue) => mistakesOf(issue, value));
  const fixes = new Set(mistakes.map(({ fix }) => fix));
  throw new UserError(mistakes.map(({ problem }) => `${path}: ${problem}`).join('\n'), [...fixes].join(' '));
}

type SchemaError = { readonly problem: string; readonly fix: string };

function mistakesOf(issue: z.core.$ZodIssue, value: unknown): SchemaError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const near = nearest(key, knownKeys);
      const place =
        issue.path.length === 0 ? `Put \`${key}\` below \`training:\`, or remove it.` : `Remove \`${key}\`.`;
      const fix = near === null ? place : `Did you mean \`${near}\`?`;
      return { problem: `unknown key \`${placeText([...issue.path, key])}\`.`, fix };
    });
  }
  const place = placeText(issue.path);
  const found = issue.path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
  if (found === undefined) {
    return [{ problem: `\`${place}\` is missing; expected ${issue.message}.`, fix: `Add \`${place}\`.` }];
  }
  return [
    {
      problem: `\`${place}\`: expected ${issue.message}, but found ${valueText(found)}.`,
      fix: `Correct \`${place}\`.`,
    },
  ];
}

/** Keys of all mappings: a key in the wrong one is as likely as a misspelt one. */
const knownKeys = [
  ...Object.keys(common),
  ...['reward', 'components', 'max_reward', 'normalize'],
  ...['role', 'scale', 'params', 'id', 'component', 'false_positive_rate'],
];

/** `reward.components[1].role`. */
function placeText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');
}
