import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { Duplex, type Readable, type Writable } from 'node:stream';
import * as z from 'zod';
import { LineSplitter } from '../base/line-splitter.js';
import { UserError } from '../base/user-error.js';
import { type HostOrder, wireMarks, WIRE_VERSION } from '../protocol/host-order.js';
import { type Host, hostProblem, sshArguments } from './host.js';

type Ssh = ChildProcessByStdio<Writable, Readable, Readable>;

/** What ssh is told beside the host: a link that is dead is noticed after 15 s, and text is worth compressing. */
const usual = ['-T', '-C', '-o', 'ConnectTimeout=10', '-o', 'ServerAliveInterval=5', '-o', 'ServerAliveCountMax=3'];
/** While a window has the terminal, ssh has nobody to ask. */
const unattended = ['-o', 'BatchMode=yes'];

/** `program`: directory of this program. `tell`: tells the person, who waits, a line; null: nobody is asked or told. */
export type LinkTools = { readonly program: string; readonly tell: ((line: string) => void) | null };

/** What arrives beside the words of the supervisor: answers to questions, as JSON. */
type LinkListener = { readonly answered: (line: string) => void };

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
      destroy: (_error, done) => {
        this.close();
        done(null);
      },
    });
  }

  /** Sends a question, as JSON. */
  ask(line: string): void {
    if (this.#ssh.stdin.writable) this.#ssh.stdin.write(`${wireMarks.files}${line}\n`);
  }

  /** Ends ssh, and with it what it started on the host. */
  close(): void {
    this.#ssh.stdin.destroy();
    this.#ssh.kill();
  }

  hear(lines: readonly string[], listener: LinkListener): void {
    const told = lines.filter((line) => line.startsWith(wireMarks.supervisor)).map((line) => `${line.slice(1)}\n`);
    if (told.length > 0) this.supervisor.push(told.join(''));
    for (const line of lines) if (line.startsWith(wireMarks.files)) listener.answered(line.slice(1));
  }
}

/**
 * Carries out a window order on a host. Resolves once the program there has said hello; what a login prints before is skipped.
 *
 * @throws {UserError} When the host cannot be reached, the program is not there, or does not speak this version's language.
 */
export function openHostLink(
  order: HostOrder,
  host: Host,
  tools: LinkTools,
  listener: LinkListener,
): Promise<HostLink> {
  const options = tools.tell === null ? [...usual, ...unattended] : usual;
  const ssh = spawn('ssh', sshArguments(order, host, options), { stdio: ['pipe', 'pipe', 'pipe'] });
  const link = new HostLink(ssh);
  const said = lastWords(ssh.stderr);
  return new Promise((resolve, reject) => {
    const lines = new LineSplitter();
    let isGreeted = false;
    ssh.stdout.on('data', (chunk: Buffer) => {
      const heard = lines.push(chunk);
      if (isGreeted) return link.hear(heard, listener);
      for (const line of heard) if (line.startsWith(wireMarks.told)) tools.tell?.(line.slice(1));
      const refusal = heard.map((line) => read(Refusal, wireMarks.refused, line)).find((found) => found !== null);
      if (refusal !== undefined) reject(new UserError(`${host.name}: ${refusal.problem}`, refusal.fix));
      const at = heard.findIndex((line) => read(Greeting, wireMarks.greeting, line) !== null);
      if (at < 0) return;
      isGreeted = true;
      const { wire, version } = read(Greeting, wireMarks.greeting, heard[at]!)!;
      if (wire !== WIRE_VERSION) reject(otherWire(host, version, tools.program));
      else resolve(link);
      link.hear(heard.slice(at + 1), listener);
    });
    ssh.stdin.on('error', () => undefined);
    ssh.on('error', (cause) => reject(sshProblem(cause)));
    ssh.on('close', (code) => {
      link.supervisor.destroy();
      reject(hostProblem(code, host, tools.program, said()) ?? hasEnded(host, said()));
    });
  });
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
  const lines = new LineSplitter();
  let last: string[] = [];
  stderr.on('data', (chunk: Buffer) => (last = [...last, ...lines.push(chunk)].slice(-8)));
  return () => last.join('\n');
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
