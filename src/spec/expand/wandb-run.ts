import { isMapValue } from '../../base/scalar.js';
import type { Value } from './expression/cel-environment.js';
import { fnv1a64 } from './identity.js';
import { numberText } from './value-text.js';

/** File in a run's directory from which `wandb.init()` takes the run's values. */
export const wandbConfigFile = 'wandb-config.yaml';

/** A run as W&B's agent would start it. */
type WandbRun = {
  readonly sweep: string;
  readonly name: string;
  /** Of the run, see `identityOf`. */
  readonly identity: string;
  /** Absolute path. */
  readonly directory: string;
  /** Of the person who launches. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/**
 * What W&B's agent gives to its runs, so that a program that reads `wandb.config` gets the values of its point. Without a
 * server: the run writes to its own directory, from where `wandb sync` may send it later; so does trackio, which many programs
 * import under the name of wandb. What the person has set of `WANDB_MODE`, `WANDB_DIR` and `TRACKIO_DIR` is left as it is.
 *
 * `WANDB_SWEEP_ID` is not there: it would tie the run to a sweep of W&B's server that does not exist.
 */
export function wandbEnvironment({ sweep, name, identity, directory, environment }: WandbRun): Record<string, string> {
  const usual = { WANDB_MODE: 'offline', ...loggerPlaces(directory) };
  return {
    ...unset(usual, environment),
    WANDB_SWEEP_PARAM_PATH: `${directory}/${wandbConfigFile}`,
    WANDB_RUN_ID: fnv1a64(JSON.stringify([sweep, identity])),
    WANDB_NAME: name,
    WANDB_RUN_GROUP: sweep,
  };
}

/** Where the loggers of a run write when nobody says otherwise. */
function loggerPlaces(directory: string): Record<string, string> {
  return { WANDB_DIR: directory, TRACKIO_DIR: `${directory}/trackio` };
}

/**
 * What the loggers of any run are told, beside what the person and the sweep file have set: to write to its directory, so that
 * no two runs share a file; once a second, where wandb has 15; and without a server where it could not be reached anyway.
 *
 * @param environment What is set already. @param hasAccount Whether wandb knows a key, or was told a mode.
 */
export function loggerEnvironment(
  directory: string,
  environment: WandbRun['environment'],
  hasAccount: boolean,
): Record<string, string> {
  const usual = { ...loggerPlaces(directory), WANDB__TRANSACTION_LOG_FLUSH_INTERVAL: '1' };
  return unset(hasAccount ? usual : { ...usual, WANDB_MODE: 'offline' }, environment);
}

function unset(usual: Readonly<Record<string, string>>, environment: WandbRun['environment']): Record<string, string> {
  return Object.fromEntries(Object.entries(usual).filter(([variable]) => !environment[variable]));
}

/** The file of `WANDB_SWEEP_PARAM_PATH`: YAML as Python reads it, each parameter with its `value`. */
export function wandbConfigText(parameters: Readonly<Record<string, Value>>): string {
  const lines = Object.entries(parameters).map(
    ([name, value]) => `${JSON.stringify(name)}: {"value": ${yamlText(value)}}\n`,
  );
  return `wandb_version: 1\n\n${lines.join('')}`;
}

function yamlText(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(yamlText).join(', ')}]`;
  if (isMapValue(value)) {
    const entries = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${yamlText(inner)}`);
    return `{${entries.join(', ')}}`;
  }
  // Python's reader takes a number with an exponent for a text when it has no point.
  if (typeof value === 'number') return numberText(value).replace(/^(-?\d+)e/, '$1.0e');
  return JSON.stringify(value);
}
