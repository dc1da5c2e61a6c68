import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../../tiers.js';
import type { Outcome } from '../../../src/base/outcome.js';
import { type Expansion, expandBeside } from '../../../src/spec/expand/expand-sweep.js';
import { identityOf } from '../../../src/spec/expand/identity.js';
import type { KnownRun } from '../../../src/spec/expand/run-name.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';
import { tableSweepText } from '../../../src/spec/file/table-file.js';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { completionOf } from '../../../src/spec/policy/completion.js';
import { noFacts, planOf } from '../sweeps.js';

/** What the directories of a sweep say, by name. */
type Place = Map<string, KnownRun>;

const done: Outcome = { kind: 'done' };
const failed: Outcome = { kind: 'failed', code: 1 };

function expand(text: string, place: Place | readonly KnownRun[] = [], path = 'x.yaml'): Expansion {
  const known = Array.isArray(place) ? place : [...(place as Place).values()];
  const options = { runsDirectory: '/runs', cwd: '/home/ada', environment: {} };
  return expandBeside(parseSweepFile(text, path), options, known);
}

function recordOf({ name, group, identity, parameters }: PlannedRun, outcome: Outcome | null = done): KnownRun {
  return { name, group, identity, parameters, attempts: [{ startedAt: 0, outcome }], isStarted: true };
}

/** The place after a launch of the text alone, as versions did it that gave names by the file. */
function launched(text: string, outcome: Outcome | null = done, path = 'x.yaml'): KnownRun[] {
  return planOf(text, { path }).runs.map((run) => recordOf(run, outcome));
}

/** Throws where the directory is that of another run. */
function standing(run: PlannedRun, known: KnownRun | undefined) {
  if (known === undefined) return completionOf(run, noFacts);
  const { identity, group, parameters, attempts } = known;
  const exitCode = attempts.at(-1)?.outcome?.kind === 'done' ? 0 : 1;
  return completionOf(run, {
    ...noFacts,
    known: true,
    identity,
    group,
    parameters,
    attempts: attempts.length,
    exitCode,
  });
}

const namesIn = ({ plan }: Expansion) => plan.runs.map(({ name }) => name);

/** Names of the runs that a launch starts. */
function startedIn({ plan }: Expansion, known: readonly KnownRun[]): string[] {
  const byName = new Map(known.map((run) => [run.name, run]));
  return plan.runs.filter((run) => standing(run, byName.get(run.name)).state !== 'done').map(({ name }) => name);
}

const head = 'command: [train, "${args}"]\n';

