import { greedyOf, memoryFacts as factsOf, memoryKeys } from '../../../analysis/memory-metrics.js';
import { type BitsPerEpisode, learningOf } from '../../../analysis/memory-summary.js';
import { secretOf } from '../../../analysis/memory-task.js';
import { mean } from '../../../analysis/statistics.js';
import { type Curve, type Evaluation, judge, type Verdict } from '../../../analysis/verdict.js';
import { grouped } from '../../../base/group-by.js';
import { hasEnded } from '../../../base/run-words.js';
import type { RunSummary, Series } from '../../state/port.js';

/** Results of the seeds of one setting in a memory sweep. Runs are judged by the same rules as in the report. */
export type MemoryRow = {
  readonly group: string;
  readonly label: string;
  readonly runs: number;
  readonly memorised: number;
  /** Whether the curves of all ended runs have been read. Before, `memorised` and `missed` are too low. */
  readonly isRead: boolean;
  /** Number of runs that used their whole budget without memorising. */
  readonly missed: number;
  /** log2 N: the number of bits to learn. */
  readonly secretBits: number;
  /** Mean of the bits that runs know now; null: not measured. */
  readonly known: number | null;
  /**
   * Median over all runs that can be judged; Infinity: most missed it. Examples instead of episodes if the run learns from
   * examples.
   */
  readonly episodes: number | null;
  /** `below`: most runs missed it, so this is an upper bound. */
  readonly bits: BitsPerEpisode;
  /** Maximum number of bits that one episode can carry. */
  readonly ceiling: number;
};

/** Bits known over episodes; null: there are none; undefined: the run has not been read yet. */
type BitsCurve = (run: RunSummary, bitsKey: string, countKey: string) => Series | null | undefined;

/** Size of a run's secret from its columns; null: not a run of a memory sweep. */
export function memoryFacts({ metrics, parameters }: RunSummary): { secretBits: number; ceiling: number } | null {
  return factsOf(metrics, parameters);
}

/** One row per setting, in the order of their first runs. Other runs are left out. */
export function memoryRows(runs: readonly RunSummary[], curveOf: BitsCurve): MemoryRow[] {
  const members = runs.flatMap((run) => {
    const facts = memoryFacts(run);
    return facts === null ? [] : [{ run, ...facts }];
  });
  const settings = grouped(members, ({ run }) => `${run.sweep}\n${run.group}\n${run.subgroup ?? run.name}`);
  return settings.map((setting) => rowOf(setting, curveOf));
}

function rowOf(
  members: readonly { run: RunSummary; secretBits: number; ceiling: number }[],
  curveOf: BitsCurve,
): MemoryRow {
  const { run, secretBits, ceiling } = members[0]!;
  const verdicts = members.map((member) => verdictOf(member.run, member.secretBits, curveOf));
  const read = verdicts.filter((verdict) => verdict !== undefined);
  const { memorised, missed, medianOfAll, bitsPerEpisode } = learningOf(read, secretBits);
  return {
    group: run.group,
    label: run.subgroup ?? run.name,
    runs: members.length,
    memorised: memorised.length,
    isRead: read.length === verdicts.length,
    missed: missed.length,
    secretBits,
    known: mean(members.flatMap((member) => knownNow(member.run) ?? [])),
    episodes: medianOfAll,
    bits: bitsPerEpisode,
    ceiling,
  };
}

/** Undefined if the run has not been read. */
function verdictOf(run: RunSummary, secretBits: number, curveOf: BitsCurve): Verdict | undefined {
  const { metrics, parameters, state } = run;
  const judged = { secretBits, secret: secretOf(parameters) };
  if (!hasEnded(state)) return judge(unmeasured, { ...judged, state: 'running' });
  const { bits, count } = memoryKeys((key) => key in metrics);
  const curve = bits === null || count === null ? null : curveOf(run, bits, count);
  if (curve === undefined) return undefined;
  return judge(curve === null ? unmeasured : { evaluations: evaluationsOf(curve), greedy: greedyOf(metrics) }, {
    ...judged,
    state,
  });
}

const unmeasured: Curve = { evaluations: [], greedy: null };

/** The rows with a value. Steps are left out because nothing shown here depends on them. */
function evaluationsOf({ x, y }: Series): Evaluation[] {
  return Array.from(x, (episodes, index) => ({ step: index, episodes, bits: y[index]! })).filter(
    ({ bits }) => !Number.isNaN(bits),
  );
}

function knownNow({ metrics }: RunSummary): number | null {
  const { bits } = memoryKeys((key) => key in metrics);
  const value = bits === null ? null : (metrics[bits] ?? null);
  return value !== null && Number.isFinite(value) ? value : null;
}
