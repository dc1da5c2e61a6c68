/** Other hosts that ssh reaches: how they are named, how memrl-tui is found and started there, and what may be missing. */
import { type ChildProcessByStdio, spawn, type StdioOptions } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync, statSync } from 'node:fs';
import { type Readable, Transform, type TransformCallback, type Writable } from 'node:stream';
import packageJson from '../../package.json' with { type: 'json' };
import { UserError } from '../base/user-error.js';
import { descendantsOf } from '../processes/proc-file.js';
import { encodeOrder, type HostOrder, KNOWN } from '../protocol/host-order.js';
import { ORDER_WORD } from '../protocol/order-word.js';
import { lineText, shortened } from '../text/display-text.js';
import { durationText } from '../text/duration.js';
import { sizeText } from '../text/numbers.js';
import { shellQuote } from '../text/shell-words.js';

/** `name`: as ssh takes it. `directory`: on the host; null: the home directory there. */
export type Host = { readonly name: string; readonly directory: string | null };

/**
 * Reads `HOST` or `HOST:DIRECTORY`, as scp and rsync have it.
 *
 * @throws {UserError} When it names no host.
 */
export function parseHost(text: string): Host {
  const [, name, directory] = /^(\[[^\]\s]+\]|[^:\s]+)(?::(.*))?$/.exec(text) ?? [];
  // What begins with a hyphen would be an option for ssh.
  if (name !== undefined && !name.startsWith('-'))
    return { name, directory: directory === '' ? null : (directory ?? null) };
  throw new UserError(
    `--host ${text} names no host.`,
    'Write it as for ssh, with a directory behind it if need be: `--host login.cluster`, `--host me@gpubox:projects/lr`.',
  );
}

/** The host as a person types it. */
export function hostText({ name, directory }: Host): string {
  return directory === null ? name : `${name}:${directory}`;
}

/** What the finder says by its exit code; memrl-tui itself uses none of these. */
const findings = { noNode: 117, oldNode: 118, noProgram: 119, oldProgram: 120 } as const;

const [, leastMajor, leastMinor] = /(\d+)\.(\d+)/.exec(packageJson.engines.node)!;

/** Where the told command puts the program on a host, below the home directory. */
const COPY = '.memrl-tui';

/**
 * Finds Node and memrl-tui, and carries out the order. Like the other two scripts it has no single quote, no exclamation mark, no
 * backslash and no newline, so that every login shell (fish and csh as well) passes it on as it is.
 */
const finder = [
  'exec 1>&3 3>&-; printf %s "$2"; old=; node=; program=',
  `fits() { v=$("$1" --version 2>/dev/null) || return 1; v=\${v#v}; a=\${v%%.*}; b=\${v#*.}; b=\${b%%.*}; [ "$a" -gt ${leastMajor} ] || [ "$a" -eq ${leastMajor} -a "$b" -ge ${leastMinor} ]; }`,
  'for n in "$(command -v node)" "$HOME"/.local/bin/node "$HOME"/.nvm/versions/node/*/bin/node "$HOME"/.volta/bin/node "$HOME"/.local/share/fnm/aliases/default/bin/node /usr/local/bin/node /opt/homebrew/bin/node; do [ -x "$n" ] || continue; if fits "$n"; then node=$n; break; fi; old="$v ($n)"; done',
  `if [ -z "$node" ]; then if [ -n "$old" ]; then echo "The newest Node there is $old." >&2; exit ${findings.oldNode}; fi; exit ${findings.noNode}; fi`,
  `for p in "$HOME"/${COPY}/dist/memrl-tui.js "$(command -v memrl-tui)" "\${node%/*}"/memrl-tui "$HOME"/.local/bin/memrl-tui; do if [ -f "$p" ]; then program=$p; break; fi; done`,
  `if [ -z "$program" ]; then exit ${findings.noProgram}; fi`,
  'read -r first < "$program"; case "$first" in *node*) set -- "$node" "$program" "$1" ;; *) set -- env "$program" "$1" ;; esac',
  `"$1" "$2" ${ORDER_WORD} "$3"; code=$?`,
  `if [ "$code" -eq 2 ]; then "$1" "$2" ${ORDER_WORD} ${KNOWN} </dev/null >/dev/null 2>&1 || exit ${findings.oldProgram}; fi; exit "$code"`,
].join('; ');