describe('a run that exists', () => {
  const two = `${head}parameters: { lr: [0.1, 0.2], seed: [0] }`;

  it('keeps its name when an axis grows, and only what is new is started', () => {
    const known = launched(two);
    expect(known.map(({ name }) => name)).toEqual(['lr0.1', 'lr0.2']);
    const grown = expand(two.replace('[0]', '[0, 1]'), known);
    expect(namesIn(grown)).toEqual(['lr0.1', 'lr0.1_s1', 'lr0.2', 'lr0.2_s1']);
    expect(startedIn(grown, known)).toEqual(['lr0.1_s1', 'lr0.2_s1']);
    expect([...grown.names.kept]).toEqual([
      ['lr0.1', 'lr0.1_s0'],
      ['lr0.2', 'lr0.2_s0'],
    ]);
    expect(grown.plan.runs[0]!.directory).toBe('/runs/x/lr0.1');
  });

  it('is continued when an axis gets narrower while its budget grows', () => {
    const text = (seeds: string, steps: number) =>
      `${head}extends: steps\nparameters: { lr: [0.1, 0.2], seed: [${seeds}], steps: ${steps} }`;
    const known = launched(text('0, 1', 100));
    const { plan } = expand(text('0', 200), known);
    expect(plan.runs.map(({ name }) => name)).toEqual(['lr0.1_s0', 'lr0.2_s0']);
    const byName = new Map(known.map((run) => [run.name, run]));
    expect(plan.runs.map((run) => standing(run, byName.get(run.name)).reason)).toEqual([
      'steps grew from 100 to 200',
      'steps grew from 100 to 200',
    ]);
  });

  it.each<{ edit: string; before: string; now: string }>([
    { edit: 'another order of keys', before: 'a: [1, 2], b: [3, 4]', now: 'b: [4, 3], a: [2, 1]' },
    { edit: '1 written as 1.0', before: 'a: [1, 2]', now: 'a: [1.0, 2.00]' },
    { edit: '1e-3 written as 0.001', before: 'a: [1e-3, 2e-3]', now: 'a: [0.001, 0.0020]' },
    { edit: 'a list instead of a value', before: 'a: 1', now: 'a: [1]' },
    {
      edit: 'the keys of a map in another order',
      before: 'a: {value: {x: 1, y: {z: 2, w: 3}}}',
      now: 'a: {value: {y: {w: 3, z: 2}, x: 1}}',
    },
  ])('is the same run after $edit', ({ before, now }) => {
    const known = launched(`${head}parameters: { ${before} }`);
    const after = expand(`${head}parameters: { ${now} }`, known);
    expect(startedIn(after, known)).toEqual([]);
    expect(namesIn(after).toSorted()).toEqual(known.map(({ name }) => name).toSorted());
  });

  it('is the same run where W&B reads a number as a text', () => {
    const text = (lr: string) => `program: t.py\nmethod: grid\nparameters: { lr: { values: [${lr}] } }`;
    const known = launched(text('1e-3, 2e-3'));
    expect(startedIn(expand(text('0.001, 0.002, 0.003'), known), known)).toHaveLength(1);
  });

  it('is the same run in a table with rows more', () => {
    const table = (rows: string) => tableSweepText(`lr,opt\n${rows}`, 't.csv', ['train']);
    const known = launched(table('0.1,sgd\n'));
    const grown = expand(table('0.5,sgd\n1e-1,sgd\n0.1,adam\n'), known);
    expect(startedIn(grown, known)).toHaveLength(2);
  });

  it('keeps its name when the template is another', () => {
    const known = launched(two);
    const { plan, names } = expand(`${two}\ngroups: { runs: { name: "r{lr}" } }`, known);
    expect(plan.runs.map(({ name }) => name)).toEqual(['lr0.1', 'lr0.2']);
    expect(names.kept.get('lr0.2')).toBe('r0.2');
  });

  it('gives its name to what comes after it', () => {
    const text = (seeds: string) =>
      `${head}parameters: { seed: [${seeds}] }\ngroups:\n  train: {}\n  eval: { after_each: train, command: [eval, "\${after_name}"] }`;
    const known = launched(text('0'));
    const after = expand(text('0, 1'), known);
    expect(namesIn(after)).toEqual(['train', 'train_s1', 'eval_train', 'eval_train_s1']);
    expect(startedIn(after, known)).toEqual(['train_s1', 'eval_train_s1']);
    expect(after.plan.runs.map(({ argv }) => argv.at(-1)).slice(2)).toEqual(['train', 'train_s1']);
  });

  it('is found in a list of commands whose lines moved', () => {
    const known = launched('a.sh 1\na.sh 2\na.sh 2\n', done, 'x.txt');
    const after = expand('b.sh\na.sh 1\na.sh 2\na.sh 2\n', known, 'x.txt');
    expect(namesIn(after)).toEqual(['001_b.sh', '001_a.sh', '003_a.sh', '002_a.sh']);
    expect(startedIn(after, known)).toEqual(['001_b.sh']);
  });

  it('is found among random points of another number', () => {
    const text = (cap: number) =>
      `name: x\nmethod: random\nrun_cap: ${cap}\nsample_seed: 3\n${head}groups: { g: { parameters: { lr: { min: 0.0, max: 1.0 } } } }`;
    const known = launched(text(3)).map((run, index) => ({ ...run, name: `old${index}` }));
    expect(startedIn(expand(text(5), known), known)).toHaveLength(2);
  });

  it.each([
    ['drawn values', 'lr: { min: 0.0, max: 1.0 }, n: { min: 1, max: 9 }', { lr: 0.123456789, n: 4 }],
    [
      'lists, constants and what is computed',
      'opt: { values: [sgd, adam] }, c: 3, d: { expr: "c * 2" }',
      { opt: 'adam', c: 3, d: 6 },
    ],
    ['a larger budget', 'lr: { min: 0.0, max: 1.0 }, steps: 200', { lr: 0.5, steps: 100 }],
  ])('is a run of an open search, which nobody else knows, by its directory: %s', (_, parameters, of) => {
    const budget = 'steps' in of ? 'extends: steps\n' : '';
    const text = `name: x\nmethod: bayes\nrun_cap: 3\nmetric: { name: loss }\n${budget}${head}parameters: { ${parameters} }`;
    const run = { name: 'lost', group: 'runs', identity: null, isStarted: true, parameters: of };
    const other = { ...run, name: 'other', parameters: { ...of, more: 1 } };
    const attempts = [{ startedAt: 0, outcome: done }];
    const { plan } = expand(text, [
      { ...other, attempts },
      { ...run, attempts },
    ]);
    expect(plan.runs.map(({ name }) => name)).toContain('lost');
    expect(plan.runs.map(({ name }) => name)).not.toContain('other');
    expect(plan.runs.find(({ name }) => name === 'lost')!.parameters).toEqual({
      ...of,
      ...('steps' in of ? { steps: 200 } : {}),
    });
  });

  it('is the one that is done, where an older version started it again under another name', () => {
    const [first, ...others] = launched(two.replace('[0]', '[0, 1]'), failed);
    const known = [...launched(two), first!, ...others];
    expect(startedIn(expand(two.replace('[0]', '[0, 1]'), known), known)).toEqual(['lr0.1_s1', 'lr0.2_s1']);
  });

  it('is told by its parameters where what was written of its identity was by another budget', () => {
    const text = (steps: number, rest = '') => `${head}${rest}parameters: { lr: [0.1, 0.2], seed: 0, steps: ${steps} }`;
    const known = launched(text(100)).map((run) => ({ ...run, name: `old_${run.name}` }));
    const { plan } = expand(text(200, 'extends: steps\n'), known);
    expect(plan.runs.map(({ name }) => name)).toEqual(['old_lr0.1', 'old_lr0.2']);
  });

  it('is another run in another group, and where a secret hides what it is', () => {
    const known = launched(two);
    expect(expand(`${two}\ngroups: { other: {} }`, known).names.kept.size).toBe(0);
    const hidden = known.map((run) => ({ ...run, identity: null, parameters: { ...run.parameters, seed: '***' } }));
    expect(expand(two.replace('[0]', '[0, 1]'), hidden).names.kept.size).toBe(0);
  });
});

