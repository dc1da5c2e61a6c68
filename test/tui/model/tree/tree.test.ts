import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../../src/tui/state/port.js';
import type { Tree } from '../../../../src/tui/model/tree/branch.js';
import type { GroupBy, Grouping, SortBy } from '../../../../src/tui/state/list-choice.js';
import { statesInOrder } from '../../../../src/tui/model/state-look.js';
import { tally } from '../../../../src/tui/model/tally.js';
import { TreeGrower, buildTree, flatten, type TreeOptions } from '../../../../src/tui/model/tree/tree-grower.js';
import { aRun, aSweep } from '../../simulated-fleet.js';

const groups = ['B', 'A'].map((name) => ({ name, title: null, needs: [] }));
const options: TreeOptions = {
  matches: () => true,
  sort: { by: 'file order', isReversed: false },
  metric: 'bits',
  now: 100_000,
};

/** The rows as an indented list. */
function outline(runs: readonly RunSummary[], over: Partial<TreeOptions> = {}): string[] {
  const tree = buildTree(runs, [aSweep({ groups })], { ...options, ...over });
  return flatten(tree, () => false).map(({ depth, label }) => '  '.repeat(depth) + label);
}

const seeds = (group: string, setting: string, ...over: Partial<RunSummary>[]) =>
  over.map((more, seed) => aRun(`${group}_${setting}_s${seed}`, { group, subgroup: setting, ...more }));

