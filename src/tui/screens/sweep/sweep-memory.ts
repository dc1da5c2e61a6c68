import { greedyOf, memoryFacts as factsOf, memoryKeys } from '../../../analysis/memory-metrics.js';
import { type BitsPerEpisode, learningOf } from '../../../analysis/memory-summary.js';
import { secretOf } from '../../../analysis/memory-task.js';
import { mean } from '../../../analysis/statistics.js';
import { type Curve, type Evaluation, judge, type Verdict } from '../../../analysis/verdict.js';
import { grouped } from '../../../base/group-by.js';
import { hasEnded } from '../../../base/run-words.js';
import type { RunSummary, Series } from '../../state/port.js';

/**
 * What the seeds of one setting of a memory sweep amount to, by the same measure as in the report: a run that is not judged
 * there is not judged here.
 */
export type MemoryRow = {
  readonly group: string;
  readonly label: string;
  readonly runs: number;
  readonly memorised: number;
  /** Whether the curves of all ended runs have been read: before, `memorised` and `missed` are too small. */
  readonly isRead: boolean;
  /** Ended after their whole budget without having memorised. */
  readonly missed: number;
  /** log2 N: the bits there are to know. */
  readonly secretBits: number;
  /** The mean of what the runs know now; null: none has been measured. */
  readonly known: number | null;
  /** Median over all runs that can be judged; Infinity: most missed it. Examples, where it learns from examples. */
  readonly episodes: number | null;
  /** `below`: most missed it, so this is what it must be less than. */
  readonly bits: BitsPerEpisode;
  /** The most bits that one episode can carry. */
  readonly ceiling: number;
};

/** Bits known over episodes; null: there are none; undefined: the run has not been read yet. */
type BitsCurve = (run: RunSummary, bitsKey: string, countKey: string) => Series | null | undefined;

/** What a run's columns say of its secret; null: it is not a run of a memory sweep. */
export function memoryFacts({ metrics, parameters }: RunSummary): { secretBits: number; ceiling: number } | null {
  return factsOf(metrics, parameters);
}

/** One row for each setting, in the order of their first run. Runs that are no memory runs are left out. */
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

/** Undefined for a run that has not been read. */
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

/** The rows that have a value. Steps are not told: nothing that is shown here depends on them. */
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
