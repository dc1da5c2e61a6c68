import { basename, dirname, join } from 'node:path';
import type { Parameters } from '../../base/scalar.js';
import { runFiles } from '../../contract/files.js';
import { databaseRun, runsOfDatabase } from '../formats/databases/database-runs.js';
import { isDatabase } from '../formats/databases/database.js';
import { type Entries, entriesOf, statOf } from '../run-folders.js';
import type { Source } from '../source.js';
import type { FoundRun } from './find-runs.js';
import { type FoundFacts, parametersOf } from './setting-files.js';
import { readFoundFacts, settingsOfWandb } from './found-facts.js';
import { ownKind, runKinds } from './run-kinds.js';

/** What the program of a run says of it in the files of its metrics. `parameters`: among them those that its sweep planned. */
export type DeclaredFacts = Pick<FoundFacts, 'parameters' | 'name' | 'tags' | 'note'>;

export const nothingDeclared: DeclaredFacts = { parameters: {}, tags: [], name: null, note: null };

/** Folders of one run that are looked at: those of its last attempts. */
const MOST_FOLDERS = 8;
/** Parameters of one run that are kept: a trainer of Hugging Face declares some two hundred. */
const MOST_PARAMETERS = 400;
/** Folders above a file in which it is looked for the folder of its writer's run. */
const HIGHEST = 4;

/** The sources of a run as far as it declares something there: the paths of their files, and settings in the files themselves. */
type Declaring = { readonly paths: readonly string[]; readonly configs: readonly Parameters[] };

export function declaringIn(sources: readonly Source[]): Declaring {
  const configs = sources.flatMap(({ reader: { declared } }) =>
    declared === undefined ? [] : [parametersOf(settingsOfWandb(declared.config))],
  );
  return { paths: sources.flatMap(({ found }) => found.paths), configs };
}

/**
 * What the program of a run declares of it, whatever writes its metrics: the folders of its sources are read as those of a viewed
 * run. A later attempt wins over an earlier one; of several runs inside one, as of a sweep in the program, only what they agree on
 * is the run's. Never throws.
 *
 * @param directory Of the run.
 */
export function declaredFacts(directory: string, { paths, configs }: Declaring): DeclaredFacts {
  const places = placesOf(directory, paths).slice(-MOST_FOLDERS);
  const all = places.flatMap(factsOf);
  const parameters: Parameters = {};
  for (const each of [...all.map((facts) => facts.parameters), ...configs]) Object.assign(parameters, each);
  for (const name of disputed(configs)) delete parameters[name];
  return {
    parameters: Object.fromEntries(Object.entries(parameters).slice(0, MOST_PARAMETERS)),
    tags: [...new Set(all.flatMap(({ tags }) => tags))],
    name: all.findLast(({ name }) => name !== null)?.name ?? null,
    note: all.findLast(({ note }) => note !== null)?.note ?? null,
  };
}

/** Names on which these do not agree. */
function disputed(all: readonly Parameters[]): string[] {
  const names = new Set(all.flatMap((each) => Object.keys(each)));
  return [...names].filter((name) => new Set(all.map((each) => JSON.stringify(each[name]))).size > 1);
}

type Place = { readonly path: string; readonly own: readonly string[]; readonly isInside: boolean };

/** The folders of the sources, each with the names of their files in it; those of later attempts come last. */
function placesOf(directory: string, paths: readonly string[]): Place[] {
  const own = new Map<string, string[]>([[directory, []]]);
  for (const path of paths) {
    const folder = dirname(path);
    own.set(folder, [...(own.get(folder) ?? []), basename(path)]);
  }
  return [...own].map(([path, names]) => ({ path, own: names, isInside: `${path}/`.startsWith(`${directory}/`) }));
}

function factsOf(place: Place): FoundFacts[] {
  const ofDatabases = place.own.filter(isDatabase).flatMap((name) => lastRunOf(join(place.path, name)));
  const run = markedRun(place.path) ?? plainRun(place);
  return [...(run === null ? [] : [readFoundFacts(run)]), ...ofDatabases];
}

/** Of several runs in a database of one run of ours, each is an attempt. */
function lastRunOf(path: string): FoundFacts[] {
  const { kind = '', runs = [] } = runsOfDatabase(path) ?? {};
  const last = runs.at(-1);
  return last === undefined ? [] : [readFoundFacts({ ...alone(databaseRun(path, last)), kind })];
}

/** The folder, or one above it, that is a run by the mark of its writer; null: none is. */
function markedRun(path: string): FoundRun | null {
  let folder = path;
  for (let height = 0; height < HIGHEST; height++, folder = dirname(folder)) {
    const entries = listed(folder);
    const kind = runKinds.find(({ marks }) => marks(entries, folder));
    if (kind !== undefined) return kind.name === ownKind ? null : { ...alone(folder), ...entries, kind: kind.name };
  }
  return null;
}

/**
 * A folder without a mark. What lies beside the files of a run outside its directory may be of every run: there, only these files
 * say something. `config.json` beside `metrics.jsonl` is read by whoever reports on the laboratory.
 */
function plainRun({ path, own, isInside }: Place): FoundRun | null {
  if (!isInside) return own.length === 0 ? null : { ...alone(path), files: own };
  const { files, folders } = listed(path);
  const isOfLab = files.includes(runFiles.metrics);
  const isHydra = folders.includes('.hydra');
  const told = files.filter((name) => !isOfLab || name !== runFiles.config);
  return { ...alone(path), files: told, kind: isHydra ? 'Hydra' : 'folder' };
}

function alone(directory: string): FoundRun {
  return { directory, place: '', kind: 'folder', files: [], folders: [] };
}

function listed(path: string): Pick<Entries, 'files' | 'folders'> {
  const steps = entriesOf(path, statOf(path)?.size ?? 0);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value ?? { files: [], folders: [] };
  }
}
