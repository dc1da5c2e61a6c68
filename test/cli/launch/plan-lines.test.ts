import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunFacts } from '../../../src/base/outcome.js';
import { compactNames } from '../../../src/text/compact-names.js';
import type { Planned } from '../../../src/cli/launch/read.js';
import { planJson } from '../../../src/cli/launch/launch.js';
import { planLines } from '../../../src/cli/launch/plan-lines.js';
import { completionOf } from '../../../src/spec/policy/completion.js';
import { noFacts, planOf } from '../../spec/sweeps.js';
import { unknown } from './unknown.js';

const text = `
name: tune
description: Which learning rate, and does it hold for a larger model?
command: [python, train.py, "--out=\${run_dir}", "\${args}"]
parameters: { seed: [0, 1], note: it's a trial }
groups:
  data: { title: Tokens, optional: true, command: [./prepare, data set], parameters: { seed: 0 } }
  small:
    title: Small models first
    needs: data
    subgroup: "lr {lr}"
    parameters: { lr: [0.1, 0.01] }
  large: { needs: [data, small], env: { MODE: long run }, cwd: big, parameters: { layers: 12 } }
`;
const plan = planOf(text, { path: 'tune.yaml' });
/** The second run of each group failed, the third is done. */
const planned: Planned[] = plan.runs.map((run) => {
  const index = plan.runs.filter(({ group }) => group === run.group).indexOf(run);
  const facts: RunFacts = {
    ...noFacts,
    known: true,
    identity: run.identity,
    attempts: 1,
    exitCode: index === 1 ? 3 : 0,
  };
  return { run, standing: completionOf(run, index === 1 || index === 2 ? facts : noFacts) };
});
const options = { width: 80, verbose: false, slots: ['cpu 0', 'cpu 1'], time: null, clock: { now: 0, zone: 'UTC' } };

describe('the plan of a sweep', () => {
  it('says how runs are treated where that is not the usual way, and which where not all are', () => {
    const odd = planOf(`
name: odd
command: [true, "\${n}"]
timeout: 2h
parameters: { n: [1, 2, 3] }
groups:
  first: { priority: 5, retry: 2 }
  then: { needs: first }
`);
    const all = odd.runs.map((run) => ({ run, standing: completionOf(run, noFacts) }));
    all[4] = { ...all[4]!, run: { ...all[4]!.run, priority: -1 } };
    const lines = planLines(unknown(all, odd), odd, options);
    expect(lines).toContain('  policy   priority 5; 2 retries; at most 2h');
    expect(lines).toContain(`  policy   at most 2h; priority -1 (${all[4].run.name})`);
    expect(planJson({ difference: unknown(all, odd), estimate: null }, odd, { slots: [], now: 0 })).toMatchObject({
      runs: [{ policy: ['priority 5', '2 retries', 'at most 2h'] }, {}, {}, {}, {}, {}],
    });
  });

  it('tells groups, counts, names, what varies, commands, and what is skipped or resumed and why', () => {
    expect(planLines(unknown(planned, plan), plan, options).join('\n')).toMatchInlineSnapshot(`
      "tune
        Which learning rate, and does it hold for a larger model?

        runs   6 runs in 2 groups, + 1 prerequisite
        to do  4 to start, 2 to resume, 1 already done
        slots  2 (cpu 0, cpu 1)
        into   /runs/tune
        from   /home/ada

      changes: 4 new runs
        data  1 new: data
        small  2 new: small_s{0_lr0.1,1_lr0.01}
               1 unfinished to be started again
               1 unchanged: 1 done
        large  1 new: large_s0
               1 unfinished to be started again

      data  Tokens                                                      1 prerequisite
        names    data
        command  ./prepare 'data set'

      small  Small models first                                                 4 runs
        after    data
        names    lr 0.1     2  small_s{0,1}_lr0.1
                 lr 0.01    2  small_s{0,1}_lr0.01
        varies   seed 0 1
                 lr 0.1 0.01
        resume   small_s0_lr0.01: attempt 1 ended with exit code 3
        skip     small_s1_lr0.1: exit code 0
        command  python train.py --out=/runs/tune/small_s0_lr0.1 --seed=0 \\
                   '--note=it'\\''s a trial' --lr=0.1

      large                                                                     2 runs
        after    data, small
        names    large_s{0,1}
        varies   seed 0 1
        resume   large_s1: attempt 1 ended with exit code 3
        command  cd /home/ada/big && MODE='long run' python train.py \\
                   --out=/runs/tune/large_s0 --seed=0 '--note=it'\\''s a trial' \\
                   --layers=12

      Commands are those of the first run of each group; --verbose shows all."
    `);
  });

  it('tells every run with --verbose', () => {
    const lines = planLines(unknown(planned, plan), plan, { ...options, verbose: true });
    for (const { run, standing: now } of planned) expect(lines.join('\n')).toContain(`${run.name}: ${now.reason}`);
    expect(lines.filter((line) => line.includes('command')).length).toBe(planned.length);
  });

  it.each([60, 80, 100, 120, 200])('stays within %i columns where words allow it', (width) => {
    const wide = planLines(unknown(planned, plan), plan, { ...options, width }).filter((line) => line.length > width);
    expect(wide).toEqual([]);
  });

  it('has commands that a shell reads as they will be run', () => {
    const lines = planLines(unknown(planned, plan), plan, { ...options, width: 60 });
    const start = lines.findIndex((line) => line.includes('command') && line.includes('MODE='));
    const end = lines.findIndex((line, index) => index >= start && !line.endsWith('\\'));
    const [, command] = /&& (.*)/s.exec(lines.slice(start, end + 1).join('\n'))!;
    const folder = mkdtempSync(join(tmpdir(), 'plan-'));
    // A program of the same name that tells what it was given.
    writeFileSync(join(folder, 'python'), '#!/bin/sh\nprintf "%s\\n" "$MODE" "$@"\n', { mode: 0o755 });
    const told = execFileSync('sh', ['-c', command!], {
      env: { PATH: `${folder}:${process.env['PATH']}` },
      encoding: 'utf8',
    });
    rmSync(folder, { recursive: true });
    const { argv, env } = planned.find(({ run }) => run.group === 'large')!.run;
    expect(told.trimEnd().split('\n')).toEqual([env['MODE'], ...argv.slice(1)]);
  });

  it('is one object for scripts', () => {
    expect(
      JSON.parse(
        JSON.stringify(
          planJson({ difference: unknown(planned, plan), estimate: null }, plan, { slots: options.slots, now: 0 }),
        ),
      ),
    ).toMatchObject({
      sweep: 'tune',
      slots: ['cpu 0', 'cpu 1'],
      runs: planned.map(({ run, standing: now }) => ({
        ...{ name: run.name, group: run.group, subgroup: run.subgroup, parameters: run.parameters, argv: run.argv },
        ...{ env: run.env, cwd: run.cwd, needs: run.needs, state: now.state, reason: now.reason },
      })),
    });
  });
});

