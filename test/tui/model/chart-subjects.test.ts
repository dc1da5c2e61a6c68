import { describe, expect, it } from 'vitest';
import { subjectsOf } from '../../../src/tui/model/detail.js';
import { type ListModel, ListModelBuilder } from '../../../src/tui/model/list-model.js';
import type { RunSummary } from '../../../src/tui/state/port.js';
import { initialUi } from '../../../src/tui/state/ui-state.js';
import type { Branch } from '../../../src/tui/model/tree/branch.js';
import { aRun, aSweep, SimulatedFleet } from '../simulated-fleet.js';

function listModelOf(runs: readonly RunSummary[]): ListModel {
  return new ListModelBuilder(new SimulatedFleet([aSweep()], runs), null).listModel(initialUi, 0);
}

/** The first setting of the first group. */
function settingIn({ tree }: ListModel): Branch {
  return tree.groups[0]!.children[0] as Branch;
}

/** Settings `B8`, `B16` … with so many seeds each, all running. */
function settings(names: readonly string[], seeds: number): RunSummary[] {
  return names.flatMap((subgroup, at) =>
    Array.from({ length: seeds }, (_, seed) =>
      aRun(`A_${subgroup}_s${seed}`, { subgroup, state: 'running', attempt: 1, parameters: { bins: at, seed } }),
    ),
  );
}

describe('the curves of a selection', () => {
  it('are those of a run over its siblings, its own on top', () => {
    const listModel = listModelOf(settings(['B8', 'B16'], 3));
    const run = settingIn(listModel).children[1]!;
    const { drawn, begun } = subjectsOf(run, listModel);
    expect(drawn.map(({ run: { name }, tone }) => `${name} ${tone}`)).toEqual([
      'A_B8_s0 faint',
      'A_B8_s2 faint',
      'A_B8_s1 curve1',
    ]);
    expect(begun).toHaveLength(3);
  });

  it('are those of a run alone where it has too many siblings', () => {
    const listModel = listModelOf(settings(['B8', 'B16'], 12));
    expect(subjectsOf(settingIn(listModel).children[0], listModel).drawn).toHaveLength(1);
  });

  it('have the colour and the name of their setting in a group', () => {
    const listModel = listModelOf(settings(['B8', 'B16'], 2));
    const { drawn } = subjectsOf(listModel.tree.groups[0], listModel);
    expect(drawn.map(({ label, tone, setting }) => [label, tone, setting])).toEqual([
      ['B8', 'curve0', 'B8'],
      ['B8', 'curve0', 'B8'],
      ['B16', 'curve1', 'B16'],
      ['B16', 'curve1', 'B16'],
    ]);
  });

  it('are one for each seed of a setting, which is one to be averaged', () => {
    const listModel = listModelOf(settings(['B8', 'B16'], 3));
    const { drawn } = subjectsOf(settingIn(listModel), listModel);
    expect(drawn.map(({ tone }) => tone)).toEqual(['curve0', 'curve1', 'curve2']);
    expect(new Set(drawn.map(({ setting }) => setting))).toEqual(new Set(['B8']));
  });

  it('that are too many are taken evenly, so that every setting is there', () => {
    const names = Array.from({ length: 16 }, (_, at) => `B${at}`);
    const listModel = listModelOf(settings(names, 10));
    const { drawn, begun } = subjectsOf(listModel.tree.groups[0], listModel);
    expect([drawn.length, begun.length]).toEqual([32, 160]);
    expect(new Set(drawn.map(({ label }) => label))).toEqual(new Set(names));
  });

  it.each<{
    of: string;
    lrs: readonly number[];
    widths: readonly number[];
    seeds: number;
    family: (lr: number, width: number) => string;
  }>([
    { of: 'few runs: each', lrs: [1, 2], widths: [8], seeds: 4, family: () => '' },
    {
      of: 'few settings: the setting',
      lrs: [1, 2],
      widths: [8, 16],
      seeds: 4,
      family: (lr, width) => `lr ${lr} width ${width}`,
    },
    {
      of: 'many settings: the first parameter',
      lrs: [1, 2, 3],
      widths: [4, 8, 16, 32],
      seeds: 2,
      family: (lr) => `lr ${lr}`,
    },
    { of: 'seeds alone: each', lrs: [1], widths: [8], seeds: 12, family: () => '' },
  ])('of a group without subgroups have colours and names by what tells $of', ({ lrs, widths, seeds, family }) => {
    const points = lrs.flatMap((lr) =>
      widths.flatMap((width) => Array.from({ length: seeds }, (_, seed) => ({ lr, width, seed }))),
    );
    const runs = points.map((parameters, at) =>
      aRun(`A_${at}`, { state: 'running', attempt: 1, parameters, metrics: { reward: at } }),
    );
    const listModel = listModelOf(runs);
    const { drawn } = subjectsOf(listModel.tree.groups[0], listModel);
    const names = points.map(({ lr, width }, at) => family(lr, width) || `A_${at}`);
    expect(drawn.map(({ label }) => label)).toEqual(names);
    const tones = new Map(drawn.map(({ label, tone }) => [label, tone]));
    expect(drawn.map(({ tone }) => tone)).toEqual(names.map((name) => tones.get(name)));
    expect(new Set(tones.values()).size).toBe(Math.min(8, tones.size));
  });

  it('leave out what has not begun, but not what was taken over from an earlier sweep', () => {
    const [first, second, third] = settings(['B8'], 3) as [RunSummary, RunSummary, RunSummary];
    const waiting = { ...first, state: 'queued', attempt: 0 } as const;
    const listModel = listModelOf([waiting, { ...second, state: 'done', attempt: 0 }, third]);
    expect(subjectsOf(listModel.tree.groups[0], listModel)).toMatchObject({ begun: [{}, {}] });
  });

  it('are none where nothing is selected', () => {
    expect(subjectsOf(undefined, listModelOf([]))).toEqual({ drawn: [], begun: [] });
  });
});