describe('the tree', () => {
  it('has groups in the order of the file, subgroups by their first run, and says nothing twice', () => {
    const runs = [...seeds('A', 'B8', {}, {}), ...seeds('A', 'B16', {}, {}), aRun('B_alone', { group: 'B' })];
    expect(outline(runs)).toEqual(['B', '  B_alone', 'A', '  B8', '    s0', '    s1', '  B16', '    s0', '    s1']);
  });

  it('gives a subgroup of one run no heading, and leaves out groups without runs', () => {
    expect(outline(seeds('A', 'B8', {}))).toEqual(['A', '  A_B8_s0']);
  });

  it('knows groups the sweep file does not (an older sweep), after the others', () => {
    expect(outline([aRun('Z_1', { group: 'Z' }), aRun('A_1', { group: 'A' })])).toEqual(['A', '  A_1', 'Z', '  Z_1']);
  });

  it('puts runs that wait for the same thing in one row, below the others', () => {
    const waits = (name: string, over: Partial<RunSummary> = {}) =>
      aRun(name, { group: 'A', reason: 'waiting for warmup (0 of 1 done)', ...over });
    const slots = ['1', '2', '3', '4'].map((name) =>
      waits(`A_n${name}`, { reason: 'waiting for a slot (2 of 2 busy)' }),
    );
    const runs = [
      ...seeds('A', 'B8', { state: 'running', attempt: 1 }, { reason: 'waiting for warmup (0 of 1 done)' }),
      ...seeds(
        'A',
        'B16',
        { reason: 'waiting for warmup (0 of 1 done)' },
        { reason: 'waiting for warmup (0 of 1 done)' },
      ),
      waits('A_x'),
      waits('A_y'),
      // It has been tried before, and is looked at by itself.
      waits('A_again', { attempt: 1 }),
      ...slots,
    ];
    const waiting = ['  4 waiting for warmup', '    B16_s0', '    B16_s1', '    x', '    y'];
    expect(outline(runs, { foldsWaiting: true })).toEqual([
      ...['A', '  B8', '    s0', '    s1', '  again'],
      ...waiting,
      ...['  4 waiting for a slot', '    n1', '    n2', '    n3', '    n4'],
    ]);
    const alone = { foldsWaiting: true, grouping: [{ kind: 'none' }] } as const;
    expect(outline(runs, alone)).not.toContain('4 waiting for warmup');
    expect(outline(slots.slice(1), { foldsWaiting: true })).toEqual(['A', '  n2', '  n3', '  n4']);
  });

  it('says in that row why runs are held, and which of a setting wait', () => {
    const held = 'held: 3 runs in a row failed within 10 s of starting; `release` them once the cause is fixed';
    const runs = seeds(
      'A',
      'B8',
      { state: 'done', attempt: 1 },
      ...Array.from({ length: 4 }, () => ({ state: 'held' as const, reason: held })),
    );
    expect(outline(runs, { foldsWaiting: true }).slice(0, 5)).toEqual([
      ...['A', '  B8', '    s0', '    4 held: 3 runs in a row failed within 10 s of starting', '      s1'],
    ]);
  });

  it('keeps names whole where the rest would be empty', () => {
    const runs = ['x_', 'x_1'].map((name) => aRun(name, { group: 'A', subgroup: 'x' }));
    expect(outline(runs)).toEqual(['A', '  x', '    x_', '    x_1']);
  });

  it('names runs by what tells them apart, and values of parameters as they are', () => {
    const models = ['unsloth/final', '/data/meta-llama/Llama-3.2-1B/final', '/data/meta-llama/Llama-3.1-8B/final'];
    const long = models.map((model, seed) =>
      aRun(`A_s${seed}_model-${model.replaceAll('/', '-')}`, { group: 'A', parameters: { model, seed } }),
    );
    expect(outline(long).slice(1)).toEqual([
      '  s0_unsloth',
      '  s1_data/meta-llama/Llama-3.2-1B',
      '  s2_data/meta-llama/Llama-3.1-8B',
    ]);
    const data = [
      ['模型甲', 'u6a21-u578b-u7532'],
      ['größe', 'grosse'],
      ['α=0.1', 'alpha=0.1'],
    ] as const;
    const unicode = data.map(([value, written]) =>
      aRun(`A_data-${written}_s0`, { group: 'A', parameters: { data: value } }),
    );
    expect(outline(unicode).slice(1)).toEqual(['  模型甲', '  größe', '  α=0.1']);
    const inAscii = ['  u6a21-u578b-u7532', '  grosse', '  alpha=0.1'];
    expect(outline(unicode, { isAscii: true }).slice(1)).toEqual(inAscii);
    // One grower after the other terminal: nothing is kept of how it named them before.
    const grower = new TreeGrower();
    const rows = (isAscii: boolean) =>
      grower.grow(unicode, [aSweep({ groups })], { ...options, isAscii }).groups[0]!.children.map(({ label }) => label);
    expect(rows(false)).not.toEqual(rows(true));
  });

  it('names runs by their parameters where their names were cut', () => {
    const cut = (seed: number, hash: string) =>
      aRun(`A_${'x'.repeat(118)}_${hash}`, { group: 'A', parameters: { text: 'x'.repeat(130), seed, lr: 0.1 } });
    expect(outline([cut(0, '1a2b3c4d'), cut(1, '00ffee11')]).slice(1)).toEqual(['  seed=0', '  seed=1']);
  });

  it('tells sweeps apart when several are shown', () => {
    const tree = buildTree([aRun('A_1', { group: 'A' })], [aSweep({ groups }), aSweep({ name: 'other' })], options);
    expect(tree.groups.map(({ label }) => label)).toEqual(['abcd/A']);
  });

  it('shows what matches only', () => {
    const runs = [...seeds('A', 'B8', { state: 'failed' }, {}), aRun('B_1', { group: 'B' })];
    expect(outline(runs, { matches: ({ state }) => state === 'failed' })).toEqual(['A', '  A_B8_s0']);
  });

  it.each<{ sort: SortBy; order: string[] }>([
    { sort: 'file order', order: ['a', 'b', 'c', 'd'] },
    { sort: 'state', order: ['c', 'b', 'd', 'a'] },
    { sort: 'metric', order: ['b', 'c', 'a', 'd'] },
    { sort: 'time', order: ['c', 'a', 'b', 'd'] },
  ])('sorts runs by $sort, missing values last', ({ sort, order }) => {
    const runs = [
      aRun('A_a', { state: 'done', metrics: { bits: 1 }, startedAt: 0, endedAt: 20_000 }),
      aRun('A_b', { state: 'running', metrics: { bits: 9 }, startedAt: 90_000 }),
      aRun('A_c', { state: 'failed', metrics: { bits: 3 }, startedAt: 0, endedAt: 30_000 }),
      aRun('A_d', { metrics: { bits: null } }),
    ];
    expect(outline(runs, { sort: { by: sort, isReversed: false } }).slice(1)).toEqual(order.map((name) => `  ${name}`));
  });

  it('moves a subgroup with its best run', () => {
    const runs = [
      ...seeds('A', 'low', { metrics: { bits: 1 } }, { metrics: { bits: 2 } }),
      ...seeds('A', 'high', { metrics: { bits: 0 } }, { metrics: { bits: 8 } }),
    ];
    expect(outline(runs, { sort: { by: 'metric', isReversed: false } })).toEqual([
      'A',
      '  high',
      '    s1',
      '    s0',
      '  low',
      '    s1',
      '    s0',
    ]);
  });
});

