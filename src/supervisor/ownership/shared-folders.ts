import type { RunId } from '../../base/ids.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { PlannedRuns } from '../runs/planned-runs.js';

type SharedFolderTools = { state: Pick<SchedulerState, 'runs'>; plannedRuns: Pick<PlannedRuns, 'of'> };

/** Finds the folders of `metrics.folders` that several runs use. */
export class SharedFolders {
  readonly #tools: SharedFolderTools;
  /** The run that uses a folder; null: several runs. */
  #ofRun = new Map<string, RunId | null>();
  /** Number of runs at the last update. */
  #size = 0;

  constructor(tools: SharedFolderTools) {
    this.#tools = tools;
  }

  /** The declared folders of a run that other runs declare too. */
  of({ metrics: { folders = [] } }: PlannedRun): string[] {
    if (folders.length === 0) return [];
    if (this.#size !== this.#tools.state.runs.size) this.#find();
    return folders.filter((folder) => this.#ofRun.get(folder) === null);
  }

  #find(): void {
    const { state, plannedRuns } = this.#tools;
    this.#ofRun = new Map();
    this.#size = state.runs.size;
    for (const id of state.runs.keys()) {
      for (const folder of plannedRuns.of(id)?.metrics.folders ?? [])
        this.#ofRun.set(folder, (this.#ofRun.get(folder) ?? id) === id ? id : null);
    }
  }
}
