import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Parameters } from '../../base/scalar.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { headOrEmpty, textOrNull } from '../../files/regular-file.js';
import { redactedParameters, redactShapes } from '../../text/redaction.js';
import { Fields, wire } from '../binary/protobuf.js';
import { readDatabaseRun } from '../formats/databases/database-runs.js';
import { isSound, RECORD_HEAD, recordLength } from '../formats/event-record.js';
import { sacredFiles, timeIn, unpickled } from '../formats/sacred.js';
import { objectIn } from '../formats/json-file.js';
import { tfevents } from '../formats/tfevents.js';
import { readWandbRun } from '../formats/wandb/wandb-run.js';
import { RunFolders } from '../run-folders.js';
import {
  type FoundFacts,
  parametersInArguments,
  parametersOf,
  recordOf,
  scalarOf,
  settingsIn,
} from './setting-files.js';
import type { FoundRun } from './find-runs.js';
import { guildFacts } from './guild.js';

const states: Readonly<Record<string, FoundFacts['state']>> = {
  ...{ RUNNING: 'running', COMPLETED: 'done', INTERRUPTED: 'killed' },
  ...{ FAILED: 'failed', TIMEOUT: 'failed' },
};
/** sacred writes the record of a run that goes on every ten seconds: one that is older has been left by its process, ms. */
const DEAD_MS = 5 * 60_000;

/** What sacred's FileStorageObserver says of a run. */
function sacredFacts(directory: string): Partial<FoundFacts> {
  const record = objectIn(join(directory, sacredFiles.record)) ?? {};
  const config = recordOf(unpickled(objectIn(join(directory, sacredFiles.config)) ?? {}))!;
  const experiment = recordOf(record['experiment']);
  const comment = recordOf(record['meta'])?.['comment'];
  return {
    parameters: parametersOf(config),
    group: typeof experiment?.['name'] === 'string' ? experiment['name'] : null,
    ...stateOf(record),
    ...{ startedAt: timeIn(record['start_time']), endedAt: timeIn(record['stop_time']) },
    note: typeof comment === 'string' && comment !== '' ? comment : null,
  };
}

function stateOf(record: Readonly<Record<string, unknown>>): Pick<FoundFacts, 'state' | 'reason'> {
  const state = states[String(record['status'])] ?? null;
  const heartbeat = timeIn(record['heartbeat']);
  if (state === 'running' && heartbeat !== null && Date.now() - heartbeat > DEAD_MS)
    return { state: 'lost', reason: null };
  return { state, reason: state === 'failed' ? failureOf(record) : null };
}

/** The exception at the end of the traceback; its message may have several lines. */
function failureOf({ fail_trace: trace, status }: Readonly<Record<string, unknown>>): string {
  const last: unknown = Array.isArray(trace) ? trace.at(-1) : null;
  return typeof last === 'string' && last.trim() !== '' ? last.trim().split('\n')[0]! : `sacred says ${String(status)}`;
}

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

/** What an event file says of its run beside its numbers. `hparams`: of TensorBoard's plugin. `texts`: by tag, as `add_text` has them. */
type EventFacts = {
  readonly hparams: Readonly<Record<string, string | number | boolean>>;
  readonly texts: Readonly<Record<string, string>>;
};

/** Settings are written first, bytes. */
const HEAD = 128 << 10;

const event = { summary: 5 };
const value = { tag: 1, tensor: 8, metadata: 9 };
/** `SummaryMetadata.plugin_data` and its fields. */
const metadata = { plugin: 1, name: 1, content: 2 };
const TENSOR_TEXT = 8;
/** `HParamsPluginData.session_start_info.hparams`: a map. */
const hparams = { start: 3, map: 1, key: 1, value: 2 };
/** `google.protobuf.Value`. */
const scalar = { number: 2, text: 3, truth: 4 };

/** Names of the plugins that write settings, as a message holds them: field 1, length, text. */
const pluginNames = ['\n\u0007hparams', '\n\u0004text'];

