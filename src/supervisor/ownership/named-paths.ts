import { resolve } from 'node:path';
import type { RunId } from '../../base/ids.js';
import { passTurn } from '../../processes/turn.js';
import type { PlannedRun } from '../../spec/planned-run.js';

/** Longer arguments are texts. */
const LONGEST = 1000;
/** Numbers and switches are values; so are addresses and whole sentences. */
const noPath = /^-|^[-+\d.eE]*$|^(true|false|none|null|yes|no|on|off)$|:\/\/|[\s{}*?"'$]/i;

/** What of the command and the environment of a run may be a path outside its directory. Absolute. */
export function pathsNamedBy({ argv, env, cwd, directory }: PlannedRun): string[] {
  const words = [...argv.slice(1), ...Object.values(env)];
  const paths = words.flatMap((word) => {
    const value = word.slice(word.indexOf('=') + 1);
    return value.length > LONGEST || value === '' || noPath.test(value) ? [] : [resolve(cwd, value)];
  });
  return [...new Set(paths)].filter((path) => path !== cwd && path !== directory && !path.startsWith(`${directory}/`));
}

/** Which run of a sweep is the only one to name a path. */
export class NamedPaths {
  /** Null: several do. */
  readonly #runs = new Map<string, RunId | null>();

  /** In turns: a sweep may have ten thousand runs. */
  static async of(runs: Iterable<PlannedRun>): Promise<NamedPaths> {
    const named = new NamedPaths();
    for (const run of runs) {
      for (const path of pathsNamedBy(run)) named.#runs.set(path, named.#runs.has(path) ? null : run.id);
      await passTurn();
    }
    return named;
  }

  /** The run whose argument alone leads to a file: the longest path that is named counts. Null: none does. */
  leadingTo(file: string): RunId | null {
    for (let path = file; path.length > 1; path = path.slice(0, path.lastIndexOf('/'))) {
      const run = this.#runs.get(path);
      if (run !== undefined) return run;
    }
    return null;
  }

  /** Of the paths that a run names, those that no other does. */
  onlyIn(run: PlannedRun): string[] {
    return pathsNamedBy(run).filter((path) => this.#runs.get(path) === run.id);
  }
}
