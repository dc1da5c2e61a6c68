import { expect, it } from 'vitest';
import { eventually, isAlive, workplace } from './program.js';

const { read, run, write, supervisorPid } = workplace();

const sweep = "command: [sh, -c, 'date +%s > $MEMRL_RUN_DIR/up']\nparameters: { n: [0, 1] }\nresources: { gpus: 0 }\n";

type Plan = { runs: { name: string; state: string; reason: string | null; startsAt: string | null }[] };

async function rows(): Promise<Plan['runs']> {
  return JSON.parse((await run('ls', '--json')).out) as Plan['runs'];
}

it('starts runs at the time of --at, though nobody looks and the supervisor has nothing else to do', async () => {
  write('s.yaml', sweep);
  const asked = Date.now();
  expect((await run('s.yaml', '--at', '+4s', '--detach')).code).toBe(0);
  const before = supervisorPid();
  const [first] = await rows();
  expect([first!.state, first!.reason]).toEqual(['queued', expect.stringMatching(/^starts at \d\d:\d\d/)]);
  expect(read('runs/s/n0/up')).toBe('');
  await eventually(() => read('runs/s/n0/up') !== '' && read('runs/s/n1/up') !== '', 'both runs to be up');
  expect(supervisorPid()).toBe(before);
  expect(Number(read('runs/s/n0/up')) * 1000).toBeGreaterThanOrEqual(Math.floor((asked + 4000) / 1000) * 1000);
  expect((await run('wait', 's')).code).toBe(0);
});

it('knows the time after a supervisor was killed, and lets a user start before it', async () => {
  write('s.yaml', `${sweep}start: { after: 2h }\n`);
  expect((await run('s.yaml', '--detach')).out).toMatch(/^2 runs start at \d\d:\d\d.*, in (1h59m|2h00m);/m);
  const before = await rows();
  const pid = supervisorPid()!;
  process.kill(pid, 'SIGKILL');
  await eventually(() => !isAlive(pid), 'the supervisor to be gone');
  expect((await run('restart')).code).toBe(0);
  const after = await rows();
  expect(after.map(({ state, startsAt }) => [state, startsAt])).toEqual(
    before.map(({ startsAt }) => ['queued', startsAt]),
  );
  const refused = await run('resume', 'n0');
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('`release` starts it now')]);
  // To launch the file again puts nothing off.
  expect((await run('s.yaml', '--detach')).code).toBe(0);
  expect((await rows()).map(({ startsAt }) => startsAt)).toEqual(before.map(({ startsAt }) => startsAt));
  expect((await run('release', 'sweep:s', '-y')).out).toContain('2 runs released');
  expect((await run('wait', 's')).code).toBe(0);
  expect(read('runs/s/n1/up')).not.toBe('');
});

it('shows in the plan when a group starts, and refuses times that are none or have passed', async () => {
  write('s.yaml', `${sweep}groups:\n  a: { start: { at: '2040-05-01 22:00' } }\n  b: {}\n`);
  const { out } = await run('s.yaml', '--dry-run');
  expect(out).toContain('starts   at 22:00 on 1 May 2040, in ');
  expect(out.split('starts ')).toHaveLength(3);
  const json = JSON.parse((await run('s.yaml', '--dry-run', '--json', '--at', '2041-01-01 00:00Z')).out) as Plan;
  expect(new Set(json.runs.map(({ startsAt }) => startsAt))).toEqual(new Set(['2041-01-01T00:00:00.000Z']));
  const past = await run('s.yaml', '--at', '2020-01-01 22:00');
  expect([past.code, past.err]).toEqual([2, expect.stringContaining('--at 2020-01-01 22:00 has passed: it is 20')]);
  expect((await run('s.yaml', '--at', '25:00')).err).toContain('`--at 22:00`');
  write('s.yaml', `${sweep}start:\n  at: '25:00'\n`);
  expect((await run('s.yaml', '--dry-run')).err).toContain('s.yaml:5:7: start.at: expected a time of day');
});
