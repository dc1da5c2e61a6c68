import { expect, it } from 'vitest';
import { eventually, isAlive, workplace } from './program.js';

const { write, run, open, supervisorPid } = workplace();

it('a read-only window shows what happens and refuses in words what would change it, and starts no supervisor', async () => {
  write('patient.yaml', "command: [sh, -c, 'echo begun; while [ ! -e go ]; do sleep 0.05; done']\n");
  expect((await run('patient.yaml', '--detach')).code).toBe(0);
  const window = open('attach', 'patient', '--read-only');
  await window.waitFor((rows) => rows.some((row) => row.includes('1 running')) && rows[0]!.includes('read-only'));
  window.write('\u001b[B');
  for (const [key, says] of [
    ['k', 'This window is read-only.'],
    ['+', 'this window is read-only'],
    ['e', 'This window is read-only. → Open one without --read-only.'],
  ] as const) {
    window.write(key);
    await window.waitFor((rows) => rows.some((row) => row.includes(says)));
    // The note is gone with the next key.
    window.write('\u001b[B');
    await window.waitFor((rows) => !rows.some((row) => row.includes(says)));
  }
  write('go', '');
  await window.waitFor((rows) => rows.some((row) => row.includes('all 1 runs done')));
  window.write('q');
  await window.ended();
  window.close();
  const pid = supervisorPid();
  await eventually(() => pid === null || !isAlive(pid), 'the supervisor to leave');
  const { code, err } = await run('attach', '--read-only');
  expect({ code, err }).toMatchObject({
    code: 2,
    err: expect.stringContaining('a read-only window starts none') as string,
  });
});