describe('a new run', () => {
  const text = (rest: string) => `${head}parameters: { lr: [0.1, 0.2], ${rest} }`;

  it('does not get the name of a run with other parameters, and its name says what differs', () => {
    const known = launched(text('bs: 32'));
    const { plan, names } = expand(text('bs: 64'), known);
    expect(plan.runs.map(({ name }) => name)).toEqual(['lr0.1_bs64', 'lr0.2_bs64']);
    expect(names.distinct.get('lr0.1_bs64')).toEqual({ taken: 'lr0.1', parameters: { lr: 0.1, bs: 32 } });
  });

  it('is another one with a parameter that did not exist before', () => {
    const known = launched(text('bs: 32'));
    expect(startedIn(expand(text('bs: 32, wd: 0'), known), known)).toEqual(['lr0.1_wd0', 'lr0.2_wd0']);
  });

  it('is called by a number where its parameters cannot say it', () => {
    const known = launched(text('note: short'));
    const long = expand(text(`note: ${'long '.repeat(40)}`), known);
    expect(namesIn(long)).toEqual(['lr0.1_2', 'lr0.2_2']);
  });

  it('takes the name of one that never started, as the file was corrected before that', () => {
    const known = launched(text('bs: 32')).map((run) => ({ ...run, attempts: [], isStarted: false }));
    expect(namesIn(expand(text('bs: 64'), known))).toEqual(['lr0.1', 'lr0.2']);
    expect(namesIn(expand(text('bs: [32, 64]'), known))).toEqual(['lr0.1', 'lr0.1_bs64', 'lr0.2', 'lr0.2_bs64']);
  });

  it('does not differ from another name in capital letters alone', () => {
    const known = launched(`${head}parameters: { opt: [Adam], bs: 1 }\ngroups: { g: { name: "{opt}" } }`);
    const { plan } = expand(`${head}parameters: { opt: [adam], bs: 2 }\ngroups: { g: { name: "{opt}" } }`, known);
    expect(plan.runs[0]!.name).toBe('adam_opt-adam_bs2');
  });
});

/** A sweep file that is edited again and again. */
const anEdit = fc.record({
  lr: fc.uniqueArray(fc.constantFrom('0.1', '1e-3', '3', '3e-1'), { minLength: 1, maxLength: 3 }),
  seed: fc.uniqueArray(fc.constantFrom('0', '1', '2.0'), { minLength: 1, maxLength: 3 }),
  bs: fc.constantFrom(null, '32', '64'),
  steps: fc.constantFrom(100, 200, 300),
  name: fc.constantFrom(null, 'x{lr}_{seed}', 'x{seed}_{lr}', 'r_{lr}_{seed}'),
  group: fc.constantFrom('g', 'g', 'h'),
  isReversed: fc.boolean(),
  isExtending: fc.constantFrom(true, true, false),
});
type Edit = typeof anEdit extends fc.Arbitrary<infer Value> ? Value : never;

