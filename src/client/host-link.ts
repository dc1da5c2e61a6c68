import type { ChildProcessByStdio } from 'node:child_process';
import { Duplex, type Readable, type Writable } from 'node:stream';
import * as z from 'zod';
import { LineSplitter } from '../base/line-splitter.js';
import { UserError } from '../base/user-error.js';
import { LONGEST_LINE } from '../protocol/message.js';
import { type HostOrder, wireMarks, WIRE_VERSION } from '../protocol/host-order.js';
import { lineText, shortened } from '../text/display-text.js';
import { sizeText } from '../text/numbers.js';
import { type Host, type HostLogin, hostProblem, startSsh } from './host.js';

type Ssh = ChildProcessByStdio<Writable, Readable, Readable>;

/** What ssh is told beside the host: a link that is dead is noticed after 15 s, and text is worth compressing. */
const usual = ['-T', '-C', '-o', 'ConnectTimeout=10', '-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3'];
/** While a window has the terminal, ssh has nobody to ask. */
const unattended = ['-o', 'BatchMode=yes'];

/** `program`: directory of this program. `tell`: tells the person, who waits, a line; null: nobody is asked or told. */
export type LinkTools = {
  readonly program: string;
  readonly tell: ((line: string) => void) | null;
  readonly environment: NodeJS.ProcessEnv;
};

/** Of a line from a host, and of what ssh and the host say beside it, in bytes. */
const LONGEST_ANSWER = 4 * LONGEST_LINE;
const MOST_WORDS = 4096;

/** What arrives beside the words of the supervisor: answers to questions, as JSON. */
type LinkListener = { readonly answered: (line: string) => void };

type Greeted = { readonly host: Host; readonly tools: LinkTools; readonly login: HostLogin };

const Greeting = z.object({ wire: z.number(), version: z.string() });
const Refusal = z.object({ problem: z.string(), fix: z.string() });

/**
 * One ssh to a window order on a host: the bytes of its supervisor as a stream, and lines of questions and answers beside it.
 * The first character of each line says which it is.
 */
export class HostLink {
  /** Speaks with the supervisor of the host; ends with the link. */
  readonly supervisor: Duplex;
  readonly #ssh: Ssh;

