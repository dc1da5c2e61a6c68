import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../base/user-error.js';
import { type Host, type HostLogin, hostProblem, hostText, parseHost, startSsh } from '../../client/host.js';
import { sshProblem } from '../../client/host-link.js';
import type { HostOrder } from '../../protocol/host-order.js';
import { shellQuote } from '../../text/shell-words.js';
import { exitCodes } from '../answers/exit-codes.js';
import type { LaunchOptions } from '../options.js';
import { at, beforeDashes, own, ownPrograms, typedWords } from '../ports.js';
import { reportError } from '../answers/report-error.js';
import { hasPerson, hasScreen, passOn, print, remark, remarkBytes, safeLine } from '../terminal.js';

/** A link that is dead is noticed after 15 s, also while the terminal is that of the host. */
const lively = ['-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3'];
/** For the end of an ssh that was asked to end, ms. */
const PATIENCE_MS = 1000;

/** A call of the command line. `name`: of the verb; null: a launch. `words`: its arguments. */
export type Call = { readonly name: string | null; readonly words: readonly string[]; readonly options: LaunchOptions };

/**
 * Takes `--host HOST` out of the words of the command line, wherever it stands before `--`.
 *
 * @throws {UserError} When one of them names no host.
 */
export function withoutHosts(typed: readonly string[]): { readonly hosts: Host[]; readonly words: string[] } {
  const end = beforeDashes(typed).length;
  const hosts: Host[] = [];
  const words: string[] = [];
  for (let at = 0; at < end; at++) {
    const word = typed[at]!;
    if (word === '--host') hosts.push(parseHost(at + 1 < end ? typed[++at]! : ''));
    else if (word.startsWith('--host=')) hosts.push(parseHost(word.slice('--host='.length)));
    else words.push(word);
  }
  return { hosts, words: [...words, ...typed.slice(end)] };
}

/** Carries out a call on other hosts, one after the other, and shows here what it would show in a window. Gives the largest exit code. */
export async function runElsewhere(hosts: readonly Host[], call: Call): Promise<number> {
  if (hosts.length > 1 && call.name === null) {
    throw new UserError(
      `A sweep is launched on one host at a time, and these are ${hosts.length}.`,
      'Name one with --host; `memrl-tui attach --host A --host B` shows several in one window.',
    );
  }
  if (!opensWindow(call)) return onEach(hosts, typedWords(), call);
  // The program there starts what is not done yet, and asks what there is to ask; the window is here.
  const code = call.name === 'attach' ? 0 : await onEach(hosts, detached(typedWords()), call);
  return code === 0 ? showWindow(hosts, call) : code;
}

/** Gives the exit code, as of a window on runs of this machine. */
async function showWindow(hosts: readonly Host[], { name, words, options }: Call): Promise<number> {
  const { showHosts } = await import('./remote-window.js');
  const what = name === 'attach' ? { sweep: words[0] ?? null } : 'last-launched';
  const { outcome, sweep, areDone } = await showHosts(hosts, what, { options, program: programDirectory() });
  if (outcome === 'detached') {
    const flags = hosts.map((host) => `--host ${shellQuote([hostText(host)])}`).join(' ');
    const again = `memrl-tui attach ${sweep === null || hosts.length > 1 ? '' : `${sweep} `}${flags}`;
    print([`The runs keep running there. \`${again}\` shows them again.`]);
    return 0;
  }
  if (sweep !== null && hosts.length === 1) {
    const runs = options.runs === undefined ? [] : ['--runs', options.runs];
    await onEach(hosts, ['report', sweep, ...runs], { name: 'report', words: [sweep], options });
  }
  return areDone ? exitCodes.done : exitCodes.undone;
}

/** Whether it opens the control window, which is then here. */
function opensWindow({ name, options }: Call): boolean {
  const { plain, detach, dryRun, json } = options;
  const isShown = name === null || name === 'attach' || (name === 'grid' && !('print' in options));
  return isShown && hasScreen() && ![plain, detach, dryRun, json].includes(true);
}

function detached(words: readonly string[]): string[] {
  const own = beforeDashes(words);
  return [...own, '--detach', ...words.slice(own.length)];
}

/** A host that cannot do it keeps no other from it. */
async function onEach(hosts: readonly Host[], words: readonly string[], call: Call): Promise<number> {
  if (hosts.length === 1) return runThere(hosts[0]!, words, call);
  let largest = 0;
  for (const host of hosts) {
    remark(`${host.name}:`);
    const code = await runThere(host, words, call).catch((error: unknown) => {
      const { text, exitCode } = reportError(error);
      remark(text ?? '');
      return exitCode;
    });
    largest = Math.max(largest, code);
  }
  return largest;
}

/**
 * Runs words by the program of a host, with this terminal, or these pipes, as its own. Gives its exit code.
 *
 * @throws {UserError} When the host cannot be reached, or the program is not there.
 */
async function runThere(host: Host, words: readonly string[], { name, words: [file] }: Call): Promise<number> {
  const order: HostOrder = {
    ...{ words: [...words], directory: host.directory, host: host.name, look: look() },
    file: name === null && file !== undefined ? { path: file, isHere: existsSync(at(file)) } : null,
  };
  // A terminal there makes questions, colours and editors work; ssh says that it has been closed unless it is told not to.
  const options = [...lively, ...(hasPerson() ? ['-t', '-o', 'LogLevel=ERROR'] : ['-T'])];
  const shown = { tell: remarkInSession, said: () => '', printed: remarkBytes, isAsked: hasPerson() };
  const { ssh, login } = startSsh<null, null>(
    order,
    host,
    { options, stdio: ['inherit', 'inherit'], cwd: own().cwd(), env: own().env },
    shown,
  );
  login.once('started', () => login.isThere());
  passOn(login);
  const [code, signal] = await ended(ssh, login);
  // The person has interrupted it.
  if (signal !== null) return exitCodes.interrupted;
  const problem = hostProblem(code, host, programDirectory());
  if (problem !== null) throw problem;
  return code!;
}

/** Prints a message while ssh may have made the terminal that of the host, which does not return at a newline. */
function remarkInSession(line: string): void {
  remarkBytes(Buffer.from(`${safeLine(line)}${hasPerson() ? '\r' : ''}\n`));
}

/** Resolves with the exit code and the signal of ssh once all that it printed has been passed on. */
function ended(
  ssh: ChildProcessByStdio<null, Readable, null>,
  login: HostLogin,
): Promise<[number | null, NodeJS.Signals | null]> {
  return new Promise((resolve, reject) => {
    ssh.on('error', (cause) => reject(sshProblem(cause)));
    ssh.on('close', (code, signal) => void login.over().then(() => login.errored ?? resolve([code, signal])));
    login.on('error', (problem) => {
      ssh.kill();
      // The ssh gives the terminal back before it ends.
      void Promise.race([once(ssh, 'exit'), sleep(PATIENCE_MS)]).then(() => {
        ssh.kill('SIGKILL');
        ssh.stdout.destroy();
        reject(problem);
      });
    });
  });
}

/** Directory of this program: the one with `package.json` and `dist`. */
export function programDirectory(): string {
  return dirname(ownPrograms());
}

function look(): Record<string, string> {
  const names = hasPerson() ? ['NO_COLOR'] : ['NO_COLOR', 'COLUMNS'];
  const { env } = own();
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
