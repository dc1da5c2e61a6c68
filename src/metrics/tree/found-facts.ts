import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Parameters } from '../../base/scalar.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { textOrNull } from '../../files/regular-file.js';
import { redactedParameters, redactShapes } from '../../text/redaction.js';
import { readDatabaseRun } from '../formats/databases/database-runs.js';
import { type EventFacts, readEventFacts } from '../formats/event-facts.js';
import { tfevents } from '../formats/tfevents.js';
import { readWandbRun } from '../formats/wandb/wandb-run.js';
import { RunFolders } from '../run-folders.js';
import type { FoundFacts } from './facts.js';
import type { FoundRun } from './find-runs.js';
import { guildFacts } from './guild.js';
import { sacredFacts } from './sacred-facts.js';
import { parametersInArguments, parametersOf, recordOf, scalarOf, settingsIn } from './setting-files.js';

const unknown: FoundFacts = {
  ...{ parameters: {}, name: null, group: null, state: null, reason: null, startedAt: null, endedAt: null },
  ...{ tags: [], note: null },
};

/** Reads the files of a run of another program than this one. Never throws; a file that cannot be read says nothing. */
export function readFoundFacts(run: FoundRun): FoundFacts {
  const said = databaseFacts(run.directory) ?? readers[run.kind]?.(run.directory) ?? {};
  const facts = { ...unknown, ...said };
  const isSaid = Object.keys(facts.parameters).length > 0;
  const parameters = isSaid ? facts.parameters : parametersIn(run);
  return { ...facts, parameters: redactedParameters(parameters, redactShapes) };
}

const readers: Readonly<Record<string, (directory: string) => Partial<FoundFacts>>> = {
  Hydra: (directory) => ({ parameters: hydraParameters(join(directory, '.hydra')) }),
  MLflow: mlflowFacts,
  'W&B': wandbFacts,
  sacred: sacredFacts,
  guild: guildFacts,
  DVCLive: dvcliveFacts,
};

/** Names of files in which programs write their settings, the likely first. */
const settingFiles = [
  ...['hparams', 'args', 'params', 'hyperparameters', 'hyperparams', 'flags', 'config'].flatMap((name) =>
    ['json', 'yaml', 'yml'].map((ending) => `${name}.${ending}`),
  ),
  ...['params/agent.yaml', 'run_config.yaml', 'train_config.json', 'training_config.json', 'cfg.yaml'],
];

function parametersIn(run: FoundRun): Parameters {
  const { directory, files, folders } = run;
  const isThere = (name: string) => files.includes(name) || (name.includes('/') && folders.includes(dirname(name)));
  // A model's own file has what it is made of, not how it was trained.
  const all = settingFiles
    .filter(isThere)
    .map((name) => settingsIn(join(directory, name)))
    .filter((settings) => settings !== null && !('transformers_version' in settings));
  if (all.length > 0)
    return Object.fromEntries(all.toReversed().flatMap((settings) => Object.entries(parametersOf(settings!))));
  return parametersInEvents(run);
}

/** Event files whose beginnings are read: `add_hparams` writes a further one. */
const MOST_EVENT_FILES = 8;
const MOST_FOLDERS = 16;

/** The settings in event files: TensorBoard's plugin, the table of CleanRL, the arguments of Hugging Face's Trainer. */
function parametersInEvents({ directory, files, folders }: FoundRun): Parameters {
  const paths = folders.length === 0 ? files.map((name) => join(directory, name)) : pathsBelow(directory);
  const parameters: Parameters = {};
  for (const path of paths.filter(isEvents).slice(0, MOST_EVENT_FILES))
    Object.assign(parameters, parametersInFacts(readEventFacts(path)));
  return parameters;
}

function pathsBelow(directory: string): string[] {
  const folders = new RunFolders(directory, MOST_FOLDERS);
  folders.look();
  return folders.files.map(({ path }) => path);
}

function isEvents(path: string): boolean {
  return tfevents.isNamed!(basename(path));
}

function parametersInFacts({ hparams, texts }: EventFacts): Parameters {
  const table = (texts['hyperparameters'] ?? texts['hparams'] ?? '').matchAll(/^\|([^|\n]+)\|([^|\n]*)\|$/gm);
  const rows = [...table].map(([, key, value]) => [key!.trim(), scalarOf(value!)] as const);
  const named = rows.filter(([key]) => !/^(param|key|name|-*)$/.test(key));
  const settings = texts['args'] === undefined ? null : parseJsonLine(texts['args']);
  return { ...parametersOf(settings ?? {}), ...Object.fromEntries(named), ...hparams };
}

