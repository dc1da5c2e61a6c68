import { expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, write, read } = workplace();

const sweep = (seeds: string) => `
name: s
resources: { gpus: 0 }
breaker: false
groups:
  base: { command: [sh, -c, 'test \${seed} != 3'], name: 'base_{seed}', parameters: { seed: [${seeds}] } }
  then: { needs: base, command: [sh, -c, 'cat "$0"/base_*/run.json > "$0/read"', '\${sweep_dir}'], name: then, cases: [{}] }
`;
const states = async () =>
  Object.fromEntries(
    (JSON.parse((await run('ls', 's', '--json')).out) as { name: string; state: string; reason: string | null }[]).map(
      ({ name, state, reason }) => [name, reason ?? state],
    ),
  );

it('starts what needs a group when the run that failed has left the file, and not before', async () => {
  write('s.yaml', sweep('1, 3'));
  expect(await run('s.yaml', '--plain')).toMatchObject({ code: 3, err: '' });
  const broken = { base_1: 'done', base_3: 'exit code 1', then: 'needs base, which failed' };
  expect(await states()).toEqual(broken);

  // Who launches some runs of a group says nothing of the others.
  await run('s.yaml', '--sweep', 'base', '--set', 'base.seed=[1]', '--plain');
  expect(await states()).toEqual(broken);

  write('s.yaml', sweep('1, 2'));
  await run('s.yaml', '--plain');
  expect(await states()).toEqual({ base_1: 'done', base_2: 'done', base_3: 'exit code 1', then: 'done' });
  // Records of all runs that it needs were there when it started.
  const records = read('runs/s/read')
    .trim()
    .split(/\n(?=\{)/)
    .map((text) => JSON.parse(text) as { attempts: { outcome: unknown }[] });
  expect(records.map(({ attempts }) => attempts[0]!.outcome)).toEqual([
    { kind: 'done' },
    { kind: 'done' },
    { kind: 'failed', code: 1 },
  ]);

  // In the file again, it counts again.
  write('s.yaml', sweep('1, 3').replace('name: then, cases: [{}]', "name: 'then_{n}', cases: [{ n: 2 }]"));
  await run('s.yaml', '--plain');
  expect(await states()).toMatchObject({ base_3: 'exit code 1', then_2: 'needs base, which failed' });
});
