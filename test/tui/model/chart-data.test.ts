import { describe, expect, it } from 'vitest';
import { subjectsOf } from '../../../src/tui/model/detail.js';
import { CurveColours, distinctColours } from '../../../src/tui/model/chart-data.js';
import { ListModelBuilder } from '../../../src/tui/model/list-model.js';
import { initialUi } from '../../../src/tui/state/ui-state.js';
import { aRun, aSweep, SimulatedFleet } from '../simulated-fleet.js';

const runs = ['B8', 'B16', 'B32'].flatMap((subgroup) =>
  [0, 1].map((seed) => aRun(`A_${subgroup}_s${seed}`, { subgroup, state: 'done', attempt: 1, parameters: { seed } })),
);

describe('the colour of a curve', () => {
  it('is that of its place in the sweep: runs, settings and groups each by themselves', () => {
    const colours = new CurveColours(runs);
    expect(runs.map(({ id }) => colours.of(id))).toEqual([0, 1, 2, 3, 4, 5].map((number) => `curve${number}`));
    expect(['B8', 'B16', 'B32'].map((name) => colours.of(`abcd/A/${name}`))).toEqual(['curve0', 'curve1', 'curve2']);
    expect(colours.of('abcd/A')).toBe('curve0');
  });

  it('stays for what no file names, once it was given', () => {
    const colours = new CurveColours(runs);
    expect(['lr|0.1', 'lr|0.2', 'lr|0.1'].map((key) => colours.of(key))).toEqual(['curve0', 'curve1', 'curve0']);
  });

  it('gives way where things compared would have the same', () => {
    const colours = new CurveColours(runs);
    expect(distinctColours(['abcd/A', runs[0]!.id, runs[1]!.id], colours)).toEqual(['curve0', 'curve1', 'curve2']);
  });

  it('is the same whatever the filter leaves, and whatever is selected', () => {
    const builder = new ListModelBuilder(new SimulatedFleet([aSweep()], runs), null);
    const tonesWith = (filter: string) => {
      const listModel = builder.listModel({ ...initialUi, filter }, 0);
      const { drawn } = subjectsOf(listModel.tree.groups[0], listModel);
      return new Map(drawn.map(({ run, tone }) => [run.name, tone]));
    };
    expect(tonesWith('').get('A_B32_s0')).toBe('curve2');
    expect(tonesWith('B32').get('A_B32_s0')).toBe('curve2');
    const listModel = builder.listModel(initialUi, 0);
    const run = listModel.rows.find(({ key }) => key === runs[3]!.id);
    expect(subjectsOf(run, listModel).drawn.at(-1)?.tone).toBe('curve3');
  });
});
