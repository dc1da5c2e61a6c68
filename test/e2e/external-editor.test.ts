import { chmodSync, readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openTerminal, type OpenTerminal } from '../../scripts/terminal.js';
import { expectModesLeft } from '../tui/window-terminal.js';
import { program, workplace } from './program.js';

const place = workplace();
let terminals: OpenTerminal[] = [];
afterEach(() => {
  terminals.forEach((terminal) => terminal.close());
  terminals = [];
});

const sweep = `name: little
command: [sh, -c, 'echo "$@"; sleep 60', run, '\${args}']
parameters:
  lr: [1, 2]
  seed: 0
resources: { gpus: 0 }
`;

/** The window on a small sweep, with a shell script as the editor and another as the shell. */
async function open(editor: string, shell = 'exit 0'): Promise<OpenTerminal> {
  place.write('little.yaml', sweep);
  for (const [name, script] of [
    ['editor', editor],
    ['shell', shell],
  ] as const) {
    place.write(name, `#!/bin/sh\n${script}\n`);
    chmodSync(place.at(name), 0o700);
  }
  const terminal = openTerminal({
    command: process.execPath,
    args: [program, 'little.yaml', '--slots', '2'],
    columns: 120,
    rows: 40,
    cwd: place.folder(),
    environment: {
      ...process.env,
      ...{ TERM: 'xterm-256color', LANG: 'C.UTF-8', CI: undefined, NO_COLOR: undefined, VISUAL: undefined },
      ...{ EDITOR: place.at('editor'), SHELL: place.at('shell'), XDG_CONFIG_HOME: place.at('config') },
    },
  });
  terminals.push(terminal);
  await shows(terminal, /● 2 running/);
  return terminal;
}

function shows(terminal: OpenTerminal, what: RegExp): Promise<string[]> {
  return terminal.waitFor((rows) => rows.some((row) => what.test(row)));
}

describe('extending a sweep in an editor', () => {
  it('shows what is new, submits it on Enter in the order of the file, and writes the file on another one', async () => {
    const terminal = await open(`sed -i 's/lr: .1, 2./lr: [1, 3, 2]/' "$1"`);
    terminal.write('e');
    await shows(terminal, /1 new run/);
    const rows = await shows(terminal, /\/tmp\/.*little\.yaml/);
    expect(rows.join('\n')).toMatch(/runs {2}1 new: .*lr3/);
    expect(rows.join('\n')).toContain('2 unchanged: 2 running');
    terminal.write('\r');
    await shows(terminal, /Write the text to little\.yaml too\?/);
    expect(place.read('runs/little/sweep.yaml')).toContain('lr: [1, 3, 2]');
    expect(place.read('little.yaml')).toBe(sweep);
    const list = (await shows(terminal, /○ 1 queued/)).join('\n');
    expect(list.indexOf('lr3')).toBeLessThan(list.indexOf('lr2'));
    terminal.write('\r');
    await shows(terminal, /Written to little\.yaml/);
    expect(place.read('little.yaml')).toContain('lr: [1, 3, 2]');
  });

  it('shows a mistake with its line and fix, opens the same text again, and keeps it when it is dropped', async () => {
    const terminal = await open(`grep -q sed "$1" && sed -i 's/^sed:/seed2:/' "$1" || echo 'sed: 1' >> "$1"`);
    terminal.write('e');
    const rows = await shows(terminal, /\/tmp\/.*little\.yaml/);
    expect(rows.join('\n')).toMatch(/little\.yaml:7:1: .*sed/);
    terminal.write('\r');
    await shows(terminal, /seed2/);
    terminal.write('\u001b');
    const [, path] = /The text is kept in (\S+\.yaml)\./.exec(
      (await shows(terminal, /The text is kept in/)).join('\n'),
    )!;
    expect(readFileSync(path!, 'utf8')).toContain('seed2: 1');
    expect(place.read('little.yaml')).toBe(sweep);
  });

  it('says so when nothing was changed, and when the editor fails', async () => {
    const terminal = await open(`test -e "${'$'}{0}.fails" && exit 3; touch "${'$'}{0}.fails"`);
    terminal.write('e');
    await shows(terminal, /Nothing was changed, so there is nothing to extend little\./);
    terminal.write('e');
    await shows(terminal, /failed: it ended with 3/);
  });
});

describe('a run, with other programs', () => {
  it('is cloned with other parameters, under a fresh name', async () => {
    const terminal = await open(`sed -i 's/lr: 1$/lr: 7/' "$1"`);
    terminal.write('\u001b[B');
    terminal.write('E');
    await shows(terminal, /runs {2}1 new: lr1_2/);
    terminal.write('\r');
    await shows(terminal, /○ 1 queued/);
    terminal.write('q');
    await terminal.ended();
    const { out } = await place.run('ls', 'sweep:little', '--json');
    const runs = JSON.parse(out) as { name: string; group: string }[];
    expect(runs).toHaveLength(3);
    expect(runs[2]!.name).toMatch(/_2$/);
    expect(runs[2]!.group).toBe(runs[0]!.group);
  });

  it('is refused a clone that is not one run', async () => {
    const terminal = await open(`sed -i 's/lr: 1$/lr: [7, 8]/' "$1"`);
    terminal.write('\u001b[BE');
    await shows(terminal, /a clone is one run/);
  });

  it('has its directory opened in a shell, and the window comes back as it was', async () => {
    const terminal = await open('exit 0', `pwd > "${'$'}{0}.was"; read line; echo "$line" >> "${'$'}{0}.was"`);
    terminal.write('\u001b[B');
    terminal.write('o');
    await expect.poll(() => place.read('shell.was')).toContain('/runs/little/');
    await terminal.waitFor(() => !terminal.isAlternate());
    expectModesLeft(terminal);
    terminal.write('typed in the shell\r');
    await shows(terminal, /Back from/);
    expect(terminal.isAlternate()).toBe(true);
    expect(terminal.output.lastIndexOf('\u001b[?1000h')).toBeGreaterThan(terminal.output.lastIndexOf('\u001b[?1000l'));
    expect(place.read('shell.was')).toContain('typed in the shell');
    terminal.write('\u001b[B');
    await shows(terminal, /This is the last row|● .*lr2/);
  });

  it('has its command copied by the terminal, with the directory it was started in', async () => {
    const terminal = await open('exit 0');
    terminal.write('\u001b[By');
    await shows(terminal, /Copied: cd /);
    const [, code] = /\u001b\]52;c;([A-Za-z0-9+/=]+)\u0007/.exec(terminal.output)!;
    const text = Buffer.from(code!, 'base64').toString('utf8');
    expect(text).toContain(`cd ${place.folder()} && sh -c 'echo "$@"; sleep 60' run`);
    expect(text).toMatch(/lr=1/);
  });
});