describe('names written compactly', () => {
  it.each([
    { names: ['a'], is: 'a' },
    { names: ['x_s0', 'x_s1', 'x_s2'], is: 'x_s{0,1,2}' },
    { names: ['N16_a', 'N1024_a'], is: 'N{16,1024}_a' },
    { names: ['lr0_s1', 'lr0.5_s1'], is: 'lr{0,0.5}_s1' },
    { names: ['a', 'b'], is: '{a,b}' },
    { names: ['a', 'ab'], is: '{a,ab}' },
    { names: ['a_lr0.1_s0', 'a_lr0.1_s1', 'a_lr0.03_s0', 'a_lr0.03_s1'], is: 'a_lr{0.1,0.03}_s{0,1}' },
    { names: ['a_lr0.1_s0', 'a_lr0.03_s0', 'a_lr0.1_s1', 'a_lr0.03_s1'], is: 'a_lr{0.1,0.03}_s{0,1}' },
    { names: ['lr1e-05', 'lr1e-04', 'lr0.1'], is: 'lr{1e-05,1e-04,0.1}' },
    { names: ['a_lr0.1', 'a_lr0.1_s1', 'a_lr0.15'], is: 'a_lr{0.1,0.1_s1,0.15}' },
    { names: ['opt-adam_s0', 'opt-adamw_s0'], is: 'opt-{adam,adamw}_s0' },
    { names: ['N7B', 'N70B'], is: 'N{7,70}B' },
    { names: Array.from({ length: 30 }, (_, index) => `run_${index}`), is: 'run_0 … run_29 (30)' },
  ])('$is', ({ names, is }) => {
    expect(compactNames(names, 40)).toBe(is);
  });

  it('are what a shell with braces would write out again', () => {
    const name = fc
      .array(fc.constantFrom('a', 'b', '1', '2', '.', '_', 's0'), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.uniqueArray(name, { minLength: 2, maxLength: 5 }), (names) => {
        expect(expanded(compactNames(names, Infinity)).sort()).toEqual(names.sort());
      }),
    );
  });
});

function expanded(text: string): string[] {
  const [, start, middle, end] = /^(.*)\{([^{]*)\}(.*)$/.exec(text) ?? [];
  return middle === undefined ? [text] : middle.split(',').flatMap((part) => expanded(`${start}${part}${end}`));
}
