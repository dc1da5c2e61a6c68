import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OpenTerminal } from '../../scripts/terminal.js';
import { bundledFile } from '../bundled.js';
import { expectRestored, startWindow, windowPid } from './window-terminal.js';

let program: string;
let terminals: OpenTerminal[] = [];
beforeAll(async () => void (program = await bundledFile('test/tui/window-program.ts')));
afterEach(() => {
  terminals.forEach((terminal) => terminal.close());
  terminals = [];
});

async function start(...[options = {}]: [Parameters<typeof startWindow>[1]?]): Promise<OpenTerminal> {
  const terminal = startWindow(program, options);
  terminals.push(terminal);
  await terminal.waitFor((rows) => rows.some((row) => row.includes('detach')));
  return terminal;
}

/** Parameters of all colour and style codes written so far. */
function styles(terminal: OpenTerminal): string[] {
  return [...terminal.output.matchAll(/\u001b\[([0-9;]*)m/g)].flatMap(([, codes]) => codes!.split(';'));
}

describe('what the terminal can show', () => {
  it('is drawn without a colour where NO_COLOR is set', async () => {
    const terminal = await start({ environment: { NO_COLOR: '1' } });
    expect(styles(terminal).filter((code) => !['', '0', '1', '2', '7'].includes(code))).toEqual([]);
  });

  it('is drawn in sixteen colours where there are no more', async () => {
    const terminal = await start({ environment: { TERM: 'xterm' } });
    const codes = styles(terminal).map(Number);
    expect(codes.filter((code) => code === 38 || code === 48)).toEqual([]);
    expect(codes.some((code) => code >= 31 && code <= 37)).toBe(true);
  });

  it('is drawn in ASCII where the locale has no more, and its keys work', async () => {
    const terminal = await start({ environment: { LANG: 'C' } });
    terminal.write('2\r');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('charts')));
    expect(terminal.output.replace(/^before\r?\n/, '')).toMatch(/^[\u0000-\u007f]*$/);
  });

  it('is nothing where it cannot place the cursor; words say what to do instead', async () => {
    const terminal = startWindow(program, { environment: { TERM: 'dumb' } });
    terminals.push(terminal);
    const rows = await terminal.waitFor((lines) => lines.some((line) => line.endsWith('end')));
    expect(rows.join(' ')).toMatch(/TERM is dumb.*cannot be drawn/);
    expect(terminal.output).not.toContain('\u001b[');
  });
});

describe('what some terminals can do besides', () => {
  it('is used for keys where the terminal says so, and put back on leaving', async () => {
    const terminal = await start();
    expect(terminal.output).toContain('\u001b[?u');
    expect(terminal.output).not.toContain('\u001b[>1u');
    terminal.write('\u001b[?0u');
    await expect.poll(() => terminal.output).toContain('\u001b[>1u');
    terminal.write('\u001b[113u');
    await expectRestored(terminal);
    expect(terminal.output).toContain('\u001b[<u');
  });

  it('is used for links to run directories where the terminal is known to have them', async () => {
    const terminal = await start({ environment: { TERM: 'xterm-kitty' }, size: [140, 30] });
    terminal.write('2\u001b[B\u001b[B');
    const link = /\u001b\]8;;file:\/\/[^/]*\/runs\/abcd\/[\w-]+\u001b\\/;
    await expect.poll(() => terminal.output).toMatch(link);
    expect(terminal.output).toMatch(/\u001b\]8;;\u001b\\/);
  });

  it('is left alone where nothing is known of it', async () => {
    const terminal = await start({ size: [140, 30] });
    terminal.write('2\u001b[B\u001b[B');
    await terminal.waitFor((rows) => rows.some((row) => row.includes('/runs/abcd/')));
    expect(terminal.output).not.toContain('\u001b]8;');
  });
});

describe('the window', () => {
  it('stands a storm of sizes, and then fits the last', async () => {
    const terminal = await start();
    for (let turn = 0; turn < 60; turn++) terminal.resize(30 + ((turn * 37) % 190), 6 + ((turn * 13) % 60));
    terminal.resize(90, 26);
    await terminal.waitFor((rows) => {
      const isWhole = rows.length === 26 && /^ abcd/.test(rows[0]!) && /q detach/.test(rows.at(-1)!);
      return isWhole && rows.filter((row) => /q detach/.test(row)).length === 1;
    });
  });

  it(
    'waits for a terminal that reads nothing, holds nothing back for it, and then shows the newest',
    { tags: ['long'] },
    async () => {
      const terminal = await start({ mode: 'busy', size: [200, 60] });
      await terminal.waitFor((rows) => newsIn(rows) > 3);
      const pid = windowPid(terminal);
      terminal.hang();
      let written = -1;
      const isStill = (): boolean => written === (written = bytesWritten(pid));
      await expect.poll(isStill, { interval: 400 }).toBe(true);
      const before = newsIn(terminal.lines());
      const held = terminal.bytes;
      terminal.hang(false);
      await terminal.waitFor((rows) => newsIn(rows) > before + 10);
      // What a hundred frames would be is far more than what was on its way.
      expect(terminal.bytes - held).toBeLessThan(1 << 20);
      terminal.write('q');
      await expectRestored(terminal);
    },
  );

  it('takes up a theme, the keys and the mouse at once', async () => {
    const terminal = await start();
    terminal.write(':theme mono\r');
    await terminal.waitFor((rows) => rows.at(-2)!.includes('theme mono; saved'));
    const until = terminal.output.length;
    terminal.write(':mouse off\r');
    await terminal.waitFor((rows) => rows.at(-2)!.includes('mouse off; saved'));
    expect(terminal.output.slice(until)).toContain('\u001b[?1000l');
    expect(terminal.output.slice(until)).not.toContain('\u001b[?1000h');
    // What was drawn since then has no colours.
    expect(terminal.output.slice(until)).not.toMatch(/\u001b\[[0-9;]*[34]8;5/);
    terminal.write(':keys vim\r');
    await terminal.waitFor((rows) => rows.at(-1)!.includes('W failures'));
    terminal.write('j');
    terminal.write('q');
    await expectRestored(terminal);
  });
});

function newsIn(rows: readonly string[]): number {
  return Math.max(-1, ...rows.flatMap((row) => /news (\d+)/.exec(row)?.[1] ?? []).map(Number));
}

/** What the process has written to anything so far. */
function bytesWritten(pid: number): number {
  return Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1]);
}
