import { bestFirst } from '../../analysis/best-first.js';
import { goalByName, goalOf } from '../../analysis/metric-order.js';
import { isBroken } from '../../base/run-words.js';
import { anyParameterOf } from '../../base/scalar.js';
import type { RunSummary, SweepSummary } from '../../client/fleet.js';
import { runsChosenBy } from '../../query/bare-words.js';
import { keysOf, meantKey, meantKeys, requiredKey } from '../../query/check.js';
import { didYouMean } from '../../text/nearest.js';
import { parameterOrder } from '../../tui/model/varying-parameters.js';
import type { CommonOptions } from '../options.js';
import { type KnownFleet, showRuns } from '../viewed-paths.js';
import { runStatus, runTable, valueOf } from '../show/run-table.js';
import { noRuns } from '../show/runs-here.js';
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

/**
 * Runs by a metric, the best first where it is known which end is good, else the highest; or by a parameter, the lowest first. A
 * minus before the name turns it round. Runs that broke are worse than any other, and those without a value come last in either order.
 *
 * @throws {UserError} When no run has it, or several are meant.
 */
function runsInOrder(runs: readonly RunSummary[], by: string, sweeps: ReadonlyMap<string, SweepSummary>): RunSummary[] {
  if (runs.length === 0) return [];
  const isTurned = by.startsWith('-') && meantKeys(by, runs).length === 0;
  const key = requiredKey(isTurned ? by.slice(1) : by, runs);
  const known = runs.filter((run) => valueOf(run, key) !== undefined);
  const isParameter = runs.some((run) => anyParameterOf(run, key) !== undefined);
  const sorted = isParameter
    ? known.sort((a, b) => parameterOrder(valueOf(a, key), valueOf(b, key)))
    : byMetric(known, key, sweeps);
  return [...(isTurned ? sorted.reverse() : sorted), ...runs.filter((run) => valueOf(run, key) === undefined)];
}

function byMetric(runs: readonly RunSummary[], key: string, sweeps: ReadonlyMap<string, SweepSummary>): RunSummary[] {
  const goals = new Set(runs.map(({ sweep }) => goalOf(key, sweeps.get(sweep)?.objective) ?? goalByName(key)));
  const ranked = runs.map((run) => {
    const value = run.metrics[key] ?? Number.NaN;
    return { value, isBroken: !Number.isFinite(value) || isBroken(run) };
  });
  return bestFirst(ranked, goals.size === 1 ? [...goals][0]! : null).map((index) => runs[index]!);
}