/** The environment is that of a login, in which modules are loaded; what its profile prints is no part of the output. */
const login = 'exec sh -c "$1" sh "$2" "$3"';
const outer =
  'printf %s "$3"; exec 3>&1 1>&2; s=${SHELL:-/bin/sh}; case ${s##*/} in bash|zsh|sh|dash|ash|ksh) ;; *) s=/bin/sh ;; esac; exec "$s" -lc "$0" sh "$1" "$2" "$3"';

/**
 * Arguments of ssh, so that the order is carried out on the host.
 *
 * @param options Further options of ssh.
 * @param mark A word that is printed there twice: when ssh has logged in, and when the login shell has read its profile.
 */
export function sshArguments(order: HostOrder, host: Host, options: readonly string[], mark = ''): string[] {
  const command = `exec sh -c '${outer}' '${login}' '${finder}' ${encodeOrder(order)} ${mark}`;
  return [...options, '--', host.name.replace(/^\[(.*)\]$/, '$1'), command];
}

/** Puts Node where the finder looks, on Linux and macOS. */
const NODE_COMMAND =
  'mkdir -p .local && curl -fsSL https://nodejs.org/dist/v22.12.0/node-v22.12.0-$(uname -s | tr A-Z a-z)-$(uname -m | sed s/x86_64/x64/\\;s/aarch64/arm64/).tar.gz | tar -xzf - -C .local --strip-components 1';

/** ssh itself failed; it has said why. */
const SSH_FAILED = 255;

/**
 * Why nothing was done on the host, by the exit code of ssh; null: the code is that of memrl-tui there.
 *
 * @param said What ssh and the host said of it, where that has not been shown.
 * @param program Directory of this program, which can be copied to the host.
 */
export function hostProblem(code: number | null, { name }: Host, program: string, said = ''): UserError | null {
  const copy = `tar -C ${shellQuote([program])} -czf - package.json dist | ssh ${shellQuote([name])} 'mkdir -p ${COPY} && tar -C ${COPY} -xzf -'`;
  const node = `Node ${leastMajor}.${leastMinor} or newer`;
  const install = `Install ${node} there; it needs no rights: ssh ${shellQuote([name])} '${NODE_COMMAND}' (or \`module load\` it in ~/.profile).`;
  const words = said.trim() === '' ? '' : `\n${said.trim()}`;
  switch (code) {
    case SSH_FAILED:
    case null:
      return new UserError(
        `ssh could not reach ${name}.${words}`,
        `Try \`ssh ${shellQuote([name])} true\`: memrl-tui uses the same configuration, keys and jump hosts.`,
      );
    case findings.noNode:
      return new UserError(`There is no Node on ${name}, and memrl-tui needs ${node} there.`, install);
    case findings.oldNode:
      return new UserError(`Node is too old on ${name}: memrl-tui needs ${node} there.${words}`, install);
    case findings.noProgram:
      return new UserError(`memrl-tui is not on ${name} yet.`, `Copy this one there (it needs Node alone): ${copy}`);
    case findings.oldProgram:
      return new UserError(
        `memrl-tui on ${name} is too old for --host.`,
        `Copy this one there, which is found first: ${copy}`,
      );
    default:
      return null;
  }
}

/** Time limit for each step of a login in which nobody is asked anything, ms. A slow host gets more by `MEMRL_HOST_PATIENCE_MS`. */
const PATIENCE_MS = 90_000;
/** After so long it is said what is waited for, ms. */
const MOMENT_MS = 2000;
const LOOK_MS = 200;
/** Limit on what a login prints before the program there begins, bytes. */
const MOST_PRINTED = 1 << 18;
const MOST_QUOTED = 512;
const NEWLINE = 10;
/** How often the mark is printed until the program begins. */
const MARKS = 2;

/** How far a login is: nothing has come yet; a shell there has said something; our program has been started. */
type Step = 'connecting' | 'logged-in' | 'started';

/** `options`: of ssh. The rest as in `spawn`, for input and errors. */
type SshOptions = {
  readonly options: readonly string[];
  readonly stdio: readonly ['pipe' | 'inherit', 'pipe' | 'inherit'];
  readonly cwd?: string;
  readonly env: NodeJS.ProcessEnv;
};

/**
 * `tell`: tells the person, who waits, a line; null: nobody is asked or told. `said`: what has been printed so far and not shown.
 * `printed`: shows what is printed before the program begins; null: nobody sees that. `isAsked`: whether what it shows may be a question.
 */
