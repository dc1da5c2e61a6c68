import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { Readable } from 'node:stream';
import { openTerminal } from '../../scripts/terminal.js';
import { Collected } from '../../src/cli/mcp/command.js';
import type { OwnProcess } from '../../src/cli/ports.js';
import { main } from '../../src/cli/program.js';
import { isDeserted, isRemoved } from '../remove-folder.js';
import { PATIENCE_MS } from '../patience.js';

/** The shipped program, as `npm run build` makes it. */
export const program = join(process.cwd(), 'dist/memrl-tui.js');

export type Ended = { code: number | null; out: string; err: string };

/** A folder of its own for each test, with the means to run memrl-tui in it; whatever still runs there is ended after. */
export function workplace(): { folder: () => string } & ReturnType<typeof tools> {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'memrl-e2e-'));
  });
  // A client that was killed may have asked for a supervisor that has no lock yet, and that starts runs when it has.
  afterEach(() => eventually(() => isCleared(folder), `${folder} to be removed`));
  return { folder: () => folder, ...tools(() => folder) };
}

function tools(folder: () => string) {
  const at = (path: string) => join(folder(), path);
  return {
    at,
    write: (path: string, text: string) => writeFileSync(at(path), text),
    read: (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : ''),
    /** Runs to the end, without a terminal, in the process of the test. */
    run: (...args: string[]) => run(args, folder()),
    /** The same by the program as it is shipped, in a process of its own. */
    runShipped: (...args: string[]) => runShipped(args, folder()),
    /** Starts it without a terminal, and leaves the rest to the test. */
    start: (...args: string[]) => start(args, folder()),
    /** Opens the program in a pseudo-terminal. */
    open: (...args: string[]) =>
      openTerminal({
        command: process.execPath,
        args: [program, ...args],
        columns: 120,
        rows: 40,
        cwd: folder(),
        environment: {
          ...process.env,
          ...{ TERM: 'xterm-256color', LANG: 'C.UTF-8', CI: undefined, NO_COLOR: undefined },
          // What the person at this machine prefers is not tested, and not changed.
          XDG_CONFIG_HOME: at('config'),
        },
      }),
    supervisorPid: () => supervisorPid(folder()),
  };
}

async function run(args: readonly string[], folder: string): Promise<Ended> {
  const [out, err] = [new Collected(), new Collected()];
  const own: Pick<OwnProcess, 'env' | 'cwd' | 'exit' | 'once'> = {
    env: { ...process.env },
    cwd: () => folder,
    // What is still pending is nobody's here; a command that leaves something pending is tried as it is shipped.
    exit: () => undefined,
    once: () => undefined,
  };
  const streams = { stdin: Readable.from([]), stdout: out, stderr: err };
  const code = await main(args, {
    process: { ...own, ...streams } as unknown as OwnProcess,
    programs: dirname(program),
  });
  return { code, out: out.text(), err: err.text() };
}

function runShipped(args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) => {
    const child = start(args, cwd);
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.on('close', (code) => resolve({ code, out, err }));
  });
}

function start(args: readonly string[], cwd: string) {
  return spawn(process.execPath, [program, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Resolves once the condition holds. For what cannot call back: files, other processes. */
export async function eventually(condition: () => boolean, what: string): Promise<void> {
  for (const start = Date.now(); !condition();) {
    if (Date.now() - start > PATIENCE_MS) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie still has its number; only the state tells.
    return process.platform !== 'linux' || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

function supervisorPid(folder: string): number | null {
  try {
    const lock = JSON.parse(readFileSync(join(folder, 'runs/.supervisor/lock.json'), 'utf8')) as { pid: number };
    return lock.pid;
  } catch {
    return null;
  }
}

/** Ends all that runs in a folder, and removes it; false while there was something, or somebody has put something there meanwhile. */
export function isCleared(folder: string): boolean {
  return isDeserted(folder) && isRemoved(folder);
}
