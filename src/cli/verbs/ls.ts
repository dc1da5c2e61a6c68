import { runsChosenBy } from '../../query/bare-words.js';
import type { RunSummary } from '../../client/fleet.js';
import { didYouMean } from '../../text/nearest.js';
import type { CommonOptions } from '../options.js';
import { keysOf, meantKey } from '../../query/meant-key.js';
import { type KnownFleet, showRuns } from '../show/chosen-fleet.js';
import { noRuns } from '../show/runs-here.js';
import { runsInOrder } from '../show/run-order.js';
import { runStatus, runTable, valueOf } from '../show/run-table.js';
import { hasColour, outputWidth, print, printAnswer, remark } from '../terminal.js';

type LsOptions = CommonOptions & { columns?: string[]; sort?: string };

/** `memrl-tui ls [QUERY]`: a table of runs, over all sweeps, which may be empty. */
export function ls(words: readonly string[], options: LsOptions): Promise<number> {
  return showRuns(words, options, (fleet, rest) => show(fleet, rest, options));
}

function show(fleet: KnownFleet, words: readonly string[], options: LsOptions): number {
  const all = [...fleet.runs.values()];
  const now = Date.now();
  const chosen = runsChosenBy(words, all, now);
  const runs = options.sort === undefined ? chosen : runsInOrder(chosen, options.sort, fleet.sweeps);
  const isJson = options.json === true;
  if (isJson) printAnswer('ls', runs.map(runStatus));
  else printTable(fleet, runs, { now, columns: options.columns });
  if (fleet.status.problem !== null) remark(fleet.status.problem);
  if (runs.length === 0 && !isJson) remark(all.length === 0 ? noRuns : `None of ${all.length} runs matches.`);
  return 0;
}

type Look = { readonly now: number; readonly columns: readonly string[] | undefined };

function printTable({ sweeps }: KnownFleet, runs: readonly RunSummary[], { now, columns: asked }: Look): void {
  const columns = asked?.map((name) => meantKey(name, runs));
  const look = { sweeps, width: outputWidth(Infinity), now, colour: hasColour() };
  print(runTable(runs, columns === undefined ? look : { ...look, columns }));
  if (runs.length > 0) strangersAmong(columns ?? [], runs).forEach(remark);
}

/** Notes on columns that no run has a value for. */
function strangersAmong(columns: readonly string[], runs: readonly RunSummary[]): string[] {
  const known = keysOf(runs);
  return columns
    .filter((name) => runs.every((run) => valueOf(run, name) === undefined))
    .map((name) => `None of these runs has a parameter or metric ${name} (yet). ${didYouMean(name, known)}`.trimEnd());
}