type LoginListener = {
  readonly tell: ((line: string) => void) | null;
  readonly said: () => string;
  readonly printed: ((bytes: Buffer) => void) | null;
  readonly isAsked: boolean;
};

type Ssh<Input extends Writable | null, Errors extends Readable | null> = ChildProcessByStdio<Input, Readable, Errors>;

/**
 * Starts an ssh that carries out the order. `login`: the output of the program there; it fails with a UserError where the login
 * takes too long or prints too much.
 */
export function startSsh<Input extends Writable | null, Errors extends Readable | null>(
  order: HostOrder,
  host: Host,
  { options, stdio: [input, errors], ...rest }: SshOptions,
  listener: LoginListener,
): { ssh: Ssh<Input, Errors>; login: HostLogin } {
  const mark = `memrl-tui-${randomUUID()}`;
  const stdio: StdioOptions = [input, 'pipe', errors];
  const ssh = spawn('ssh', sshArguments(order, host, options, mark), { ...rest, stdio }) as Ssh<Input, Errors>;
  const login = new HostLogin({ host, mark, pid: ssh.pid ?? null }, listener, rest.env['MEMRL_HOST_PATIENCE_MS']);
  ssh.stdout.pipe(login);
  ssh.on('error', () => login.destroy());
  return { ssh, login };
}

/**
 * The output of a program on a host, without what a login prints before it: a stream that fails where nothing comes for too long, or
 * too much of something else.
 *
 * The time in which ssh asks a person for a password, a code or whether a key is right does not count.
 */
export class HostLogin extends Transform {
  readonly #ssh: { readonly host: Host; readonly mark: string; readonly pid: number | null };
  readonly #listener: LoginListener;
  readonly #patienceMs: number;
  readonly #clock: NodeJS.Timeout;
  #step: Step = 'connecting';
  #told: Step | null = null;
  #since = performance.now();
  #marks = 0;
  /** May be the beginning of a mark. */
  #pending: Buffer = Buffer.alloc(0);
  /** What a login has printed: the end of it, and its length in bytes. */
  #printed: Buffer = Buffer.alloc(0);
  #count = 0;

  /** @param patienceMs `MEMRL_HOST_PATIENCE_MS`. */
  constructor(
    ssh: { host: Host; mark: string; pid: number | null },
    listener: LoginListener,
    patienceMs: string | undefined,
  ) {
    super();
    this.#ssh = ssh;
    this.#listener = listener;
    this.#patienceMs = Number(patienceMs ?? '') || PATIENCE_MS;
    this.#clock = setInterval(() => this.#look(), LOOK_MS);
  }

  /** Begins the time limit anew, as somebody who is at work has said so. */
  goesOn(): void {
    this.#since = performance.now();
  }

