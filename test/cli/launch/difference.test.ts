import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import type { RunWord } from '../../../src/base/run-words.js';
import { type Difference, differenceOf, isEdited, isKnown, isOutdated } from '../../../src/cli/launch/compare.js';
import { type ExistingRun, existingRuns, type Planned } from '../../../src/cli/launch/read.js';
import { differenceLines, differenceSummary, skippedNote } from '../../../src/cli/launch/confirm.js';
import { withoutSecrets } from '../../../src/cli/launch/compare.js';
import { planJson } from '../../../src/cli/launch/launch.js';
import { planLines } from '../../../src/cli/launch/plan-lines.js';
import type { RunSummary } from '../../../src/client/fleet.js';
import type { RunRecord } from '../../../src/contract/run-record.js';
import { runTest } from '../../../src/query/match.js';
import { parseRunQuery } from '../../../src/query/parser.js';
import { expandBeside } from '../../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';
import type { Plan } from '../../../src/spec/planned-run.js';
import { completionOf } from '../../../src/spec/policy/completion.js';
import { policyOf } from '../../../src/spec/policy/policy-words.js';
import { environmentDigest, startDigests } from '../../../src/spec/expand/identity.js';
import { noFacts, planOf } from '../../spec/sweeps.js';
import { aRun } from '../../tui/simulated-fleet.js';

const text = ({ n = 10, seeds = '0, 1', more = '', groups = '' } = {}) => `
name: s
command: [train, "\${args}"]
extends: n
resume_args: [--resume, latest]
${more}
parameters: { n: ${n}, seed: [${seeds}] }
groups:
  A: { name: "A_s{seed}" }
${groups}`;

/** The runs of a plan as a supervisor knows them, in these states by name; others wait. */
function rowsOf(plan: Plan, states: Record<string, RunWord> = {}): RunSummary[] {
  return plan.runs.map((run): RunSummary => {
    const state = states[run.name] ?? 'queued';
    const attempt = state === 'queued' || state === 'held' ? 0 : 1;
    return aRun(run.name, {
      ...{ id: run.id, sweep: run.sweep, group: run.group, parameters: run.parameters, argv: run.argv },
      ...{ state, attempt, policy: policyOf(run), started: startDigests(run), place: 0, next: null },
      ...(run.snapshot === undefined ? {} : { snapshot: 'snapshot-1' }),
    });
  });
}

/** A file against the runs of an earlier one, in their states. */
function difference(before: string, now: string, states: Record<string, RunWord> = {}): Difference {
  const rows = rowsOf(planOf(before), states);
  const existing = existingRuns('/nowhere', 's', rows);
  const options = { runsDirectory: '/runs', cwd: '/home/ada', environment: {} };
  const { plan, names } = expandBeside(parseSweepFile(now, 'x.yaml'), options, existing);
  const known = new Map(rows.map((row) => [row.id, row]));
  const planned = plan.runs.map((run): Planned => {
    const row = known.get(run.id);
    if (row === undefined || row.attempt === 0) return { run, standing: completionOf(run, noFacts) };
    const exitCode = row.state === 'done' ? 0 : row.state === 'failed' ? 1 : null;
    const { identity, group } = run;
    const facts = { ...noFacts, known: true, identity, group, parameters: row.parameters, attempts: 1, exitCode };
    return { run, standing: completionOf(run, facts) };
  });
  return differenceOf({ plan, planned, names, existing, leftOut: [] }, rows);
}

/** A file against the directories of an earlier one, of which all runs are done; no supervisor is there. */
function recorded(before: string, now: string, said: Partial<RunRecord> = {}): Difference {
  const existing = planOf(before).runs.map((run): ExistingRun => {
    const { name, group, identity, parameters, argv, cwd } = run;
    const attempts = [{ number: 1, slot: 'cpu 0', startedAt: 0, endedAt: 1, outcome: { kind: 'done' as const } }];
    const facts = { version: 1 as const, sweep: 's', subgroup: null, host: 'here', git: null };
    const digests = { environmentDigest: environmentDigest(run) };
    const record = { ...facts, name, group, identity, parameters, argv, cwd, attempts, ...digests, ...said };
    return { name, group, identity, parameters, attempts, isStarted: true, record };
  });
  const options = { runsDirectory: '/runs', cwd: '/home/ada', environment: {} };
  const { plan, names } = expandBeside(parseSweepFile(now, 'x.yaml'), options, existing);
  const planned = plan.runs.map((run): Planned => {
    const known = existing.find(({ name }) => name === run.name);
    if (known === undefined) return { run, standing: completionOf(run, noFacts) };
    const { identity, group, parameters } = known;
    const facts = { ...noFacts, known: true, identity, group, parameters, attempts: 1, exitCode: 0 };
    return { run, standing: completionOf(run, facts) };
  });
  return differenceOf({ plan, planned, names, existing, leftOut: [] }, []);
}

