import { describe, expect, it } from 'vitest';
import type { RunId } from '../../../../src/tui/state/port.js';
import { chooseSubjects } from '../../../../src/tui/screens/compare/compare-subjects.js';
import { memorySweep } from '../../simulated-fleet.js';
import { ListModelBuilder } from '../../../../src/tui/model/list-model.js';
import { initialUi } from '../../../../src/tui/state/ui-state.js';

const { fleet, now } = memorySweep();
const { tree } = new ListModelBuilder(fleet, null).listModel(initialUi, now);
const nodes = new Map(
  tree.groups
    .flatMap((group) => [
      group,
      ...group.children,
      ...group.children.flatMap((child) => ('children' in child ? child.children : [])),
    ])
    .map((node) => [node.label, node] as const),
);
const [A, B, D] = ['A', 'B', 'D'].map((label) => tree.groups.find((group) => group.label === label)!);
const setting = A!.children[1]!;
const ids = (...names: string[]): Set<RunId> =>
  new Set([...fleet.runs.keys()].filter((id) => names.some((name) => id.includes(name))));

function chosen(over: Partial<Parameters<typeof chooseSubjects>[0]>): readonly string[] | string {
  const subjects = chooseSubjects({
    node: A,
    groups: tree.groups,
    branches: tree.branches,
    marks: new Set(),
    baseline: null,
    isAscii: false,
    ...over,
  });
  return typeof subjects === 'string' ? subjects : subjects.map(({ label, ids: runs }) => `${label} ${runs.length}`);
}

describe('what is compared', () => {
  it('the settings of the selected group', () => {
    expect(chosen({ node: A })).toEqual(['binary 3', 'B4 3', 'B8 3', 'B16 3', 'B32 3']);
  });

  it('the runs of the selected setting, and of a group of one setting', () => {
    const runs = ['s0 1', 's1 1', 's2 1'];
    expect(chosen({ node: D })).toEqual(runs);
    expect(chosen({ node: D!.children[0] })).toEqual(runs);
  });

  it.each<{ when: string; marks: Set<RunId>; labels: string[] }>([
    {
      when: 'marked runs',
      marks: ids('B4_s0', 'N16_s1'),
      labels: ['A_bsweep_single_N1024_B4_s0 1', 'B_nsweep_single_B8_N16_s1 1', 'C_dense_multi_N16_s1 1'],
    },
    {
      when: 'a setting of which all runs are marked is one thing',
      marks: ids('B4_s', 'B16_s0'),
      labels: ['B4 3', 'A_bsweep_single_N1024_B16_s0 1'],
    },
    { when: 'whole groups', marks: ids('/A_', '/D_'), labels: ['A 15', 'D 3'] },
    {
      when: 'one whole group: its settings',
      marks: ids('/A_'),
      labels: ['binary 3', 'B4 3', 'B8 3', 'B16 3', 'B32 3'],
    },
  ])('$when', ({ marks, labels }) => {
    expect(chosen({ marks })).toEqual(labels);
  });

  it('the baseline too, when it is not among the marks', () => {
    expect(chosen({ marks: ids('B4_s0'), baseline: B!.key })).toEqual(['B 15', 'A_bsweep_single_N1024_B4_s0 1']);
    expect(chosen({ marks: ids('B4_s0', 'B8_s0'), baseline: 'abcd/A_bsweep_single_N1024_B4_s0' })).toEqual([
      'B4 1',
      'B8 1',
    ]);
  });

  it('the selection and a baseline that lies beside it', () => {
    expect(chosen({ node: A, baseline: B!.key })).toEqual(['B 15', 'A 15']);
    expect(chosen({ node: nodes.get('B8'), baseline: setting.key })).toEqual(['B4 3', 'B8 3']);
  });

  it('but its parts, when the baseline is one of them', () => {
    expect(chosen({ node: A, baseline: setting.key })).toHaveLength(5);
  });

  it('marked runs that the filter hides', () => {
    const filtered = new ListModelBuilder(fleet, null).listModel({ ...initialUi, filter: 'group:A' }, now).tree;
    const marks = ids('B4_s0', 'D_sft_N1024_s1');
    expect(chosen({ groups: filtered.groups, branches: filtered.branches, marks })).toEqual([
      'A_bsweep_single_N1024_B4_s0 1',
      'D_sft_N1024_s1 1',
    ]);
  });

  it.each<{ when: string; over: Parameters<typeof chosen>[0]; says: RegExp }>([
    { when: 'one marked run', over: { marks: ids('B4_s0') }, says: /mark another: space/ },
    { when: 'a run alone', over: { node: nodes.get('s0') }, says: /Mark two runs or groups first: space/ },
    { when: 'an empty list', over: { node: undefined }, says: /no run to compare/ },
  ])('refuses $when and says what to do', ({ over, says }) => {
    expect(chosen(over)).toMatch(says);
  });
});
