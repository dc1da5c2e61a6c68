import type { CodeSnapshot, PlannedRun } from './planned-run.js';
import { joinPath } from './expand/plan-run.js';

/**
 * The run as it starts from a code snapshot: its working directory is in the snapshot, so that relative paths of its command lead
 * there, as do those entries of `PYTHONPATH` that are in the work tree. The words of its command do not change.
 *
 * Metrics are expected where a relative path leads, and in the folders of the file.
 *
 * @param environment The user's environment.
 */
export function atSnapshot(
  run: PlannedRun,
  snapshot: CodeSnapshot,
  environment: Readonly<Record<string, string | undefined>>,
): PlannedRun {
  const { folders } = run.metrics;
  const pythonPath = run.env['PYTHONPATH'] ?? environment['PYTHONPATH'] ?? '';
  const placed = pythonPath
    .split(':')
    .map((entry) => (entry.startsWith('/') ? copyOf(entry, snapshot) : entry))
    .join(':');
  return {
    ...run,
    cwd: joinPath(snapshot.path, snapshot.within),
    snapshot: { path: snapshot.path, cwd: snapshot.cwd },
    ...(placed === pythonPath ? {} : { env: { ...run.env, PYTHONPATH: placed } }),
    ...(folders === undefined ? {} : { metrics: { ...run.metrics, folders: bothPlaces(folders, snapshot) } }),
  };
}

function bothPlaces(folders: readonly string[], snapshot: CodeSnapshot): string[] {
  return [...new Set(folders.flatMap((folder) => [copyOf(folder, snapshot), folder]))];
}

/** The path of a work tree's file in the copy; the path itself if it is outside the work tree, or only linked into the copy. */
export function copyOf(path: string, { cwd, within, top, path: copy, linked }: CodeSnapshot): string {
  const place = below(cwd, path);
  const whole = place === null ? below(top, path) : joinPath(`/${within}`, place).slice(1);
  if (whole === null || linked.some((each) => below(`/${each}`, `/${whole}`) !== null)) return path;
  return whole === '' ? copy : `${copy}/${whole}`;
}

/** A path relative to a folder; null: it is not inside. */
function below(folder: string, path: string): string | null {
  if (path === folder) return '';
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null;
}