function textOf({ lr, seed, bs, steps, name, group, isReversed, isExtending }: Edit): string {
  const parameters = [
    `lr: [${lr.join(', ')}]`,
    `seed: [${seed.join(', ')}]`,
    ...(bs === null ? [] : [`bs: ${bs}`]),
    `steps: ${steps}`,
  ];
  const ordered = isReversed ? parameters.toReversed() : parameters;
  const own = name === null ? '{}' : `{ name: "${name}" }`;
  const budget = isExtending ? 'extends: steps\n' : '';
  return `${head}${budget}parameters: { ${ordered.join(', ')} }\ngroups: { ${group}: ${own} }`;
}

/** What a point is, by the definition: its group and its parameters, less the budget. */
function pointOf({ group, parameters }: Pick<KnownRun, 'group' | 'parameters'>, budget: readonly string[]): string {
  const own = Object.entries(parameters).filter(([key]) => !budget.includes(key));
  return JSON.stringify([group, own.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Plays a launch in the place; `endings`: how the runs that it starts come out, in their order. */
function launch(edit: Edit, place: Place, endings: readonly Outcome[]) {
  const { plan } = expand(textOf(edit), place);
  const started: PlannedRun[] = [];
  for (const run of plan.runs) {
    const known = place.get(run.name);
    if (standing(run, known).state === 'done') continue;
    const outcome = endings[started.length % endings.length]!;
    started.push(run);
    place.set(run.name, { ...recordOf(run), attempts: [...(known?.attempts ?? []), { startedAt: 0, outcome }] });
  }
  return { runs: plan.runs, started };
}

/** What a launch has to start, by the definition: what is not done with that budget, anywhere. */
function wantedOf(runs: readonly PlannedRun[], place: ReadonlyMap<string, KnownRun>): Set<string> {
  const isEnough = (known: KnownRun, run: PlannedRun) =>
    !(run.budget ?? []).some((key) => Number(known.parameters[key]) < Number(run.parameters[key]));
  const isDone = (run: PlannedRun) =>
    [...place.values()].some(
      (known) =>
        pointOf(known, run.budget ?? []) === pointOf(run, run.budget ?? []) &&
        known.attempts.at(-1)!.outcome!.kind === 'done' &&
        isEnough(known, run),
    );
  return new Set(runs.filter((run) => !isDone(run)).map((run) => pointOf(run, run.budget ?? [])));
}

describe('a sweep that is edited and launched again and again', () => {
  const endings = fc.array(fc.constantFrom(done, done, failed), { minLength: 1, maxLength: 5 });
  const launches = fc.array(fc.tuple(anEdit, endings), { minLength: 2, maxLength: 6 });

  it('starts just the points that are not done, each in a directory of its own', { tags: ['long'] }, () => {
    fc.assert(
      fc.property(launches, (all) => {
        const place: Place = new Map();
        for (const [edit, outcomes] of all) {
          const before = new Map(place);
          const { runs, started } = launch(edit, place, outcomes);
          const budget = runs[0]!.budget ?? [];
          expect(new Set(started.map((run) => pointOf(run, budget)))).toEqual(wantedOf(runs, before));
          expect(new Set(runs.map(({ name }) => name.toLowerCase())).size).toBe(runs.length);
          // Whatever was written under a name is still of the same run.
          for (const [name, run] of before) expect(pointOf(place.get(name)!, budget)).toBe(pointOf(run, budget));
        }
      }),
      { numRuns: 300 },
    );
  });

  property('finds what versions did that gave names by the file', 300, (examples) => {
    fc.assert(
      fc.property(anEdit, anEdit, endings, (first, second, outcomes) => {
        const place: Place = new Map();
        for (const [index, run] of planOf(textOf(first)).runs.entries()) {
          // They hashed the parameters as they were written, and kept nothing else.
          const identity = index % 2 === 0 ? identityOf(run.group, run.parameters, run.budget ?? []) : null;
          const attempts = [{ startedAt: 0, outcome: outcomes[index % outcomes.length]! }];
          place.set(run.name, { ...recordOf(run), identity, attempts });
        }
        const before = new Map(place);
        const { runs, started } = launch(second, place, outcomes);
        expect(new Set(started.map((run) => pointOf(run, run.budget ?? [])))).toEqual(wantedOf(runs, before));
      }),
      examples,
    );
  });
});
