import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { identityOf } from '../../src/processes/process-identity.js';
import { eventually, isAlive, workplace } from './program.js';

const { at, read, run, runShipped, write, supervisorPid } = workplace();

/** A run that waits for its end, and one that follows it. */
async function launch(): Promise<number> {
  write(
    's.yaml',
    "command: [sh, -c, 'echo up >> $MEMRL_RUN_DIR/ups; while test ! -e end; do sleep 0.1; done']\nparameters: { n: { values: [0, 1] } }\n",
  );
  expect((await run('s.yaml', '--detach', '--slots', '1', '--gpus', 'none')).code).toBe(0);
  await eventually(() => read('runs/s/n0/ups') !== '', 'the first run to be up');
  return supervisorPid()!;
}

it.each([
  { how: 'that listens', prepare: (): void => undefined, said: '' },
  { how: 'that is stopped', prepare: (pid: number): void => void process.kill(pid, 'SIGSTOP'), said: 'is killed' },
])('restart replaces a supervisor $how; its runs continue, and none is started again', async ({ prepare, said }) => {
  const before = await launch();
  prepare(before);
  const { code, out, err } = await runShipped('restart', '--json');
  expect([code, err.includes(said)]).toEqual([0, true]);
  const { pid, replaced, runs } = JSON.parse(out) as { pid: number; replaced: number; runs: number };
  expect([replaced, runs, pid === before, isAlive(before), supervisorPid()]).toEqual([before, 1, false, false, pid]);
  write('end', '');
  expect((await run('wait', 's')).code).toBe(0);
  for (const name of ['n0', 'n1'])
    expect(
      readFileSync(at(`runs/s/${name}/ups`), 'utf8')
        .trim()
        .split('\n'),
    ).toHaveLength(1);
});

it('restart starts a supervisor where there is none, and refuses where nothing was ever launched', async () => {
  expect((await run('restart')).err).toContain('There is no runs directory');
  const before = await launch();
  process.kill(before, 'SIGKILL');
  await eventually(() => !isAlive(before), 'the supervisor to be gone');
  const { out } = await run('restart', '--json');
  expect(JSON.parse(out)).toMatchObject({ replaced: null, runs: 1 });
  write('end', '');
});

it('restart ends no process that a lock names and that is no supervisor', async () => {
  const before = await launch();
  const lock = JSON.parse(read('runs/.supervisor/lock.json')) as object;
  process.kill(before, 'SIGKILL');
  await eventually(() => !isAlive(before), 'the supervisor to be gone');
  const bystander = spawn('sleep', ['600'], { stdio: 'ignore' });
  try {
    write('runs/.supervisor/lock.json', JSON.stringify({ ...lock, ...identityOf(bystander.pid!) }));
    expect(JSON.parse((await run('restart', '--json')).out)).toMatchObject({ replaced: null, runs: 1 });
    expect(isAlive(bystander.pid!)).toBe(true);
  } finally {
    bystander.kill('SIGKILL');
  }
  write('end', '');
});

it('restart --end ends the supervisor and starts none; its run continues, and the next command takes it over', async () => {
  const before = await launch();
  const { code, out } = await run('restart', '--end');
  expect([code, out]).toEqual([0, expect.stringContaining(`process ${before}, which supervised`)]);
  expect([isAlive(before), supervisorPid()]).toEqual([false, null]);
  expect((await run('restart', '--end')).out).toContain('no supervisor of');
  write('end', '');
  expect((await run('wait', 's')).code).toBe(0);
  expect(read('runs/s/n0/ups').trim().split('\n')).toHaveLength(1);
});
