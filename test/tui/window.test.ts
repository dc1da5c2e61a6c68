import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openTerminal, type OpenTerminal } from '../../scripts/terminal.js';
import { bundleProgram } from './bundle-program.js';

let program: { file: string; remove: () => void };
let terminals: OpenTerminal[] = [];
beforeAll(async () => void (program = await bundleProgram('test/tui/window-program.ts')));
afterAll(() => program.remove());
afterEach(() => {
  terminals.forEach((terminal) => terminal.close());
  terminals = [];
});

const plainShell = {
  ...process.env,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  LC_ALL: undefined,
  NO_COLOR: undefined,
  CI: undefined,
};

/** The window in a real pseudo-terminal, started from a shell that afterwards tells the terminal's modes. */
async function start(mode = 'plain', environment: Record<string, string> = {}): Promise<OpenTerminal> {
  const script = `echo before; "${process.execPath}" "${program.file}" ${mode}; echo "code $?"; stty -a | grep -oE -- '-?(icanon|echo)\\b' | tr '\\n' ' '; echo end`;
  const terminal = openTerminal({
    command: 'sh',
    args: ['-c', script],
    columns: 100,
    rows: 30,
    environment: { ...plainShell, ...environment },
  });
  terminals.push(terminal);
  await terminal.waitFor(
    (rows) => rows.some((row) => row.includes('detach')) || rows.some((row) => row.includes('scroll')),
  );
  return terminal;
}

/** What a person finds after leaving: their own screen, with a cursor and a terminal that echoes. */
async function expectRestored(terminal: OpenTerminal): Promise<string[]> {
  const rows = await terminal.waitFor((lines) => lines.some((line) => line.endsWith('end')));
  expect(terminal.isAlternate()).toBe(false);
  expect(rows[0]).toBe('before');
  expect(rows.join('\n')).toMatch(/(^|\s)icanon (.*\s)?echo\b/);
  const codes = [...terminal.output.matchAll(/\u001b\[\?(25|7|1049|2026)([hl])/g)].map(
    ([, mode, state]) => `${mode}${state}`,
  );
  expect(['25', '7', '1049', '2026'].map((mode) => codes.findLast((code) => code.startsWith(mode)))).toEqual([
    '25h',
    '7h',
    '1049l',
    '2026l',
  ]);
  return rows;
}

/** The pid of the window itself, not of the shell around it. */
async function windowPid(terminal: OpenTerminal): Promise<number> {
  const { readFileSync } = await import('node:fs');
  const children = readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8').trim();
  return Number(children.split(' ')[0]);
}

describe('the window in a terminal', () => {
  it('paints, moves and folds by keys, and leaves by q', async () => {
    const terminal = await start();
    expect(terminal.isAlternate()).toBe(true);
    terminal.write('2');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('│ B  secret size')));
    terminal.write('\u001b[D');
    await terminal.waitFor((rows) => rows.some((row) => /^ *▸ 2 B/.test(row)));
    terminal.write('q');
    const rows = await expectRestored(terminal);
    expect(rows).toContain('left: detached; asked: nothing');
    expect(rows).toContain('code 0');
  });

  it('sends a kill after the second k only, and shows the answer', async () => {
    const terminal = await start();
    terminal.write('3\u001b[B\u001b[B\u001b[B\u001b[B');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('│ ● C_dense_multi_N16_s2')));
    terminal.write('k');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('Kill C_dense_multi_N16_s2?')));
    terminal.write('k');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('it will be done')));
    terminal.write('q');
    const rows = await expectRestored(terminal);
    expect(rows).toContain('left: detached; asked: kill abcd/C_dense_multi_N16_s2');
  });

  it('takes keys that come in one read one by one', async () => {
    const terminal = await start();
    terminal.write('/N64');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('/ N64')));
    terminal.write('\r');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('filter N64')));
  });

  it('fits itself to every size, and comes back to the first', async () => {
    const terminal = await start();
    for (const [columns, rows] of [
      [80, 24],
      [200, 50],
      [45, 12],
      [39, 9],
      [100, 30],
    ] as const) {
      terminal.resize(columns, rows);
      await terminal.waitFor((lines) => {
        const last = lines.at(-1)!;
        return columns < 40
          ? lines[0]!.includes('too small')
          : /detach/.test(last) && lines.filter((line) => /^ ?abcd/.test(line)).length === 1;
      });
    }
    expect(terminal.lines().at(-2)).toContain('metric test/bits_known');
  });

  it('draws while CI is set, where Ink alone draws nothing', async () => {
    const terminal = await start('plain', { CI: 'true' });
    expect(terminal.lines()[0]).toContain('abcd');
  });

  it('shows the table when all runs have ended, and says so on leaving', async () => {
    const terminal = await start('ended');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('A_B8      0.0121')));
    terminal.write('q');
    expect(await expectRestored(terminal)).toContain('left: ended; asked: nothing');
  });
});

describe('every way out restores the terminal', () => {
  it('Ctrl-C', async () => {
    const terminal = await start();
    terminal.write('\u0003');
    expect(await expectRestored(terminal)).toContain('code 0');
  });

  it.each<[string, number]>([
    ['SIGTERM', 143],
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGQUIT', 131],
  ])('%s, and the process dies by it', async (signal, code) => {
    const terminal = await start();
    process.kill(await windowPid(terminal), signal);
    const rows = await expectRestored(terminal);
    expect(rows.join('\n')).toContain(`code ${code}`);
    expect(rows.join('\n')).not.toContain('left:');
  });

  it('an error nobody caught, and its words can be read', async () => {
    const terminal = await start('throw');
    const rows = await expectRestored(terminal);
    expect(rows).toContain('failed: thrown by the test program');
    expect(rows).toContain('code 1');
  });

  it('an error while drawing', async () => {
    const terminal = await start('broken');
    terminal.write('m');
    const rows = await expectRestored(terminal);
    expect(rows).toContain('failed: broken by the test program');
  });

  it('an end of the process from anywhere in it', async () => {
    const terminal = await start('exit');
    expect(await expectRestored(terminal)).toContain('code 7');
  });

  it('the loss of the terminal ends the process', async () => {
    const terminal = await start();
    const pid = await windowPid(terminal);
    terminal.close();
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });

  it('Ctrl-Z, and fg brings the window back', async () => {
    const terminal = openTerminal({
      command: 'bash',
      args: ['--norc', '--noprofile', '-i'],
      columns: 100,
      rows: 30,
      environment: { ...plainShell, PS1: '$ ', PROGRAM: program.file },
    });
    terminals.push(terminal);
    await terminal.waitFor((rows) => rows.some((row) => row.startsWith('$')));
    terminal.write(`"${process.execPath}" "$PROGRAM"\r`);
    await terminal.waitFor((rows) => rows.some((row) => row.includes('detach')));
    terminal.write('\u001a');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('Stopped')));
    expect(terminal.isAlternate()).toBe(false);
    terminal.write('echo typed by a person\r');
    await terminal.waitFor((rows) => rows.some((row) => row === 'typed by a person'));
    terminal.write('fg\r');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('detach')) && rows[0]!.includes('abcd'));
    expect(terminal.isAlternate()).toBe(true);
    terminal.write('2');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('│ B  secret size')));
    terminal.write('q');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('left: detached')));
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
