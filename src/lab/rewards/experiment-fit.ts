/** An experiment, and the consistency rules of its settings. */
import { UserError } from '../../base/user-error.js';
import type { Combination, Role } from './scores.js';
import { readsScores, type DetectorName } from './detectors.js';
import type { Params } from './params.js';

/** Mode of gradient routing: `shared` trains both adapters on good samples, `exclusive` the retain adapter alone. */
export type RoutingMode = 'none' | 'shared' | 'exclusive';

export type ComponentName = {
  readonly id: string;
  readonly role: Role;
  readonly scale: number;
  readonly name: string;
  readonly params: Params;
};

/** A detector, and the share of its negatives that are flagged all the same. */
export type DetectorChoice = DetectorName & { readonly falsePositiveRate: number };

/** An experiment. Paths of modules in it are absolute. */
export type Experiment = {
  /** Source for errors: the file, or `the command line`. */
  readonly source: string;
  readonly form: 'single' | 'components';
  readonly name: string | null;
  readonly reward: Combination & { readonly components: readonly ComponentName[] };
  /** null when hacks are not detected. Used only when gradients are routed, or a baseline needs labels. */
  readonly detector: DetectorChoice | null;
  /** The share of the detector's positives that are flagged. */
  readonly detectorRecall: number;
  /** Detector of hacks in evaluations; null: any component of role forget has a score above 0. */
  readonly hackFrequencyDetector: DetectorChoice | null;
  /** Settings of the run, by the names of their flags. The recipe checks the names. */
  readonly training: Readonly<Record<string, string | number | boolean | null>>;
  /** Value of `routing_mode` under `training`; null when it is not given. */
  readonly routingMode: RoutingMode | null;
};

type Inconsistency = { readonly at: string; readonly problem: string; readonly fix: string };

/**
 * Rejects inconsistent settings, as small-rl does: a run with them would not fail, but mean something else than
 * intended.
 *
 * @param keys Top-level keys of the file; the second form requires some of them.
 * @param mode The mode in force; null when none is given.
 * @throws UserError listing all inconsistencies.
 */
export function requireFit(experiment: Experiment, keys: ReadonlySet<string>, mode: RoutingMode | null): void {
  const misfits = [
    ...rewardMisfits(experiment.reward),
    ...(experiment.form === 'components' ? roleMisfits(experiment, keys, mode) : []),
    ...detectorMisfits(experiment, mode),
    ...componentMisfits('rh_detector', experiment.detector, experiment),
    ...componentMisfits('hack_freq_detector', experiment.hackFrequencyDetector, experiment),
  ];
  if (misfits.length === 0) return;
  const problems = misfits.map(({ at, problem }) => `${experiment.source}: \`${at}\`: ${problem}`);
  throw new UserError(problems.join('\n'), misfits.map(({ fix }) => fix).join(' '));
}

function rewardMisfits({ components, maxReward, normalize }: Experiment['reward']): Inconsistency[] {
  const ids = components.map(({ id }) => id);
  const misfits = ids.flatMap((id, index): Inconsistency[] => {
    if (ids.indexOf(id) === index) return [];
    const problem = `another component has the id \`${id}\` already.`;
    return [{ at: `reward.components[${index}]`, problem, fix: 'Give one of the two an `id` of its own.' }];
  });
  if (!normalize || maxReward === null) return misfits;
  const problem = 'normalized scores lie around 0, and a largest reward would cut their upper half alone.';
  return [...misfits, { at: 'reward.max_reward', problem, fix: 'Leave out `max_reward` or `normalize`.' }];
}

/** Rules of the second form: everything about roles must be given, and everything given must be used. */
function roleMisfits(experiment: Experiment, keys: ReadonlySet<string>, mode: RoutingMode | null): Inconsistency[] {
  const misfits: Inconsistency[] = [];
  const hasForget = experiment.reward.components.some(({ role }) => role === 'forget');
  if (!keys.has('rh_detector')) {
    const fix = 'Write `rh_detector: {name: …}`, or `rh_detector: null` for none.';
    misfits.push({ at: 'rh_detector', problem: 'the detector of hacks must be given, even if it is null.', fix });
  }
  if (hasForget && !keys.has('hack_freq_detector')) {
    const problem = 'with a component of role forget, the detector of hacks in evaluations must be given.';
    const fix = 'Write `hack_freq_detector: null` to count every forget reward above 0, or name a detector.';
    misfits.push({ at: 'hack_freq_detector', problem, fix });
  }
  if (!hasForget && experiment.detector !== null) {
    const problem = 'there is no component of role forget that it could find.';
    misfits.push({ at: 'rh_detector', problem, fix: 'Add one, or write `rh_detector: null`.' });
  }
  if (!hasForget && mode !== 'none') {
    const problem = `without a component of role forget nothing can be routed, but it is ${mode ?? 'not given'}.`;
    misfits.push({ at: 'training.routing_mode', problem, fix: 'Write `training: {routing_mode: none}`.' });
  }
  return misfits;
}

function detectorMisfits({ detector, detectorRecall }: Experiment, mode: RoutingMode | null): Inconsistency[] {
  if (detector !== null) return [];
  const isRouted = mode !== null && mode !== 'none';
  if (isRouted) {
    const problem = `gradients are routed (${mode}), and no detector says which samples are hacks.`;
    return [{ at: 'rh_detector', problem, fix: 'Name a detector, or set `routing_mode` to none.' }];
  }
  if (detectorRecall === 1) return [];
  const problem = 'there is no detector to which it could apply.';
  return [{ at: 'rh_detector_recall', problem, fix: 'Leave it out, or name a detector.' }];
}

function componentMisfits(at: string, detector: DetectorChoice | null, { reward }: Experiment): Inconsistency[] {
  const ids = reward.components.map(({ id }) => id);
  if (detector === null) return [];
  const fix = `Set its \`component\` to one of: ${ids.join(', ')}.`;
  if (detector.component !== null && !ids.includes(detector.component)) {
    return [{ at: `${at}.component`, problem: `there is no component \`${detector.component}\`.`, fix }];
  }
  if (detector.component !== null || ids.length === 1 || !readsScores(detector.name)) return [];
  const problem = `the detector \`${detector.name}\` reads the scores of one component, and there are ${ids.length}.`;
  return [{ at, problem, fix }];
}
