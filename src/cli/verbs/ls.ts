import { runsChosenBy } from '../../query/bare-words.js';
import { recalled, withFleet } from '../open-fleet.js';
import type { Fleet, RunSummary } from '../../client/fleet.js';
import { didYouMean } from '../../text/nearest.js';
import type { CommonOptions } from '../options.js';
import { runStatus, runTable, valueOf } from '../show/run-table.js';
import { hasColour, outputWidth, print, printJson, remark } from '../terminal.js';
import { openFolders, viewedPaths } from '../viewed-paths.js';

type LsOptions = CommonOptions & { columns?: string[] };

/** `memrl-tui ls [QUERY]`: a table of runs, over all sweeps, which may be empty. */
export async function ls(words: readonly string[], options: LsOptions): Promise<number> {
  const { paths, rest } = viewedPaths(words, options);
  if (paths.length > 0) return show(await openFolders(paths), rest, options);
  return withFleet(options, async (fleet) => {
    await recalled(fleet);
    return show(fleet, words, options);
  });
}

function show(fleet: Pick<Fleet, 'runs' | 'sweeps' | 'status'>, words: readonly string[], options: LsOptions): number {
  const all = [...fleet.runs.values()];
  const now = Date.now();
  const runs = runsChosenBy(words, all, now);
  if (options.json === true) {
    printJson(runs.map(runStatus));
    return 0;
  }
  const { columns } = options;
  const look = { sweeps: fleet.sweeps, width: outputWidth(Infinity), now, colour: hasColour() };
  print(runTable(runs, columns === undefined ? look : { ...look, columns }));
  if (runs.length > 0) strangersAmong(columns ?? [], runs).forEach(remark);
  if (fleet.status.problem !== null) remark(fleet.status.problem);
  if (runs.length === 0) remark(all.length === 0 ? 'There are no runs here.' : `None of ${all.length} runs matches.`);
  return 0;
}

/** Notes on columns that no run has a value for. */
function strangersAmong(columns: readonly string[], runs: readonly RunSummary[]): string[] {
  const known = [
    ...new Set(runs.flatMap(({ parameters, metrics }) => [...Object.keys(parameters), ...Object.keys(metrics)])),
  ];
  return columns
    .filter((name) => runs.every((run) => valueOf(run, name) === undefined))
    .map((name) => `None of these runs has a parameter or metric ${name} (yet). ${didYouMean(name, known)}`.trimEnd());
}
