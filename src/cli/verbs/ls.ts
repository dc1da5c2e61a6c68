import { matchingRuns } from '../chosen-runs.js';
import { recalled, withFleet } from '../open-fleet.js';
import type { CommonOptions } from '../options.js';
import { runStatus, runTable } from '../show/run-table.js';
import { hasColour, outputWidth, print, printJson, remark } from '../terminal.js';

/** `memrl-tui ls [QUERY]`: a table of runs, over all sweeps. None is an answer too. */
export async function ls(words: readonly string[], options: CommonOptions): Promise<number> {
  return withFleet(options, async (fleet) => {
    await recalled(fleet);
    const all = [...fleet.runs.values()];
    const now = Date.now();
    const runs = matchingRuns(words, all, now);
    if (options.json === true) {
      printJson(runs.map(runStatus));
      return 0;
    }
    print(runTable(runs, { sweeps: fleet.sweeps, width: outputWidth(), now, colour: hasColour() }));
    if (fleet.status.problem !== null) remark(fleet.status.problem);
    if (runs.length === 0) remark(all.length === 0 ? 'There are no runs here.' : `None of ${all.length} runs matches.`);
    return 0;
  });
}
