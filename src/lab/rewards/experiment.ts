/**
 * The reward and the detector of hacks of a run: a YAML file in either form of the source system, or names alone.
 *
 * The first form has one reward, `reward: {name, params}`, and everything is optional. The second has `reward:
 * {components: […]}` with roles, and is strict: everything that routing needs must be given, even if it is `null`.
 */
import { dirname, resolve } from 'node:path';
import { readText } from '../hugging-face/regular-file.js';
import { UserError } from '../../base/user-error.js';
import type { Role } from './combined.js';
import { checkDetector, type DetectorName } from './detectors.js';
import { parseExperiment, type DetectorSource, type ExperimentSource } from './experiment-schema.js';
import {
  requireFit,
  type ComponentName,
  type DetectorChoice,
  type Experiment,
  type RoutingMode,
} from './experiment-fit.js';
import { isModulePath, moduleName } from '../config/own-module.js';
import type { Params } from './params.js';
import { checkReward } from './registry.js';

/** Settings of the command line that override the file. */
export type Overrides = { readonly routingMode?: RoutingMode };

/** Bytes of the largest file of settings; the source system's have some 50 lines. */
const longestFile = 2 ** 20;

/**
 * Reads a file of either form. Paths of modules in it start at its directory.
 *
 * @throws UserError naming the file, the place in it and the fix: for invalid YAML, unknown keys, wrong types, unknown
 * rewards and detectors, parameters they do not take, and inconsistent settings.
 */
export function readExperiment(path: string, overrides: Overrides = {}): Experiment {
  const source = parseExperiment(readText(path, longestFile), path);
  return checked(experimentFrom(source, path), source, overrides);
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
  return checked(experiment, null, {});
}

/**
 * The experiment with another reward, as `--reward` gives it: that reward becomes the only component, and the file's
 * components are dropped with their parameters.
 *
 * @throws UserError when a detector reads one of these.
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

/** The detector of routed runs that name none, as in the source system's first form. */
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
  const component = { role, scale, params, name: located(name, at) };
  return { id: id ?? (isModulePath(name) ? moduleName(name) : name), ...component };
}

function detectorOf(source: DetectorSource | null, at: string): DetectorChoice | null {
  if (source === null) return null;
  const { name, params, component, false_positive_rate: falsePositiveRate } = source;
  return { name: located(name, at), params, component: component ?? null, falsePositiveRate };
}

function located(name: string, directory: string): string {
  return isModulePath(name) ? resolve(directory, name) : name;
}

/** `classic` is the source system's earlier name of `shared`. */
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
function checked(experiment: Experiment, source: ExperimentSource | null, overrides: Overrides): Experiment {
  const { components } = experiment.reward;
  const at = (place: string) => (source === null ? 'the command line' : `${experiment.source}: \`${place}\``);
  components.forEach(({ name, params }, index) => {
    const place = experiment.form === 'components' ? `reward.components[${index}]` : 'reward';
    placed(at(place), () => checkReward(name, params));
  });
  if (experiment.detector !== null) placed(at('rh_detector'), () => checkDetector(experiment.detector!));
  const { hackFrequencyDetector } = experiment;
  if (hackFrequencyDetector !== null) placed(at('hack_freq_detector'), () => checkDetector(hackFrequencyDetector));
  requireFit(experiment, source?.keys ?? new Set(), overrides.routingMode ?? experiment.routingMode);
  return experiment;
}

function placed(place: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(`${place}: ${error.message}`, error.fix, { cause: error });
  }
}
