import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OpenTerminal } from '../../../scripts/terminal.js';
import { bundledFile } from '../../bundled.js';
import { expectModesLeft, expectRestored, startInShell, startWindow, windowPid } from '../window-terminal.js';

let program: string;
let terminals: OpenTerminal[] = [];
beforeAll(async () => void (program = await bundledFile('test/tui/window-program.ts')));
afterEach(() => {
  terminals.forEach((terminal) => terminal.close());
  terminals = [];
});

/** The window, once it is drawn. */
async function start(mode = 'plain', environment: Record<string, string> = {}): Promise<OpenTerminal> {
  const terminal = startWindow(program, { mode, environment });
  terminals.push(terminal);
  await terminal.waitFor((rows) => rows.some((row) => row.includes('detach') || row.includes('scroll')));
  return terminal;
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

  it('sends a kill after a yes only, never after a second k, and shows the answer', async () => {
    const terminal = await start();
    terminal.write('3\u001b[B\u001b[B\u001b[B\u001b[B');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('│ ● C_dense_multi_N16_s2')));
    terminal.write('k');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('Kill C_dense_multi_N16_s2?')));
    terminal.write('k');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('Nothing was killed.')));
    terminal.write('ky');
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

  it('shows the results on S when all runs have ended, and says so on leaving', async () => {
    const terminal = await start('ended');
    await terminal.waitFor((rows) => rows.some((row) => /S (shows the )?results/.test(row)));
    expect(terminal.lines().join('\n')).not.toContain('A_B8      0.0121');
    terminal.write('S');
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
    process.kill(windowPid(terminal), signal);
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
    const terminal = startWindow(program, { mode: 'broken' });
    terminals.push(terminal);
    const rows = await expectRestored(terminal);
    expect(rows).toContain('failed: broken by the test program');
  });

  it('an end of the process from anywhere in it', async () => {
    const terminal = await start('exit');
    expect(await expectRestored(terminal)).toContain('code 7');
  });

  it('the loss of the terminal ends the process', { tags: ['long'] }, async () => {
    const terminal = await start();
    const pid = windowPid(terminal);
    terminal.close();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it.each<[string, (terminal: OpenTerminal) => void]>([
    ['Ctrl-Z', (terminal) => terminal.write('\u001a')],
    ['SIGTSTP from outside', (terminal) => process.kill(windowPid(terminal), 'SIGTSTP')],
  ])('%s, and fg brings the window back', async (_, stop) => {
    const terminal = await startInShell(program);
    terminals.push(terminal);
    stop(terminal);
    // The shell listens again once its prompt is there.
    await terminal.waitFor((rows) => {
      const stopped = rows.findIndex((row) => row.includes('Stopped'));
      return stopped >= 0 && rows.slice(stopped + 1).some((row) => row.startsWith('$'));
    });
    expect(terminal.isAlternate()).toBe(false);
    expectModesLeft(terminal);
    terminal.write('echo typed by a person\r');
    await terminal.waitFor((rows) => rows.some((row) => row === 'typed by a person'));
    terminal.write('fg\r');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('detach')) && rows[0]!.includes('abcd'));
    expect(terminal.isAlternate()).toBe(true);
    expect(terminal.output.lastIndexOf('\u001b[?1000h')).toBeGreaterThan(terminal.output.lastIndexOf('\u001b[?1000l'));
    terminal.write('2');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('│ B  secret size')));
    terminal.write('q');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('left: detached')));
    expectModesLeft(terminal);
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