describe('the sums of a group', () => {
  it('counts states, averages progress, and gives mean and sample deviation of the metric', () => {
    const runs = [
      aRun('A_a', { state: 'done', progress: 0.4, metrics: { bits: 2 } }),
      aRun('A_b', { state: 'running', progress: 0.5, metrics: { bits: 4 } }),
      aRun('A_c', { metrics: { bits: null } }),
    ];
    const sums = tally(runs, 'bits');
    expect(sums).toMatchObject({ total: 3, counts: { done: 1, running: 1, queued: 1 }, progress: 0.5 });
    expect(sums.metric).toEqual({ mean: 3, deviation: Math.SQRT2, count: 2, nan: 1, infinite: 0 });
    const broken = [aRun('a', { metrics: { bits: null } }), aRun('b', { metrics: { bits: 0.5 } }), aRun('c')];
    expect(tally(broken, 'bits').metric).toEqual({ mean: 0.5, deviation: 0, count: 1, nan: 1, infinite: 0 });
    expect(tally(broken.slice(0, 1), 'bits').metric).toMatchObject({ mean: Number.NaN, count: 0, nan: 1, infinite: 0 });
    expect(tally([], 'bits')).toMatchObject({ total: 0, progress: 0, metric: null });
  });
});

describe('a tree after the one before', () => {
  const runs = [...seeds('A', 'x', {}, {}), ...seeds('A', 'y', {}, {}), aRun('B_1', { group: 'B' })];
  const sweeps = [aSweep({ groups })];

  it('takes over what has not changed, and no more', () => {
    const grower = new TreeGrower();
    const previous = grower.grow(runs, sweeps, options);
    // As a frame does: what nobody has looked at was not made, and cannot be taken over.
    flatten(previous, () => false);
    const changed = runs.map((run) => (run.name === 'A_y_s1' ? { ...run, state: 'done' as const } : run));
    const tree = grower.grow(changed, sweeps, options);
    expect(tree.branches.get('abcd/B')).toBe(previous.branches.get('abcd/B'));
    expect(tree.branches.get('abcd/A/x')).toBe(previous.branches.get('abcd/A/x'));
    const nodes = (of: Tree) => of.branches.get('abcd/A/y')!.children;
    expect(nodes(tree)[0]).toBe(nodes(previous)[0]);
    expect(tree).toEqual(buildTree(changed, sweeps, options));
    expect(tree.branches.get('abcd/A')!.tally.counts.done).toBe(1);
  });

  it('is the same tree when nothing has changed', () => {
    const grower = new TreeGrower();
    expect(grower.grow([...runs], sweeps, options)).toBe(grower.grow([...runs], sweeps, options));
  });

  it('is the tree that would have been made at once, whatever happened in between', () => {
    const groupings: Grouping[] = [
      [{ kind: 'group' }],
      [{ kind: 'state' }],
      [{ kind: 'gpu' }, { kind: 'group' }],
      [{ kind: 'parameter', key: 'N' }, { kind: 'state' }],
      [{ kind: 'error' }, { kind: 'state' }],
      [{ kind: 'none' }],
    ];
    const sort = fc.constantFrom<SortBy>('file order', 'state', 'metric', 'name', 'parameter N', 'time');
    const choices = { sort, isReversed: fc.boolean(), grouping: fc.constantFrom(...groupings) };
    // What nobody looks at is not made, and the next tree takes over from the one before.
    const step = fc.record({ ...choices, runs: someRuns, isLookedAt: fc.boolean(), foldsWaiting: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 6 }), (steps) => {
        const grower = new TreeGrower();
        let before: readonly RunSummary[] = [];
        for (const { sort: by, isReversed, grouping, runs: drawn, isLookedAt, foldsWaiting } of steps) {
          const now = drawn.map((run) => before.find((known) => isSameRun(known, run)) ?? run);
          const wanted = { ...options, sort: { by, isReversed }, grouping, foldsWaiting, matches: notLost };
          const tree = grower.grow(now, sweeps, wanted);
          if (isLookedAt) expect(tree).toEqual(buildTree(now, sweeps, wanted));
          before = now;
        }
      }),
      { numRuns: 200 },
    );
  });

  it('of kinds of error has the commonest first, and what did not fail last', () => {
    const failed = (name: string, reason: string) => aRun(name, { state: 'failed', reason });
    const some = [
      ...[aRun('A_1'), aRun('A_2', { reason: 'waits' }), aRun('A_3'), failed('A_4', 'OSError: a')],
      ...[failed('A_5', 'ValueError: NaN at step 3'), failed('A_6', 'ValueError: NaN at step 44')],
    ];
    const tree = buildTree(some, sweeps, { ...options, grouping: [{ kind: 'error' }] });
    expect(tree.groups.map(({ label, runs: { length }, isFailure }) => [label, length, isFailure])).toEqual([
      ['ValueError: NaN at step #', 2, true],
      ['OSError: a', 1, true],
      ['no error', 3, false],
    ]);
  });

  it('without groups is one list in one order, names in full', () => {
    const some = [aRun('B_10', { state: 'done' }), aRun('A_2', { state: 'done' }), aRun('A_10')];
    const sort = { by: 'name', isReversed: false } as const;
    const rows = flatten(buildTree(some, sweeps, { ...options, sort, grouping: [{ kind: 'none' }] }), () => true);
    expect(rows.map(({ label, depth }) => `${label} ${depth}`)).toEqual(['A_2 0', 'A_10 0', 'B_10 0']);
  });

  it('has every run that is shown exactly once, and counts that add up, under any grouping', () => {
    fc.assert(
      fc.property(someRuns, fc.array(fc.constantFrom(...levels), { minLength: 1, maxLength: 2 }), (some, [a, b]) => {
        const grouping: Grouping = b === undefined ? [a!] : [a!, b];
        const tree = buildTree(some, sweeps, { ...options, grouping, matches: notLost });
        const shown = some.filter(notLost);
        const rows = flatten(tree, () => false);
        const ids = rows.flatMap((row) => (row.kind === 'run' ? [row.run.id] : []));
        expect([...ids].sort()).toEqual(shown.map(({ id }) => id).sort());
        expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
        expect(tree.groups.reduce((sum, { tally: { total } }) => sum + total, 0)).toBe(shown.length);
        for (const branch of tree.branches.values()) {
          expect(Object.values(branch.tally.counts).reduce((sum, count) => sum + count)).toBe(branch.runs.length);
          for (const child of branch.children) expect(child.parent).toBe(branch.key);
        }
      }),
    );
  });
});