  constructor(ssh: Ssh) {
    this.#ssh = ssh;
    this.supervisor = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) =>
        void ssh.stdin.write(`${wireMarks.supervisor}${chunk.toString()}`, done),
      destroy: (error, done) => {
        this.close();
        done(error);
      },
    });
    // Whoever waits for it hears of it by the promise.
    this.supervisor.on('error', () => undefined);
  }

  /** Sends a question, as JSON. */
  ask(line: string): void {
    if (this.#ssh.stdin.writable) this.#ssh.stdin.write(`${wireMarks.files}${line}\n`);
  }

  /** Ends ssh, and with it what it started on the host. Somebody else may hold its pipes open for longer. */
  close(): void {
    for (const pipe of [this.#ssh.stdin, this.#ssh.stdout, this.#ssh.stderr]) pipe.destroy();
    this.#ssh.kill();
  }

  /** Returns whether the supervisor has said something in these lines. */
  hear(lines: readonly string[], listener: LinkListener): boolean {
    const told = lines.filter((line) => line.startsWith(wireMarks.supervisor)).map((line) => `${line.slice(1)}\n`);
    if (told.length > 0) this.supervisor.push(told.join(''));
    for (const line of lines) if (line.startsWith(wireMarks.files)) listener.answered(line.slice(1));
    return told.length > 0;
  }
}

/**
 * Carries out a window order on a host. Resolves once the supervisor there has said hello; what a login prints before is skipped.
 *
 * @throws {UserError} When the host cannot be reached or is silent, the program is not there, or does not speak this version's language.
 */
export function openHostLink(
  order: HostOrder,
  host: Host,
  tools: LinkTools,
  listener: LinkListener,
): Promise<HostLink> {
  const options = tools.tell === null ? [...usual, ...unattended] : usual;
  const shown = { tell: tools.tell, said: () => said(), printed: null, isAsked: false };
  const { ssh, login } = startSsh<Writable, Readable>(
    order,
    host,
    { options, stdio: ['pipe', 'pipe'], env: tools.environment },
    shown,
  );
  const said = lastWords(ssh.stderr);
  const link = new HostLink(ssh);
  return new Promise((resolve, reject) => {
    hearHost({ host, tools, login }, link, listener, () => resolve(link));
    login.on('error', (problem) => {
      reject(problem);
      link.supervisor.destroy(problem);
    });
    ssh.stdin.on('error', () => undefined);
    ssh.on('error', (cause) => reject(sshProblem(cause)));
    const end = (code: number | null) => {
      link.supervisor.destroy();
      const words = tools.tell === null ? wordsOfWindow(host, said()) : said();
      reject(hostProblem(code, host, tools.program, words) ?? hasEnded(host, words));
    };
    ssh.on('close', (code) => void login.over().then(() => end(code)));
  });
}

/** Passes on what the host says from its hello on. `isUp`: is called when the supervisor there has said something. */
function hearHost(greeted: Greeted, link: HostLink, listener: LinkListener, isUp: () => void): void {
  const { host, login } = greeted;
  const lines = new LineSplitter();
  let isGreeted = false;
  login.on('data', (chunk: Buffer) => {
    let heard = lines.push(chunk);
    if (lines.unfinished > LONGEST_ANSWER) return login.destroy(endlessLine(host, chunk));
    if (!isGreeted) {
      const at = greetingAt(heard, greeted);
      isGreeted = at >= 0;
      heard = isGreeted ? heard.slice(at + 1) : [];
    }
    if (!link.hear(heard, listener)) return;
    login.isThere();
    isUp();
  });
}

/** Where the program there says hello in these lines; -1: not yet. What it says before is told to the person. */
function greetingAt(lines: readonly string[], { host, tools, login }: Greeted): number {
  for (const line of lines.filter((each) => each.startsWith(wireMarks.told))) {
    tools.tell?.(line.slice(1));
    login.goesOn();
  }
  const refusal = lines.map((line) => read(Refusal, wireMarks.refused, line)).find((found) => found !== null);
  if (refusal !== undefined) login.destroy(new UserError(`${host.name}: ${refusal.problem}`, refusal.fix));
  const at = lines.findIndex((line) => read(Greeting, wireMarks.greeting, line) !== null);
  if (at < 0) return at;
  const { wire, version } = read(Greeting, wireMarks.greeting, lines[at]!)!;
  if (wire !== WIRE_VERSION) login.destroy(otherWire(host, version, tools.program));
  return at;
}

/** The rest of a line of this kind; null: it is of another one, or printed by a login. */
function read<Value>(schema: z.ZodType<Value>, mark: string, line: string): Value | null {
  if (!line.startsWith(mark)) return null;
  try {
    return schema.parse(JSON.parse(line.slice(1)));
  } catch {
    return null;
  }
}

/** Keeps the end of what ssh and the host say. */
function lastWords(stderr: Readable): () => string {
  let end = '';
  stderr.on('data', (chunk: Buffer) => (end = (end + chunk.toString()).slice(-MOST_WORDS)));
  return () => end.trim().split('\n').slice(-8).join('\n');
}

/** What ssh says where it could ask nobody, as the one line for which a window has room. */
function wordsOfWindow({ name }: Host, said: string): string {
  if (said.includes('Host key verification failed'))
    return `Its host key is not the one that ssh knows; \`ssh ${name} true\` says what to do.`;
  if (said.includes('Permission denied')) return 'It wants a password or a code: leave with q, then attach again.';
  return said.slice(said.lastIndexOf('\n') + 1);
}

function endlessLine({ name }: Host, chunk: Buffer): UserError {
  return new UserError(
    `${name} sent a line of more than ${sizeText(LONGEST_ANSWER)}, which is none of memrl-tui: … ${shortened(lineText(chunk.subarray(0, 500).toString()))}`,
    `\`memrl-tui doctor --host ${name}\` says what is there; a copy of the program here takes the place of what is damaged.`,
  );
}

function hasEnded({ name }: Host, said: string): UserError {
  return new UserError(
    `memrl-tui on ${name} has ended.${said === '' ? '' : `\n${said}`}`,
    `\`memrl-tui doctor --host ${name}\` says what is wrong there.`,
  );
}

function otherWire(host: Host, version: string, program: string): UserError {
  const { fix } = hostProblem(120, host, program)!;
  return new UserError(`memrl-tui on ${host.name} (${version}) and the one here do not understand each other.`, fix);
}

/** @returns What was thrown, or in words that ssh is missing. */
export function sshProblem(cause: Error): Error {
  if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return cause;
  const fix = 'Install OpenSSH, for example `apt-get install openssh-client`.';
  return new UserError('There is no `ssh` on this machine.', fix, { cause });
}
