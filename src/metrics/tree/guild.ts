import { join } from 'node:path';
import { statRegular, textOrNull } from '../../files/regular-file.js';
import { type FoundFacts, parametersOf, recordOf, valueIn } from './setting-files.js';

/** Folder in the directory of a run of guild, with what guild says of it; also the name of the folder that holds all its runs. */
export const guildFolder = '.guild';

/** Whether these folders are in the directory of a run of guild. @param folder Its name. */
export function isOfGuild(folders: readonly string[], folder: string): boolean {
  return /^[0-9a-f]{32}$/.test(folder) && folders.includes(guildFolder);
}

/** What guild says of a run: a file of YAML for each attribute. */
export function guildFacts(directory: string): Partial<FoundFacts> {
  const inGuild = (name: string) => join(directory, guildFolder, name);
  const attribute = (name: string) => valueIn(inGuild(join('attrs', name)));
  const [label, tags, comments] = [attribute('label'), attribute('tags'), attribute('comments')];
  const comment = recordOf(Array.isArray(comments) ? comments.at(-1) : null)?.['body'];
  const isThere = (name: string) => statRegular(inGuild(name)).kind === 'file';
  return {
    parameters: parametersOf(recordOf(attribute('flags')) ?? {}),
    name: typeof label === 'string' && label !== '' ? label : null,
    group: operationIn(textOrNull(inGuild('opref'), 1 << 16) ?? ''),
    ...stateOf(attribute('exit_status'), isThere),
    ...{ startedAt: msIn(attribute('started')), endedAt: msIn(attribute('stopped')) },
    tags: Array.isArray(tags) ? tags.map(String) : [],
    note: typeof comment === 'string' ? comment : null,
  };
}

/** As `guild runs` has it: a run without an exit status and a lock has lost its process. */
function stateOf(status: unknown, isThere: (name: string) => boolean): Pick<FoundFacts, 'state' | 'reason'> {
  if (status === 0) return { state: 'done', reason: null };
  if (typeof status === 'number')
    return status > 0 ? { state: 'failed', reason: `exit code ${status}` } : { state: 'killed', reason: null };
  if (isThere('LOCK') || isThere('LOCK.remote')) return { state: 'running', reason: null };
  return { state: isThere('STAGED') || isThere('PENDING') ? 'queued' : 'lost', reason: null };
}

/** The operation, with its model, in `KIND:PLACE VERSION MODEL OPERATION`, whose words are quoted as in a shell; null: there is none. */
function operationIn(reference: string): string | null {
  const [, model = '', operation = ''] = /(\S+) (\S+)\s*$/.exec(reference) ?? [];
  const [own, other] = [model, operation].map((word) => word.replace(/^'(.*)'$/, '$1'));
  return other === '' ? null : [own, other].filter((word) => word !== '').join(':');
}

/** Times of guild are in Unix µs. */
function msIn(time: unknown): number | null {
  return typeof time === 'number' ? time / 1000 : null;
}

/** Files in the directory of a run, by their paths in it, that guild has copied there as its source code: they are of no run. */
export function copiedSources(directory: string): ReadonlySet<string> {
  const manifest = textOrNull(join(directory, guildFolder, 'manifest'), 1 << 20) ?? '';
  return new Set([...manifest.matchAll(/^s (.+?) [0-9a-f]{40} /gm)].map(([, path]) => path!));
}