function hydraParameters(folder: string): Parameters {
  const config = settingsIn(join(folder, 'config.yaml')) ?? {};
  const overrides = (textOrNull(join(folder, 'overrides.yaml'), 1 << 16) ?? '').split('\n');
  const words = overrides.map((line) => line.replace(/^- *['"]?[+~]*/, '').replace(/['"]$/, ''));
  // The composed configuration has the values as the program saw them.
  return { ...parametersInArguments(words), ...parametersOf(config) };
}

const mlflowStates: Readonly<Record<string, FoundFacts['state']>> = {
  ...{ 1: 'running', 3: 'done', 4: 'failed', 5: 'killed' },
  ...{ RUNNING: 'running', FINISHED: 'done', FAILED: 'failed', KILLED: 'killed' },
};
const mlflowFailed = 'MLflow says that it failed';
/** Parameters of one run that are read. */
const MOST_PARAMETERS = 500;

function mlflowFacts(directory: string): Partial<FoundFacts> {
  const meta = settingsIn(join(directory, 'meta.yaml')) ?? {};
  const experiment = settingsIn(join(dirname(directory), 'meta.yaml'));
  const state = mlflowStates[String(meta['status'])] ?? null;
  const time = (key: string) => (typeof meta[key] === 'number' ? meta[key] : null);
  return {
    parameters: mlflowParameters(join(directory, 'params'), ''),
    ...{ name: textOf(meta['run_name']), group: textOf(experiment?.['name']), state },
    reason: state === 'failed' ? mlflowFailed : null,
    ...{ startedAt: time('start_time'), endedAt: time('end_time') },
  };
}

/** A file for each, the value as its text; a name with a slash is a folder. */
function mlflowParameters(folder: string, prefix: string): Parameters {
  try {
    const entries = readdirSync(folder, { withFileTypes: true }).slice(0, MOST_PARAMETERS);
    const all = entries.map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && prefix.length < 64) return mlflowParameters(path, `${prefix}${entry.name}/`);
      const text = textOrNull(path, 1 << 16);
      return text === null ? {} : { [prefix + entry.name]: scalarOf(text) };
    });
    return Object.assign({}, ...all) as Parameters;
  } catch {
    return {};
  }
}

/** Its own `params.yaml` has what the program logged, the one of the project around what DVC gave the program. */
function dvcliveFacts(directory: string): Partial<FoundFacts> {
  const files = [join(dirname(directory), 'params.yaml'), join(directory, 'params.yaml')];
  return { parameters: Object.assign({}, ...files.map((path) => parametersOf(settingsIn(path) ?? {}))) as Parameters };
}

function wandbFacts(directory: string): Partial<FoundFacts> {
  const file = wandbFile(directory);
  if (file === null) return {};
  const { name, project, group, config, exitCode, tags, notes } = readWandbRun(file);
  const told = settingsOfWandb({ ...wandbConfig(directory), ...config });
  return {
    parameters: Object.keys(told).length > 0 ? parametersOf(told) : typedParameters(directory),
    ...{ name, group: group ?? project, tags, note: notes },
    ...(exitCode === null ? {} : endOf(exitCode)),
  };
}

/** A config without what W&B itself keeps in it. */
export function settingsOfWandb(config: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== '_wandb' && key !== 'wandb_version'));
}

function endOf(exitCode: number): Pick<FoundFacts, 'state' | 'reason'> {
  return exitCode === 0 ? { state: 'done', reason: null } : { state: 'failed', reason: `exit code ${exitCode}` };
}

function wandbFile(directory: string): string | null {
  try {
    const name = readdirSync(directory).find((each) => /^run-.*\.wandb$/.test(each));
    return name === undefined ? null : join(directory, name);
  } catch {
    return null;
  }
}

/** `files/config.yaml`, which only runs that are online have. */
function wandbConfig(directory: string): Readonly<Record<string, unknown>> {
  const written = Object.entries(settingsIn(join(directory, 'files/config.yaml')) ?? {});
  return Object.fromEntries(written.map(([key, value]) => [key, recordOf(value)?.['value']]));
}

/** The parameters in the command line that W&B has kept. */
function typedParameters(directory: string): Parameters {
  const args = settingsIn(join(directory, 'files/wandb-metadata.json'))?.['args'];
  return Array.isArray(args) ? parametersInArguments(args.map(String)) : {};
}

/** Null: the run is of no database. */
function databaseFacts(path: string): Partial<FoundFacts> | null {
  const said = readDatabaseRun(path);
  if (said === null) return null;
  const settings = Object.entries(said.settings);
  const state = said.state === null ? null : (mlflowStates[said.state] ?? null);
  return {
    // MLflow has the texts of values.
    parameters: parametersOf(
      Object.fromEntries(settings.map(([key, value]) => [key, typeof value === 'string' ? scalarOf(value) : value])),
    ),
    ...{ name: said.name, group: said.group ?? basename(dirname(path)).replace(/\.\w+$/, '') },
    ...{ state, reason: state === 'failed' ? mlflowFailed : null },
    ...{ startedAt: said.startedAt, endedAt: said.endedAt },
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
