/**
 * Directories in which `memrl serve` keeps weights, and the paths that name them: `tinker://MODEL/weights/NAME`. A colon in the name of a
 * model is a plus sign in that of its directory.
 */
import { join } from 'node:path';

/** Default of its `dir`. */
export const serveDirectory = 'runs/serve';

/** `external_weights` are files for other programs; the service itself does not read them. */
export const weightKinds = ['weights', 'sampler_weights', 'external_weights'] as const;
const modelId = /^[\w.-]+:train:\d+$/;
const checkpointName = /^[\w.-]{1,200}$/;
/** Ending of the directories of unfinished saves. */
export const draftEnding = '.draft';

function isCheckpointName(name: string): boolean {
  return checkpointName.test(name) && !/^\.+$/.test(name) && !name.endsWith(draftEnding);
}

export function isTinkerPath(path: string): boolean {
  return path.startsWith('tinker://');
}

export function isModelId(text: string): boolean {
  return modelId.test(text);
}

/** The folder of saved weights below its `dir`. */
export function servedHome(dir: string): string {
  return join(dir, 'checkpoints');
}

/** The directory of weights below `home`; null when the path does not name weights. No path leads out of `home`. */
export function servedWeights(path: string, home: string): string | null {
  const [, model = '', kind = '', name = ''] = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const isKind = (weightKinds as readonly string[]).includes(kind);
  if (!isModelId(model) || !isKind || !isCheckpointName(name)) return null;
  return join(home, folderOf(model), kind, name);
}

/** The name is encoded, because some file systems refuse colons. */
export function folderOf(model: string): string {
  return model.replaceAll(':', '+');
}
