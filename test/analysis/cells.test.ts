import { describe, expect, it } from 'vitest';
import type { ReportedRun } from '../../src/analysis/analysed-run.js';
import { cellsOf, settingText } from '../../src/analysis/cells.js';

/** Settings and their numbers of runs. */
function settingsOf(parameters: readonly ReportedRun['parameters'][]): Record<string, number> {
  const runs = parameters.map((each, index): ReportedRun => ({
    ...{ name: `run${index}`, group: 'A', subgroup: null, directory: `/runs/sweep/run${index}` },
    ...{ parameters: each, config: {}, state: 'done' },
  }));
  return Object.fromEntries(cellsOf(runs).map((cell) => [settingText(cell), cell.runs.length]));
}

describe('runs of one setting', () => {
  it('differ in their seed and in the name of the run, and not in the model or the data by name', () => {
    const runs = ['gpt2', 'pythia'].flatMap((model) =>
      [0, 1].map((seed) => ({ model_name: model, 'dataset.name': model.length, run_name: `${model}-${seed}`, seed })),
    );
    expect(settingsOf(runs)).toEqual({
      'model_name=gpt2 dataset.name=4': 2,
      'model_name=pythia dataset.name=6': 2,
    });
    expect(settingsOf(runs.map(({ run_name: name, seed }) => ({ run_name: name, seed })))).toEqual({ '': 4 });
  });
});