const levels: GroupBy[] = [
  { kind: 'group' },
  { kind: 'state' },
  { kind: 'gpu' },
  { kind: 'error' },
  { kind: 'none' },
  { kind: 'parameter', key: 'N' },
  { kind: 'parameter', key: 'absent' },
];

const notLost = ({ state }: RunSummary): boolean => state !== 'lost';

function isSameRun(a: RunSummary, b: RunSummary): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Up to a dozen runs of which everything a list looks at may differ from one time to the next. */
const someRuns = fc
  .uniqueArray(
    fc.record({
      number: fc.nat(15),
      state: fc.constantFrom(...statesInOrder, 'queued', 'queued', 'held'),
      bits: fc.option(fc.constantFrom(1, 2, Number.NaN, Infinity)),
      slot: fc.constantFrom(null, 'cpu 0', 'gpu 1'),
      subgroup: fc.constantFrom(null, 'x', 'y'),
      N: fc.constantFrom(undefined, null, 4, 16, '4', 'x', true, [1, 2]),
    }),
    { maxLength: 12, selector: ({ number }) => number },
  )
  .map((drawn) =>
    drawn.map(({ number, state, bits, slot, subgroup, N }) =>
      aRun(`${number % 2 === 0 ? 'A' : 'B'}_${number}`, {
        ...{ state, slot, subgroup, startedAt: number * 1000 },
        gpus: slot === 'gpu 1' ? [1] : [],
        metrics: { bits },
        parameters: N === undefined ? {} : { N },
      }),
    ),
  );
