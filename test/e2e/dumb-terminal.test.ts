import { expect, it } from 'vitest';
import { openTerminal } from '../../scripts/terminal.js';
import { program, workplace } from './program.js';

const { folder, write } = workplace();

it('gives a terminal that cannot place the cursor one line per event, and says why', async () => {
  write('short.yaml', 'command: [sh, -c, "echo ok"]\nparameters: { n: [1, 2] }\n');
  const terminal = openTerminal({
    command: process.execPath,
    args: [program, 'short.yaml'],
    columns: 120,
    rows: 40,
    cwd: folder(),
    environment: { ...process.env, TERM: 'dumb' },
  });
  expect((await terminal.ended()).code).toBe(0);
  const shown = terminal.lines().join('\n');
  terminal.close();
  expect(shown).toContain('TERM is dumb: the window cannot be drawn');
  expect(shown).toContain('2 done, 0 failed');
  expect(terminal.output).not.toContain('\u001b[?1049h');
});
