import { isMapValue } from '../../base/scalar.js';
import type { Value } from './expression/cel-environment.js';
import { fnv1a64 } from './identity.js';
import { numberText } from './value-text.js';

/** The file in a run's directory from which `wandb.init()` reads the run's values. */
export const wandbConfigFile = 'wandb-config.yaml';

/** The run that W&B's variables describe. */
type WandbRun = {
  readonly sweep: string;
  readonly name: string;
  /** Its identity, see `identityOf`. */
  readonly identity: string;
  /** Absolute path. */
  readonly directory: string;
  /** Environment of the launching user. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/**
 * The variables that W&B's agent would set, so that a program that reads `wandb.config` gets the values of its point. They need no
 * server: the run writes to its own directory, from where `wandb sync` may send it later; so does trackio, which many programs
 * import as wandb. `WANDB_MODE`, `WANDB_DIR` and `TRACKIO_DIR` of the user take precedence.
 *
 * `WANDB_SWEEP_ID` is not set: it would refer to a sweep that does not exist on W&B's server.
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

/** Default places of the loggers' files. */
function loggerPlaces(directory: string): Record<string, string> {
  return { WANDB_DIR: directory, TRACKIO_DIR: `${directory}/trackio` };
}

/**
 * Variables for the loggers of any run, unless the user or the sweep file sets them: they write to the run's directory, so that no
 * two runs share a file; once a second instead of wandb's 15; and offline where wandb has no account.
 *
 * @param environment The variables that are already set.
 * @param hasAccount Whether wandb has a key, or its mode is set.
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

/** The file of `WANDB_SWEEP_PARAM_PATH`: YAML for PyYAML, each parameter with its `value`. */
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
  // PyYAML reads a number with an exponent as a text when it has no point.
  if (typeof value === 'number') return numberText(value).replace(/^(-?\d+)e/, '$1.0e');
  return JSON.stringify(value);
}
