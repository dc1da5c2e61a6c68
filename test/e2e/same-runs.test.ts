import { existsSync, rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually, isAlive, workplace } from './program.js';

const place = workplace();

/** Each start is written down; a run ends when the gate is open. */
const sweep = (parameters: string, rest = '') => `name: s
command: [sh, -c, 'echo "$0 $@" >> starts; while ! test -e gate; do sleep 0.05; done', '\${run_name}', '\${args}']
extends: steps
resources: { gpus: 0 }
parameters: { ${parameters} }
${rest}`;

const starts = () => place.read('starts').split('\n').filter(Boolean).toSorted();

async function launch(text: string, ...options: string[]): Promise<string> {
  place.write('s.yaml', text);
  const { out, err, code } = await place.run('s.yaml', '--plain', ...options);
  expect(err).toBe('');
  expect(code).toBe(0);
  return out;
}

type Shown = { runs: { name: string; nameByFile: string; change: string; changedSince: string[] }[] };

/** What a launch would do, of each run: `new lr0.1_s1`. */
async function shown(text: string): Promise<string[]> {
  place.write('s.yaml', text);
  const { out } = await place.run('s.yaml', '--dry-run', '--json');
  return (JSON.parse(out) as Shown).runs.map(({ name, change }) => `${change} ${name}`);
}

/** The supervisor ends by itself when there is nothing to do. */
async function supervisorEnds(): Promise<void> {
  const pid = place.supervisorPid();
  if (pid === null) return;
  process.kill(pid, 'SIGKILL');
  await eventually(() => !isAlive(pid), 'the supervisor to end');
}

describe('runs that are done', () => {
  it(
    'stay done and keep their names through edits, with a supervisor, without, and without a journal',
    { tags: ['long'] },
    async () => {
      place.write('gate', '');
      await launch(sweep('lr: [0.1, 0.2], seed: [0], steps: 10'));
      expect(starts()).toEqual(['lr0.1 --lr=0.1 --seed=0 --steps=10', 'lr0.2 --lr=0.2 --seed=0 --steps=10']);
      const grown = sweep('lr: [0.1, 0.2], seed: [0, 1], steps: 10');
      expect(await shown(grown)).toEqual(['same lr0.1', 'new lr0.1_s1', 'same lr0.2', 'new lr0.2_s1']);
      await launch(grown);
      expect(starts()).toHaveLength(4);

      await supervisorEnds();
      const narrower = sweep('seed: [0], lr: [0.2], steps: 20');
      expect(await shown(narrower)).toEqual(['longer lr0.2']);
      await launch(narrower);
      expect(starts().slice(-2)).toEqual(
        ['lr0.2_s1 --lr=0.2 --seed=1 --steps=10', 'lr0.2 --seed=0 --lr=0.2 --steps=20'].toSorted(),
      );

      await supervisorEnds();
      rmSync(place.at('runs/.supervisor'), { recursive: true });
      const renamed = sweep(
        'lr: [1e-1, 2e-1, 3e-1], seed: [0, 1], steps: 10',
        'groups: { runs: { name: "r{lr}-{seed}" } }',
      );
      expect(await shown(renamed)).toEqual([
        ...['same lr0.1', 'same lr0.1_s1', 'same lr0.2', 'same lr0.2_s1'],
        ...['new r0.3-0', 'new r0.3-1'],
      ]);
      expect(await launch(renamed)).toContain('6 done');
      expect(starts()).toHaveLength(7);
    },
  );

  it(
    'are said to be done before a change of the command, and run again when they were cleaned',
    { tags: ['long'] },
    async () => {
      place.write('gate', '');
      const text = sweep('lr: [0.1, 0.2], steps: 1');
      await launch(text);
      const changed = text.replace("'${args}'", "'${args}', --fast");
      place.write('s.yaml', changed);
      const plan = await place.run('s.yaml', '--dry-run');
      expect(plan.out).toContain('2 done and not run again: command changed since they ran');
      expect(await launch(changed)).toContain('2 done and not run again: command changed since they ran');
      expect(starts()).toHaveLength(2);
      const cleaned = await place.run('clean', '--done', 'sweep:s group:runs status:done', '-y');
      expect([cleaned.code, cleaned.err]).toEqual([0, '']);
      await launch(changed);
      expect(
        starts()
          .slice(0, 4)
          .filter((line) => line.endsWith('--fast')),
      ).toHaveLength(2);
      expect((await place.run('s.yaml', '--dry-run')).out).not.toContain('changed since');
    },
  );

  it('are not yet those that have written what makes them done, and are still up', { tags: ['long'] }, async () => {
    place.write(
      's.yaml',
      `name: s
command: [sh, -c, 'touch "$0/model.pt"; while ! test -e gate; do sleep 0.05; done', '\${run_dir}']
done: { file: model.pt }
resources: { gpus: 0 }
parameters: { seed: [0, 1] }
`,
    );
    await place.run('s.yaml', '--detach');
    const isWritten = (run: string) =>
      place.read(`runs/s/${run}/run.json`) !== '' && existsSync(place.at(`runs/s/${run}/model.pt`));
    await eventually(() => isWritten('s0') && isWritten('s1'), 'the files');
    expect((await place.run('s.yaml', '--detach')).out).toContain('s: 2 runs are supervised.');
    place.write('gate', '');
    expect((await place.run('s.yaml', '--plain')).out).toMatch(/2 done/);
    expect((await place.run('s.yaml', '--plain')).out).toContain('nothing to do, all 2 runs are done');
  });

  it('are no others than those that wait under an older name', async () => {
    place.write('s.yaml', sweep('lr: [0.1, 0.2], seed: [0], steps: 1'));
    await place.run('s.yaml', '--slots', '1', '--detach');
    await eventually(() => starts().length === 1, 'the first run to be up');
    const grown = sweep('lr: [0.1, 0.2], seed: [0, 1], steps: 1');
    expect(await shown(grown)).toEqual(['same lr0.1', 'new lr0.1_s1', 'same lr0.2', 'new lr0.2_s1']);
    place.write('gate', '');
    await launch(grown);
    expect(starts().map((line) => line.split(' ')[0])).toEqual(['lr0.1', 'lr0.1_s1', 'lr0.2', 'lr0.2_s1']);
  });
});
