import { EndedSiblings, type Ending, endingOf, judgedMetric } from '../analysis/health/ending.js';
import { type Finding, joinedHealth, notFiniteAmong, notFiniteFindings } from '../analysis/health/finding.js';
import { exceededLimit } from '../analysis/health/limits.js';
import { inMetricOrder, lossAmong, type MetricsToShow, standingAmong } from '../analysis/metric-order.js';
import type { Ailment, RunWord } from '../base/run-words.js';
import { boiledDown, smallBounds } from '../metrics/curve.js';
import type { RunMetrics } from '../metrics/run-metrics.js';
import { countingIn, metricsToShow, objectiveOf, type SweepOutline } from './sweep-outline.js';

type EndedRun = { readonly name: string; readonly group: string; readonly state: RunWord };

/** The number of findings of each word. */
export function countWords(findings: readonly Finding[]): Partial<Record<Ailment, number>> {
  const counts: Partial<Record<Ailment, number>> = {};
  for (const { word } of findings) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}

/** The marks of ended runs (`diverged`, `collapsed`, `nan`), by the supervisor's rules, from the files alone. */
export class RunMarks {
  readonly #outline: SweepOutline;
  /** Endings by group, then by name. */
  readonly #endings = new Map<string, Map<string, Ended>>();
  /** Marks by group, until a run of it is added. */
  readonly #marks = new Map<string, ReadonlyMap<string, Finding>>();

  constructor(outline: SweepOutline) {
    this.#outline = outline;
  }

  /** Adds the metrics of a run, all of which have been read. */
  take(run: EndedRun, metrics: RunMetrics): void {
    this.note(run, this.look(run, metrics));
  }

  /** The facts about a run's metrics that marks depend on, as plain data; null: the run has no mark in any case. */
  look({ group, state }: EndedRun, metrics: RunMetrics): Ended | null {
    // Other runs have not ended, or their failure says more.
    if (state !== 'done' && state !== 'killed') return null;
    const choice = metricsToShow(this.#outline, group);
    const judged = judgedMetric(objectiveOf(this.#outline, group), standingIn(metrics, choice));
    const last = metrics.last();
    const names = notFiniteAmong(last, { show: choice.show, judged: judged?.metric });
    // Uses the same reduced series as the supervisor, as the full one might lead to another mark.
    const valuesOf = (metric: string) => boiledDown(metrics.series(metric).y, smallBounds);
    const ending = endingOf(judged, lossAmong(inMetricOrder(metrics.keys(), choice)), valuesOf);
    const exceeded = exceededLimit(metrics.keys(), (name) => metrics.series(name));
    return { ending, notFinite: notFiniteFindings(names, last, true), exceeded };
  }

  note({ name, group }: EndedRun, ended: Ended | null): void {
    if (ended === null) return;
    const known = this.#endings.get(group) ?? new Map<string, Ended>();
    this.#endings.set(group, known.set(name, ended));
    this.#marks.delete(group);
  }

  /** The marks in a group, by name. Call it after all its runs were added. */
  in(group: string): ReadonlyMap<string, Finding> {
    const known = this.#marks.get(group) ?? this.#marksOf(group);
    this.#marks.set(group, known);
    return known;
  }

  #marksOf(group: string): ReadonlyMap<string, Finding> {
    const ended = this.#endings.get(group) ?? new Map<string, Ended>();
    const siblings = new EndedSiblings([...ended.values()].flatMap(({ ending }) => ending ?? []));
    const marks = new Map<string, Finding>();
    for (const [name, { ending, notFinite, exceeded }] of ended) {
      const mark = ending === null ? null : siblings.markOf(ending);
      const { word, reason } = joinedHealth(notFinite, [mark ?? [], exceeded ?? []].flat());
      if (word !== 'ok') marks.set(name, { word, reason: reason ?? '' });
    }
    return marks;
  }
}

/** How a run ended. `ending` null: it cannot be judged. */
type Ended = {
  readonly ending: Ending | null;
  readonly notFinite: readonly Finding[];
  /** Absent where it was kept by an earlier version. */
  readonly exceeded?: Finding | null;
};

function standingIn(metrics: RunMetrics, choice: MetricsToShow): string | null {
  return standingAmong(inMetricOrder(metrics.keys(), choice), choice, new Set(countingIn(metrics, choice)));
}
