import type { RunId } from '../../base/ids.js';
import { EarlyStops, ObjectiveBook, Targets } from './early-stops.js';
import type { EndedSummary } from './ended-summaries.js';
import type { EndedFacts, MetricsCallbacks } from './metrics-monitor.js';
import type { ReadRun } from './reading-messages.js';

/** Whatever takes the rows of runs as they are read, to compare them with siblings or with a target. */
export class RowJudges {
  readonly earlyStops = new EarlyStops();
  readonly objectives = new ObjectiveBook();
  readonly #targets = new Targets();

  /** @param reached Called when the run is the first of its group to reach the target, with how in words. */
  callbacksOf(run: ReadRun, reached: (words: string) => void): MetricsCallbacks {
    return {
      restart: () => {
        this.objectives.forget(run.id);
        this.earlyStops.restart(run);
      },
      remember: (row) => {
        this.objectives.take(run, row);
        this.earlyStops.remember(run, row);
      },
      note: (row) => {
        this.objectives.take(run, row);
        const words = this.#targets.note(run, row);
        if (words !== null) reached(words);
      },
      judge: (row) => this.earlyStops.judge(run, row),
    };
  }

  forget(id: RunId): void {
    this.earlyStops.forget(id);
    this.objectives.forget(id);
  }

  /** What the rows of a run came to, beside what else its files say. */
  summaryWith({ vitals, ...facts }: EndedFacts, run: ReadRun): EndedSummary {
    const { best, objective } = this.objectives.told(run);
    const passed = this.earlyStops.passed(run);
    return { ...facts, vitals: vitals && { ...vitals, best }, objective, passed };
  }

  /** Takes such a summary in place of the rows of a past run. */
  recall(run: ReadRun, { passed }: EndedSummary): void {
    if (passed !== null) this.earlyStops.recall(run, passed);
  }
}