const planOptions = { width: 100, verbose: false, slots: [], time: null, clock: { now: 0, zone: 'UTC' } };
const jsonOf = (found: Difference, plan: Plan) =>
  planJson({ difference: found, estimate: null }, plan, { slots: [], now: 0 }).runs;
const lines = (found: Difference, leavesBroken = false) => differenceLines(found, { width: 100, leavesBroken });

describe('what a launch changes of a sweep that is known', () => {
  const states: Record<string, RunWord> = { A_s0: 'done', A_s1: 'running', A_s2: 'queued', A_s3: 'failed' };
  const four = '0, 1, 2, 3';

  it('is nothing where the file says what it said before', () => {
    const found = difference(text({ seeds: four }), text({ seeds: four }), states);
    expect([isKnown(found), isEdited(found), differenceSummary(found)]).toEqual([true, false, '']);
    expect(lines(found)).toEqual(['A  1 failed to be started again', '   3 unchanged: 1 queued, 1 running, 1 done']);
  });

  it('is nothing of a sweep that is not known', () => {
    const plan = planOf(text());
    const planned = plan.runs.map((run) => ({ run, standing: completionOf(run, noFacts) }));
    expect(isKnown(differenceOf({ plan, planned, leftOut: [] }, []))).toBe(false);
  });

  it('tells new runs, and a larger budget for queued, running and done ones apart', () => {
    const found = difference(text({ seeds: four }), text({ seeds: `${four}, 4, 5`, n: 20 }), states);
    expect(differenceSummary(found)).toBe('2 new runs, 4 with a larger budget');
    expect(lines(found)).toEqual([
      'A  2 new: A_s{4,5}',
      '   n grew from 10 to 20: 1 done to continue with it; 1 running to continue with it after the present attempt; 1 queued to start with it; 1 failed to be started again with it',
    ]);
    expect(lines(found, true)[1]).toContain('1 failed left as they are');
  });

  it('counts as larger what is more than what a run is already to go on with', () => {
    const rows = rowsOf(planOf(text()), { A_s0: 'running' }).map((row) => ({ ...row, next: { n: 20 } }));
    const [same, more] = [20, 30].map((n) => {
      const plan = planOf(text({ n }));
      const planned = plan.runs.map((run) => ({ run, standing: completionOf(run, noFacts) }));
      return differenceOf({ plan, planned, leftOut: [] }, rows).changes[0]!;
    });
    expect(same).toMatchObject({ kind: 'same', growth: null });
    expect(more).toMatchObject({ kind: 'longer', growth: 'n grew from 20 to 30' });
  });

  it('says which settings differ, and whom they find in time', () => {
    const more = 'retry: 3\ntimeout: 2h';
    const found = difference(text({ seeds: four, more: 'timeout: 1h' }), text({ seeds: four, more }), states);
    expect(differenceSummary(found)).toBe('1 with other settings');
    expect(lines(found)).toContain(
      'A  timeout at most 1h → at most 2h: for 1 queued; not for 1 running, until launched again',
    );
    expect(lines(found)).toContain(
      '   retry not set → 3 retries: for 1 queued; not for 1 running, until launched again',
    );
    const longer = difference(text({ more: 'retry: 1' }), text({ more, n: 20 }), { A_s0: 'running' });
    expect(lines(longer)).toContain(
      '   retry 1 retry → 3 retries: for 1 queued; for 1 running from the next attempt on',
    );
  });

  it('says that a command is another one', () => {
    const found = difference(text(), text().replace('[train,', '[train, --fast,'));
    expect(lines(found)[0]).toBe('A  command changed: for 2 queued');
  });

  it.each([
    { key: 'env', before: 'env: { A: x }', now: 'env: { A: y }', words: 'env changed' },
    { key: 'env, of which there was none', before: '', now: 'env: { A: y }', words: 'env changed' },
    { key: 'cwd', before: '', now: 'cwd: sub', words: 'cwd changed' },
    {
      key: 'done',
      before: '',
      now: 'done: { file: model.pt }',
      words: 'done not set → model.pt is there',
    },
  ])('says that runs are started or judged otherwise: $key', ({ before, now, words }) => {
    const found = difference(text({ more: before }), text({ more: now }), { A_s1: 'running' });
    expect(lines(found)[0]).toBe(`A  ${words}: for 1 queued; not for 1 running, until launched again`);
    expect(isEdited(difference(text({ more: now }), text({ more: now })))).toBe(false);
  });

  it('says that runs are resumed with other arguments', () => {
    const found = difference(text(), text().replace('[--resume, latest]', '[--resume, best]'));
    expect(lines(found)[0]).toBe('A  resume_args changed: for 2 queued');
  });

  it('tells that a secret in `env` is another, and not which', () => {
    const [before, now] = ['hunter2hunter2', 'correct horse'].map((secret) =>
      text({ more: `env: { API_KEY: ${secret} }` }),
    );
    const rows = rowsOf(planOf(before!));
    const plan = planOf(now!);
    const planned = withoutSecrets(
      plan.runs.map((run) => ({ run, standing: completionOf(run, noFacts) })),
      {},
    );
    const found = differenceOf({ plan, planned, leftOut: [] }, rows);
    expect(lines(found)[0]).toBe('A  env changed: for 2 queued');
    expect(JSON.stringify([rows, found])).not.toMatch(/hunter2|correct horse/);
    const same = planOf(before!).runs.map((run) => ({ run, standing: completionOf(run, noFacts) }));
    expect(isEdited(differenceOf({ plan, planned: withoutSecrets(same, {}), leftOut: [] }, rows))).toBe(false);
  });

  it('says where runs are no longer started from a snapshot of the code, or now are', () => {
    const found = difference(text(), text({ more: 'code: snapshot' }), { A_s1: 'running' });
    expect(lines(found)[0]).toBe('A  code live → snapshot: for 1 queued; not for 1 running, until launched again');
    expect(lines(difference(text({ more: 'code: snapshot' }), text({ more: 'code: live' })))[0]).toBe(
      'A  code snapshot → live: for 2 queued',
    );
    expect(isEdited(difference(text({ more: 'code: snapshot' }), text({ more: 'code: snapshot' })))).toBe(false);
  });

  it('claims nothing of settings that a supervisor of an older build does not tell', () => {
    const plan = planOf(text({ more: 'retry: 3' }));
    const rows = rowsOf(plan).map(
      (row) => Object.fromEntries(Object.entries(row).filter(([key]) => key !== 'policy')) as RunSummary,
    );
    const planned = plan.runs.map((run) => ({ run, standing: completionOf(run, noFacts) }));
    expect(isEdited(differenceOf({ plan, planned, leftOut: [] }, rows))).toBe(false);
  });

  it('names what the file no longer does, with queries that choose this and nothing else', () => {
    const before = text({ seeds: four, groups: '  B: { name: "B_s{seed}" }' });
    const found = difference(before, text({ seeds: '0, 1, 2' }), { ...states, B_s0: 'running', B_s1: 'done' });
    const [head, ends, hides] = lines(found).slice(-3);
    expect(head).toMatch(/^not in the file: 5 runs \(.*\), 2 queued, 1 running; they stay\.$/);
    const rows = rowsOf(planOf(before), { ...states, B_s0: 'running', B_s1: 'done' });
    const chosen = (line: string, pattern: RegExp) =>
      rows.filter(runTest(parseRunQuery(pattern.exec(line)![1]!), 0)).map(({ name }) => name);
    expect(chosen(hides!, /not (\(.*\))$/)).toEqual(['A_s3', 'B_s0', 'B_s1', 'B_s2', 'B_s3']);
    expect(chosen(ends!, /kill '(.*)'/)).toEqual(expect.arrayContaining(['B_s0', 'B_s2', 'B_s3']));
    expect(chosen(ends!, /kill '(.*)'/).every((name) => name.startsWith('B'))).toBe(true);
  });

  it('chooses many runs by the values that they alone have, or else by name', () => {
    const of = (rates: string, name: string) =>
      `command: [a]\nparameters: { lr: [${rates}], seed: [0, 1, 2, 3, 4, 5] }\ngroups:\n  A: { name: "${name}" }`;
    const found = difference(of('0.1, 0.01', 'l{lr}_s{seed}'), of('0.1', 'l{lr}_s{seed}'), { 'l0.01_s0': 'done' });
    expect(lines(found).slice(-2)).toEqual([
      "  to end them: memrl-tui kill 'sweep:x lr=0.01'",
      '  to hide them: filter by not (sweep:x lr=0.01)',
    ]);
    const edited = difference(of('0.1', 'old_{seed}'), of('0.1', 'new_{seed}'), {});
    expect(lines(edited).at(-1)).toBe(
      '  to hide them: filter by not (sweep:x name:old_0,old_1,old_2,old_3,old_4,old_5)',
    );
  });

  const unnamed = (seeds: string, more = '') => text({ seeds, more }).replace('  A: { name: "A_s{seed}" }', '  A: {}');

  it('says which runs keep a name that the file gives no more', () => {
    const found = difference(unnamed('0'), unnamed('0, 1'), { A: 'done' });
    expect(lines(found)).toEqual([
      'A  1 new: A_s1',
      '   1 keeps its name: A (A_s0 by the file)',
      '   1 unchanged: 1 done',
    ]);
    expect(planLines(found, planOf(unnamed('0, 1')), planOptions).join('\n')).toContain('1 keeps its name');
    const [kept, fresh] = jsonOf(found, planOf(unnamed('0, 1')));
    expect(kept).toMatchObject({ name: 'A', nameByFile: 'A_s0', change: 'same' });
    expect(fresh).toMatchObject({ name: 'A_s1', nameByFile: 'A_s1', change: 'new' });
  });

  it('says why a run is another one whose name is taken, and how that one would be continued', () => {
    const [before, now] = [100, 200].map((steps) => unnamed('0, 1').replace('{ n: 10,', `{ n: 10, steps: ${steps},`));
    const found = recorded(before!, now!);
    expect(lines(found).slice(0, 3)).toEqual([
      'A  2 new: A_s{0,1}_steps200',
      '   2 names are taken: A_s0 exists with other parameters (steps was 100 and would be 200)',
      '     to continue those runs instead: extends: [steps]',
    ]);
  });

  it('says how runs would be continued whose one number is larger now, where names do not tell', () => {
    const of = (seeds: string, steps: number) => unnamed(seeds).replace('{ n: 10,', `{ n: 10, steps: ${steps},`);
    expect(lines(recorded(of('0', 100), of('0, 1', 200))).at(-1)).toBe(
      '  steps was 100 and is 200; to continue those runs instead: extends: [steps]',
    );
    expect(lines(recorded(unnamed('0'), unnamed('1'))).join('\n')).not.toContain('extends');
  });

  it('says that a parameter more, or another group, makes other runs', () => {
    const named = (rest: string) => text({ seeds: '0', groups: rest });
    const more = recorded(named(''), named('').replace('{ n: 10,', '{ n: 10, wd: 0,'));
    expect(lines(more).join('\n')).toContain('other parameters make other runs: wd is new in the file');
    const less = recorded(named('').replace('{ n: 10,', '{ n: 10, wd: 0,'), named(''));
    expect(lines(less).join('\n')).toContain('other parameters make other runs: wd is no longer in it');
    const moved = recorded(named(''), named('').replace('  A:', '  B:'));
    expect(lines(moved).join('\n')).toContain(
      'another group makes other runs: those of B have parameters of A, and are started as new ones',
    );
  });

  it.each([
    { what: 'command', now: text().replace('[train,', '[train, --fast,') },
    { what: 'env', now: text({ more: 'env: { A: y }' }) },
    { what: 'cwd', now: text({ more: 'cwd: sub' }) },
    { what: 'command and env', now: text({ more: 'env: { A: y }' }).replace('[train,', '[train2,') },
  ])('says of done runs that they were done before a change: $what', ({ what, now }) => {
    const found = recorded(text(), now);
    expect([isOutdated(found), isEdited(found), differenceSummary(found)]).toEqual([
      true,
      false,
      '2 done before a change',
    ]);
    expect(lines(found)).toEqual([
      `A  2 done and not run again: ${what} changed since they ran`,
      "     to delete what they wrote and run them again: memrl-tui clean --done 'sweep:s group:A status:done', then launch the file",
    ]);
    expect(planLines(found, planOf(now), planOptions).join('\n')).not.toContain('unchanged');
    expect(skippedNote(found)).toBe(
      `2 done runs are not run again although ${what.replace(' and ', ', ')} changed since; --dry-run says how`,
    );
    expect(skippedNote(recorded(text(), text()))).toBeNull();
  });

  it('names done runs one by one where a query of their group would choose others too', () => {
    const found = recorded(text({ seeds: four }), text().replace('[train,', '[train, --fast,'));
    expect(lines(found).join('\n')).toContain("clean --done 'sweep:s name:A_s0,A_s1'");
  });

  it('claims nothing of done runs where nothing changed, the budget is another one, or an older build said less', () => {
    expect(isOutdated(recorded(text(), text()))).toBe(false);
    const written = text({ seeds: '1, 100' });
    expect(isOutdated(recorded(written, text({ seeds: '1.0, 1e2' })))).toBe(false);
    const turned = text().replace('{ n: 10, seed: [0, 1] }', '{ seed: [0, 1], n: 10 }');
    expect(isOutdated(recorded(text(), turned))).toBe(false);
    expect(isOutdated(recorded(text().replace('train,', 'cp, a, b,'), text().replace('train,', 'cp, b, a,')))).toBe(
      true,
    );
    expect(isOutdated(recorded(text({ n: 20 }), text()))).toBe(false);
    expect(isOutdated(recorded(text({ more: 'env: { A: x }' }), text(), { environmentDigest: undefined }))).toBe(false);
    const logged = text({ more: 'env: { WANDB_PROJECT: p }' });
    expect(isOutdated(recorded(logged, text()))).toBe(false);
  });

  it('leaves alone groups that were not asked for, and the runs of open ones', () => {
    const rows = [...rowsOf(planOf(text())), aRun('B_1', { sweep: 's', id: RunId.parse('s/B_1'), group: 'B' })];
    const plan = planOf(text());
    const planned = plan.runs.map((run) => ({ run, standing: completionOf(run, noFacts) }));
    expect(differenceOf({ plan, planned, leftOut: ['B'] }, rows).absent).toEqual([]);
    expect(differenceOf({ plan, planned, leftOut: [] }, rows).absent).toMatchObject([{ name: 'B_1' }]);
  });

  it('is the same in the plan that is shown, which calls live runs live and shows how others are resumed', () => {
    const found = difference(text({ seeds: four }), text({ seeds: four, n: 20 }), states);
    const options = {
      width: 100,
      verbose: false,
      slots: ['cpu 0'],
      time: 'about 10s more (1 slot)',
      clock: { now: 0, zone: 'UTC' },
    };
    const shown = planLines(found, planOf(text({ seeds: four, n: 20 })), options);
    expect(shown).toEqual(
      expect.arrayContaining([
        '  to do  2 to resume, 1 queued, 1 running',
        '  time   about 10s more (1 slot)',
        'changes: 4 with a larger budget',
        '  running  A_s1: n grew from 10 to 20, to continue with it; attempt 1',
        '  queued   A_s2: n grew from 10 to 20, to start with it; not started yet',
        '           with --resume latest',
      ]),
    );
    const json = planJson({ difference: found, estimate: null }, planOf(text({ seeds: four, n: 20 })), {
      slots: [],
      now: 0,
    });
    expect(json).toMatchObject({
      changes: { new: 0, longer: { done: 1, running: 1, queued: 1, failed: 1 }, again: 0, same: 0 },
      estimate: null,
      runs: [
        { name: 'A_s0', state: 'resume', live: 'done', change: 'longer', resumeArgs: ['--resume', 'latest'] },
        { name: 'A_s1', live: 'running', change: 'longer', resumeArgs: ['--resume', 'latest'] },
        { name: 'A_s2', state: 'new', live: 'queued', change: 'longer', resumeArgs: [] },
        { name: 'A_s3', live: 'failed', change: 'longer', resumeArgs: ['--resume', 'latest'] },
      ],
    });
  });

  it('has each run of both files once, whatever they are', () => {
    const seeds = fc.uniqueArray(fc.nat(6), { minLength: 1 });
    const state = fc.constantFrom<RunWord>('queued', 'running', 'done', 'failed', 'held');
    fc.assert(
      fc.property(
        seeds,
        seeds,
        fc.array(state, { minLength: 7, maxLength: 7 }),
        fc.constantFrom(5, 10, 20),
        (before, now, each, n) => {
          const all = Object.fromEntries(each.map((word, seed) => [`A_s${seed}`, word]));
          const found = difference(text({ seeds: before.join() }), text({ seeds: now.join(), n }), all);
          expect(found.changes.map(({ run }) => run.name)).toEqual(now.map((seed) => `A_s${seed}`));
          expect(found.absent.map(({ name }) => name)).toEqual(
            before.filter((seed) => !now.includes(seed)).map((seed) => `A_s${seed}`),
          );
          for (const { run, kind, growth } of found.changes) {
            const wasThere = before.includes(Number(run.name.slice(3)));
            expect(kind === 'new').toBe(!wasThere);
            expect(growth === null).toBe(!wasThere || n <= 10);
          }
        },
      ),
    );
  });
});
