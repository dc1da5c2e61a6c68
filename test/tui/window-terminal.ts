import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { openTerminal, type OpenTerminal } from '../../scripts/terminal.js';

/** An environment in which nothing about the terminal is left to chance. */
export const plainShell = {
  ...process.env,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  LC_ALL: undefined,
  NO_COLOR: undefined,
  COLORTERM: undefined,
  CI: undefined,
};

type Start = {
  readonly mode?: string;
  readonly environment?: Record<string, string>;
  readonly size?: [number, number];
};

/** The window in a real pseudo-terminal, started from a shell that afterwards tells the terminal's modes, and stays: what is
 * written last before the end of a pseudo-terminal may be lost. */
export function startWindow(
  program: string,
  { mode = 'plain', environment = {}, size = [100, 30] }: Start = {},
): OpenTerminal {
  const script = `echo before; "${process.execPath}" "${program}" ${mode}; echo "code $?"; stty -a | grep -oE -- '-?(icanon|echo)\\b' | tr '\\n' ' '; echo end; read _`;
  return openTerminal({
    command: 'sh',
    args: ['-c', script],
    columns: size[0],
    rows: size[1],
    environment: { ...plainShell, ...environment },
  });
}

/** The window in an interactive shell, which can stop it and bring it back. */
export async function startInShell(program: string): Promise<OpenTerminal> {
  const terminal = openTerminal({
    command: 'bash',
    args: ['--norc', '--noprofile', '--noediting', '-i'],
    columns: 100,
    rows: 30,
    environment: { ...plainShell, PS1: '$ ', PROGRAM: program },
  });
  await terminal.waitFor((rows) => rows.some((row) => row.startsWith('$')));
  terminal.write(`"${process.execPath}" "$PROGRAM"\r`);
  await terminal.waitFor((rows) => rows.some((row) => row.includes('detach')));
  return terminal;
}

/** What a person finds after leaving: their own screen, with a cursor and a terminal that echoes. */
export async function expectRestored(terminal: OpenTerminal): Promise<string[]> {
  const rows = await terminal.waitFor((lines) => lines.some((line) => line.endsWith('end')));
  expect(terminal.isAlternate()).toBe(false);
  expect(rows[0]).toBe('before');
  expect(rows.join('\n')).toMatch(/(^|\s)icanon (.*\s)?echo\b/);
  expectModesLeft(terminal);
  return rows;
}

/** Cursor and wrapping on again; synchronized updates, the mouse, marked pastes and the other screen off. */
export function expectModesLeft(terminal: OpenTerminal): void {
  const codes = [...terminal.output.matchAll(/\u001b\[\?(\d+)([hl])/g)].map(([, mode, state]) => `${mode}${state}`);
  const last = ['25', '7', '2026', '1000', '1002', '1003', '1006', '2004', '1049'].map((mode) =>
    codes.findLast((code) => code.slice(0, -1) === mode),
  );
  expect(last).toEqual(['25h', '7h', '2026l', '1000l', '1002l', '1003l', '1006l', '2004l', '1049l']);
}

/** The pid of the window itself, not of the shell around it. */
export function windowPid(terminal: OpenTerminal): number {
  const children = readFileSync(`/proc/${terminal.pid}/task/${terminal.pid}/children`, 'utf8').trim();
  return Number(children.split(' ')[0]);
}
