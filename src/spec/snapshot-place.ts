import type { CodeSnapshot, PlannedRun } from './planned-run.js';
import { joinPath } from './expand/plan-run.js';

/**
 * The run as it is started from a copy of its code: its working directory is in the copy, so that relative paths of its command
 * lead there; and so do those entries of `PYTHONPATH` that lie in the work tree. Words of its command stay as they are.
 *
 * Metrics are looked for where a relative path leads it, and where the file says.
 *
 * @param environment Of the person.
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

/** Where the copy of a file of the work tree is; the path itself where it is none, or is only linked from there. */
export function copyOf(path: string, { cwd, within, top, path: copy, linked }: CodeSnapshot): string {
  const place = below(cwd, path);
  const whole = place === null ? below(top, path) : joinPath(`/${within}`, place).slice(1);
  if (whole === null || linked.some((each) => below(`/${each}`, `/${whole}`) !== null)) return path;
  return whole === '' ? copy : `${copy}/${whole}`;
}

/** A path relative to a folder; null: it is not in it. */
function below(folder: string, path: string): string | null {
  if (path === folder) return '';
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null;
}
