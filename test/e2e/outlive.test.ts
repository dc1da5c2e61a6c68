import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually, isAlive, workplace } from './program.js';

const place = workplace();
const { write, read, run, open, at, supervisorPid } = place;

/** Runs that note each start and go on until a file called `go` appears. */
const patient = `
command:
  - sh
  - -c
  - 'echo $$ >> "\${run_dir}/starts"; while [ ! -e go ]; do sleep 0.05; done'
parameters:
  n: [1, 2, 3, 4]
name: patient
`;

/** Pids of a run's starts, oldest first. */
function starts(run: string): number[] {
  return read(`runs/patient/${run}/starts`).split('\n').filter(Boolean).map(Number);
}

async function runNames(): Promise<string[]> {
  const { out } = await run('patient.yaml', '--dry-run', '--json');
  return (JSON.parse(out) as { runs: { name: string }[] }).runs.map(({ name }) => name);
}

describe('runs', () => {
  it('go on when the supervisor is killed, and the next launch loses none and starts none twice', async () => {
    write('patient.yaml', patient);
    const all = await runNames();
    expect(all).toHaveLength(4);
    expect((await run('patient.yaml', '--detach', '--slots', '2')).code).toBe(0);
    await eventually(() => all.slice(0, 2).every((name) => starts(name).length === 1), 'two runs to start');
    process.kill(supervisorPid()!, 'SIGKILL');
    await eventually(() => all.slice(0, 2).every((name) => isAlive(starts(name)[0]!)), 'both to be alive');

    const again = run('patient.yaml', '--plain');
    await eventually(() => supervisorPid() !== null && isAlive(supervisorPid()!), 'another supervisor');
    write('go', '');
    const { code, out } = await again;
    expect(code).toBe(0);
    expect(out).toContain('4 done, 0 failed');
    for (const name of all) expect({ name, starts: starts(name).length }).toEqual({ name, starts: 1 });
  });

  it('that failed are started again by the next launch, which waits for their end', { tags: ['long'] }, async () => {
    write('second.yaml', "command: [sh, -c, 'sleep 0.5; test -e ok']\nparameters: { n: [1, 2, 3] }\n");
    const first = await run('second.yaml', '--plain', '--slots', '1');
    expect(first.code).toBe(3);
    expect(first.out).toContain('0 done, 3 failed');
    write('ok', '');
    const second = await run('second.yaml', '--plain', '--slots', '1');
    expect(second.out).toContain('3 done, 0 failed');
    expect(second.code).toBe(0);
  });

  it(
    'go on when their window is left and their terminal closed, and are shown by attach',
    { tags: ['long'] },
    async () => {
      write('patient.yaml', patient);
      const [first] = await runNames();
      const window = open('patient.yaml', '--slots', '2');
      await window.waitFor((rows) => rows.some((row) => row.includes('2 running')));
      window.write('q');
      expect((await window.ended()).code).toBe(0);
      expect(window.isAlternate()).toBe(false);
      expect(window.output).toContain('memrl-tui attach');
      window.close();

      const closed = open('attach');
      await closed.waitFor((rows) => rows.some((row) => row.includes('2 running')));
      closed.kill('SIGHUP');
      await closed.ended();
      closed.close();
      expect(isAlive(starts(first!)[0]!)).toBe(true);

      const third = open('attach', 'patient');
      await third.waitFor((rows) => rows.some((row) => row.includes('2 running')));
      write('go', '');
      await third.waitFor((rows) => rows.some((row) => row.includes('all 4 runs done')));
      third.write('q');
      await third.ended();
      third.close();
    },
  );

  it(
    'are gone with their children after k y, say so on their row, and start again with r',
    { tags: ['long'] },
    async () => {
      write(
        'tree.yaml',
        `
command: [sh, -c, 'sleep 1000 & echo $! >> \${run_dir}/children; sleep 1000']
grace: 2
groups:
  a: { parameters: { n: [1, 2] } }
  b: { parameters: { n: [3] } }
`,
      );
      const window = open('tree.yaml', '--slots', '3');
      await window.waitFor((rows) => rows.some((row) => row.includes('3 running')));
      // Onto the first run: the group's row is first.
      window.write('\u001b[B');
      await eventually(() => childrenIn(at('runs/tree')).length === 3, 'children');
      window.write('k');
      await window.waitFor((rows) => rows.some((row) => /Kill a_n1\?/.test(row)));
      window.write('y');
      await window.waitFor((rows) => rows.some((row) => row.includes('1 killed')));
      expect(childrenIn(at('runs/tree')).map(isAlive)).toEqual([false, true, true]);
      window.write('r');
      await window.waitFor((rows) => rows.some((row) => row.includes('3 running')));
      window.write('K');
      await window.waitFor((rows) => rows.some((row) => /Kill 2 runs of a/.test(row)));
      window.write('y');
      await window.waitFor((rows) => rows.some((row) => row.includes('2 killed')));
      // The group of the selection, and no other.
      await window.waitFor((rows) => rows.some((row) => row.includes('1 running')));
      expect(childrenIn(at('runs/tree')).filter(isAlive)).toHaveLength(1);
      window.write('q');
      await window.ended();
      expect((await run('ls', 'sweep:tree', '--json')).out).toMatch(/"name": "b[^}]*"state": "running"/);
      window.close();
    },
  );
});

/** Pids of the children that the runs noted, in order of run. */
function childrenIn(sweep: string): number[] {
  return ['a_n1', 'a_n2', 'b'].flatMap((name) => {
    try {
      return readFileSync(`${sweep}/${name}/children`, 'utf8').trim().split('\n').map(Number);
    } catch {
      return [];
    }
  });
}