  /** Ends the time limit: who is there may be silent. */
  isThere(): void {
    clearInterval(this.#clock);
  }

  /** Resolves once all that came has been read. */
  async over(): Promise<void> {
    if (!this.closed) await new Promise<void>((resolve) => this.once('close', resolve));
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    if (this.#step === 'started') return done(null, chunk);
    if (this.#step === 'connecting') this.#reach('logged-in');
    this.#pending = Buffer.concat([this.#pending, chunk]);
    for (let at = this.#pending.indexOf(this.#ssh.mark); at >= 0; at = this.#pending.indexOf(this.#ssh.mark)) {
      this.#show(at);
      this.#pending = this.#pending.subarray(this.#ssh.mark.length);
      if (++this.#marks === MARKS) return done(null, this.#begin());
    }
    this.#show(this.#pending.length - beginningOf(this.#ssh.mark, this.#pending));
    done(this.#count > MOST_PRINTED ? this.#tooMuch() : null);
  }

  override _flush(done: () => void): void {
    this.isThere();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.isThere();
    done(error);
  }

  /** Returns what the program has said so far. */
  #begin(): Buffer {
    this.#reach('started');
    this.emit('started');
    return this.#pending;
  }

  /** Takes so many bytes as printed by a login. */
  #show(length: number): void {
    const bytes = this.#pending.subarray(0, length);
    this.#pending = this.#pending.subarray(length);
    this.#count += length;
    this.#printed = Buffer.concat([this.#printed, bytes]).subarray(-MOST_QUOTED);
    this.#listener.printed?.(bytes);
  }

  #reach(step: Step): void {
    this.#step = step;
    this.goesOn();
  }

  #look(): void {
    const asks = this.#asks();
    if (asks === true) return this.goesOn();
    const quietMs = performance.now() - this.#since;
    if (quietMs > MOMENT_MS && this.#told !== this.#step) {
      this.#told = this.#step;
      this.#listener.tell?.(waitingWords[this.#step](this.#ssh.host.name));
    }
    if (asks !== null && quietMs > this.#patienceMs) this.destroy(this.#tooLong());
  }

  /** Whether a person is being asked something; null: nobody can know. */
  #asks(): boolean | null {
    if (this.#listener.tell === null || this.#step === 'started') return false;
    if (this.#step === 'connecting') return readsTerminal(this.#ssh.pid);
    // A profile may ask something too.
    return this.#listener.isAsked && this.#printed.length > 0 && this.#printed.at(-1) !== NEWLINE;
  }

  #tooLong(): UserError {
    const { problem, fix } = lateWords[this.#step](this.#ssh.host.name, durationText(this.#patienceMs / 1000));
    const slow = `A host that needs longer gets it by MEMRL_HOST_PATIENCE_MS=${5 * this.#patienceMs}.`;
    return new UserError(`${problem}${this.#saidWords()}`, `${fix} ${slow}`);
  }

  #tooMuch(): UserError {
    const { name } = this.#ssh.host;
    const text = shortened(lineText(this.#printed.toString()));
    return new UserError(
      `${name} let us in and sent more than ${sizeText(MOST_PRINTED)} that are not of memrl-tui: ${JSON.stringify(text)}`,
      `Look at \`ssh ${name} true\`, which should print nothing, and at what the shell reads there (~/.bashrc, ~/.profile).`,
    );
  }

  #saidWords(): string {
    const said = [this.#listener.printed === null ? this.#printed.toString() : '', this.#listener.said()];
    const lines = said.map((text) => text.trim()).filter((text) => text !== '');
    return lines.length === 0 ? '' : `\nIt said:\n${lines.join('\n')}`;
  }
}

const waitingWords: Readonly<Record<Step, (host: string) => string>> = {
  connecting: (host) => `connecting to ${host} …`,
  'logged-in': (host) => `${host} has let us in; its login shell is still reading its profile …`,
  started: (host) => `${host}: memrl-tui is starting there …`,
};

const lateWords: Readonly<Record<Step, (host: string, time: string) => { problem: string; fix: string }>> = {
  connecting: (host, time) => ({
    problem: `${host} has not let us in for ${time}, and asks nothing.`,
    fix: `Look where \`ssh -v ${host} true\` stops.`,
  }),
  'logged-in': (host, time) => ({
    problem: `${host} let us in, but its login shell has not come to memrl-tui for ${time}.`,
    fix: `Try \`ssh ${host}\`, and look at what ~/.profile and ~/.bash_profile wait for there.`,
  }),
  started: (host, time) => ({
    problem: `${host} let us in and memrl-tui was started there, but has said nothing for ${time}.`,
    fix: `\`memrl-tui doctor --host ${host}\` says what is wrong there.`,
  }),
};

/** Length of the beginning of a word that is the end of these bytes. */
function beginningOf(word: string, bytes: Buffer): number {
  for (let length = Math.min(word.length - 1, bytes.length); length > 0; length--)
    if (word.startsWith(bytes.subarray(-length).toString('latin1'))) return length;
  return 0;
}

/** Number of the device by which a program opens its terminal, whichever that is: major 5, minor 0 (Linux, devices.txt). */
const OWN_TERMINAL = 5 << 8;

/**
 * Whether a process, or one that it started, has the terminal open to ask something: ssh opens it for each question, and closes it
 * after the answer. Null: this system does not say.
 */
function readsTerminal(pid: number | null): boolean | null {
  if (pid === null) return false;
  try {
    return [pid, ...descendantsOf(pid)].some((each) => {
      const files = `/proc/${each}/fd`;
      return readdirSync(files).some((file) => isOwnTerminal(`${files}/${file}`));
    });
  } catch {
    return null;
  }
}

function isOwnTerminal(file: string): boolean {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat?.isCharacterDevice() === true && stat.rdev === OWN_TERMINAL;
}