/** Reads the beginning of an event file. Only events that contain a plugin's name are parsed: nearly all are numbers alone. */
function readEventFacts(path: string): EventFacts {
  const bytes = headOrEmpty(path, HEAD);
  const facts = { hparams: {}, texts: {} };
  let names = pluginNames.map((name) => ({ name, at: placeOf(bytes, name, 0) }));
  for (let at = 0; names.length > 0 && at + RECORD_HEAD <= bytes.length;) {
    const length = recordLength(bytes, at);
    if (length === null || at + length > bytes.length) break;
    const end = at + length;
    if (names.some((each) => each.at < end)) {
      if (isSound(bytes, at, end)) takeEvent(bytes, [at + RECORD_HEAD, end - 4], facts);
      names = names.map((each) => (each.at < end ? { ...each, at: placeOf(bytes, each.name, end) } : each));
    }
    names = names.filter((each) => each.at < Infinity);
    at = end;
  }
  return facts;
}

function placeOf(bytes: Buffer, name: string, from: number): number {
  const at = bytes.indexOf(name, from, 'latin1');
  return at < 0 ? Infinity : at;
}

type Range = readonly [from: number, to: number];
type Writable = { hparams: Record<string, string | number | boolean>; texts: Record<string, string> };

function takeEvent(bytes: Buffer, [from, to]: Range, facts: Writable): void {
  for (const summary of partsOf(bytes, [from, to], event.summary))
    for (const each of partsOf(bytes, summary, 1)) takeValue(bytes, each, facts);
}

function takeValue(bytes: Buffer, range: Range, facts: Writable): void {
  const textOf = (number: number): string => {
    const [part] = partsOf(bytes, range, number);
    return part === undefined ? '' : bytes.toString('utf8', ...part);
  };
  const [about] = partsOf(bytes, range, value.metadata);
  const [plugin] = about === undefined ? [] : partsOf(bytes, about, metadata.plugin);
  if (plugin === undefined) return;
  const [name] = partsOf(bytes, plugin, metadata.name);
  const pluginName = name === undefined ? '' : bytes.toString('utf8', ...name);
  if (pluginName === 'hparams')
    for (const part of partsOf(bytes, plugin, metadata.content)) takeHparams(bytes, part, facts);
  if (pluginName !== 'text') return;
  const [tensor] = partsOf(bytes, range, value.tensor);
  const [text] = tensor === undefined ? [] : partsOf(bytes, tensor, TENSOR_TEXT);
  if (text !== undefined)
    facts.texts[textOf(value.tag).replace(/\/text_summary$/, '')] = bytes.toString('utf8', ...text);
}

function takeHparams(bytes: Buffer, range: Range, facts: Writable): void {
  for (const start of partsOf(bytes, range, hparams.start))
    for (const entry of partsOf(bytes, start, hparams.map)) {
      const [key] = partsOf(bytes, entry, hparams.key);
      const [held] = partsOf(bytes, entry, hparams.value);
      const known = held === undefined ? undefined : scalarIn(bytes, held);
      if (key !== undefined && known !== undefined) facts.hparams[bytes.toString('utf8', ...key)] = known;
    }
}

function scalarIn(bytes: Buffer, [from, to]: Range): string | number | boolean | undefined {
  const fields = new Fields().walk(bytes, from, to);
  while (fields.next()) {
    if (fields.is(scalar.number, wire.fixed64)) return fields.double;
    if (fields.is(scalar.text, wire.bytes)) return fields.text;
    if (fields.is(scalar.truth, wire.varint)) return fields.integer !== 0;
  }
  return undefined;
}

/** The fields of this number that hold bytes, in a message. */
function partsOf(bytes: Buffer, [from, to]: Range, number: number): Range[] {
  const fields = new Fields().walk(bytes, from, to);
  const found: Range[] = [];
  while (fields.next()) if (fields.is(number, wire.bytes)) found.push([fields.start, fields.end]);
  return found;
}
