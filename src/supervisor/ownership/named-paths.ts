import { resolve } from 'node:path';
import type { RunId } from '../../base/ids.js';
import { passTurn } from '../../processes/turn.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';
import type { PlannedRuns } from '../runs/submission-store.js';

/** Length limit of a path; longer arguments are texts. */
const LONGEST = 1000;
/** Arguments that are no paths: numbers, switches, URLs and sentences. */
const noPath = /^-|^[-+\d.eE]*$|^(true|false|none|null|yes|no|on|off)$|:\/\/|[\s{}*?"'$]/i;

/** Words of a run's command and environment that may be paths outside its directory. Absolute. */
export function pathsNamedBy({ argv, env, cwd, directory }: PlannedRun): string[] {
  const words = [...argv.slice(1), ...Object.values(env)];
  const paths = words.flatMap((word) => {
    const value = word.slice(word.indexOf('=') + 1);
    return value.length > LONGEST || value === '' || noPath.test(value) ? [] : [resolve(cwd, value)];
  });
  return [...new Set(paths)].filter((path) => path !== cwd && path !== directory && !path.startsWith(`${directory}/`));
}

/** For each path, the only run of a sweep that names it. */
export class NamedPaths {
  /** Null: several runs name the path. */
  readonly #runs = new Map<string, RunId | null>();

  /** Collects the paths in several turns, as a sweep may have ten thousand runs. */
  static async of(runs: Iterable<PlannedRun>): Promise<NamedPaths> {
    const named = new NamedPaths();
    for (const run of runs) {
      for (const path of pathsNamedBy(run)) named.#runs.set(path, named.#runs.has(path) ? null : run.id);
      await passTurn();
    }
    return named;
  }

  /** The only run whose argument names the file or a folder above it: the longest named path counts. Null: none. */
  leadingTo(file: string): RunId | null {
    for (let path = file; path.length > 1; path = path.slice(0, path.lastIndexOf('/'))) {
      const run = this.#runs.get(path);
      if (run !== undefined) return run;
    }
    return null;
  }

  /** The paths that this run alone names. */
  onlyIn(run: PlannedRun): string[] {
    return pathsNamedBy(run).filter((path) => this.#runs.get(path) === run.id);
  }
}

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
