import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../base/user-error.js';
import { Fleet, type FleetMode } from '../../client/fleet.js';
import { type HostLink, type LinkTools, openHostLink, sshProblem } from '../../client/host-link.js';
import { type Host, sshArguments } from '../../client/host.js';
import { JoinedFleets } from '../../client/joined-fleets.js';
import { runInForeground } from '../../processes/started-program.js';
import { shellQuote } from '../../text/shell-words.js';
import { openWindow } from '../../tui/app/open-window.js';
import type { Draft, EditorPort, SummaryPort } from '../../tui/state/port.js';
import { knownSweeps } from '../open-fleet.js';
import type { LaunchOptions } from '../options.js';
import { own } from '../ports.js';
import { readOnlyEditor, windowHost } from '../sweep-window.js';
import { outputWidth, print, remark } from '../terminal.js';
import { type FileAnswers, type FileQuestion, NumberedLine } from './file-questions.js';
import { type Ask, HostFiles } from './host-files.js';

/** How a window was left. `sweep`: the only one that was shown; null: there were several. `areDone`: all runs of all hosts. */
type Shown = { readonly outcome: 'detached' | 'ended'; readonly sweep: string | null; readonly areDone: boolean };

/**
 * The control window here, on the runs of other hosts.
 *
 * @param what The only sweep to show; null: all.
 * @throws {UserError} When a host cannot be reached, has no runs directory, or the sweep is not known.
 */
export async function showHosts(
  hosts: readonly Host[],
  what: { readonly sweep: string | null } | 'last-launched',
  { options, program }: { readonly options: LaunchOptions; readonly program: string },
): Promise<Shown> {
  const connections = await openAll(hosts, windowOf(options), { program, tell: remark, environment: own().env });
  try {
    await Promise.all(connections.map(({ fleet }) => fleet.ready()));
    const several = new Hosts(connections, options);
    const chosen = what === 'last-launched' ? await several.ask({ about: 'last-launched' }) : what.sweep;
    const sweep = sweepAmong(several.fleets, chosen ?? undefined);
    const outcome = await openWindow({
      ...windowHost(options),
      fleet: several.fleets,
      files: new HostFiles(several.ask),
      editor: options.readOnly === true ? readOnlyEditor(several.editor) : several.editor,
      summary: (name) => new HostSummary(name, several.ask, options),
      ...(sweep === null ? {} : { sweep }),
    });
    const runs = [...several.fleets.runs.values()].filter((run) => sweep === null || run.sweep === sweep);
    return { outcome, sweep, areDone: runs.every(({ state }) => state === 'done') };
  } finally {
    for (const connection of connections) connection.close();
  }
}

function windowOf({ runs, readOnly }: LaunchOptions): RemoteWindow {
  return { ...(runs === undefined ? {} : { runs }), ...(readOnly === true ? { readOnly } : {}) };
}

/** All of them, or none. */
async function openAll(hosts: readonly Host[], window: RemoteWindow, tools: LinkTools): Promise<HostConnection[]> {
  const opened = await Promise.allSettled(hosts.map((host) => HostConnection.open(host, window, tools)));
  const connections = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const failed = opened.find((each) => each.status === 'rejected');
  if (failed === undefined) return connections;
  for (const connection of connections) connection.close();
  throw failed.reason;
}

/** The only sweep to show; null: all. One that is asked for by its name may be on several hosts. */
function sweepAmong(fleets: JoinedFleets, asked: string | undefined): string | null {
  const called = [...fleets.sweeps.keys()].filter((name) => name.startsWith(`${asked}@`));
  if (called.length > 1) return null;
  const sweeps = knownSweeps(fleets, called[0] ?? asked);
  return sweeps.length === 1 ? sweeps[0]! : null;
}

/** The hosts of a window. */
class Hosts {
  readonly fleets: JoinedFleets;
  readonly editor: EditorPort;
  readonly #names: ReadonlyMap<string, HostConnection>;

  constructor(connections: readonly HostConnection[], options: LaunchOptions) {
    this.#names = namesOf(connections);
    this.fleets = new JoinedFleets([...this.#names].map(([name, { fleet }]) => ({ name, fleet })));
    this.editor = new HostEditor(this, options);
  }

  readonly ask: Ask = <Question extends FileQuestion>(question: Question) => {
    const [connection, asked] = this.#addressed(question);
    return connection.ask(asked) as Promise<FileAnswers[Question['about']]>;
  };

  /** The host that knows, and the question in its words. */
  #addressed(question: FileQuestion): [HostConnection, FileQuestion] {
    if ('directory' in question) {
      const [connection, directory] = this.at(question.directory);
      return [connection, { ...question, directory }];
    }
    if (question.about === 'last-launched') return [[...this.#names.values()][0]!, question];
    const [connection, sweep] = this.withSweep(question.sweep);
    return [connection, { ...question, sweep }];
  }

  /** Of a place with the name of its host before it: the connection, and the path there. */
  at(place: string): [HostConnection, string] {
    for (const [name, connection] of this.#names)
      if (place.startsWith(`${name}:/`)) return [connection, place.slice(name.length + 1)];
    throw new Error(`no host has ${place}`);
  }

  /** Of a sweep as the window calls it: the connection, and its name there. */
  withSweep(sweep: string): [HostConnection, string] {
    for (const [name, connection] of this.#names)
      if (sweep.endsWith(`@${name}`)) return [connection, sweep.slice(0, -1 - name.length)];
    return [[...this.#names.values()][0]!, sweep];
  }
}

/** Of two directories of one host, each is called after both. */
function namesOf(connections: readonly HostConnection[]): Map<string, HostConnection> {
  const names = connections.map(({ host }) => host.name);
  return new Map(
    connections.map((connection, place) => {
      const { name, directory } = connection.host;
      const isAlone = names.filter((each) => each === name).length === 1;
      return [isAlone ? name : `${name}:${directory ?? `~${place}`}`, connection];
    }),
  );
}

/** The table of a sweep, made on its host. */
class HostSummary implements SummaryPort {
  lines: SummaryPort['lines'] = null;
  readonly #refresh: () => Promise<void>;

  constructor(sweep: string, ask: Ask, { ascii = false }: LaunchOptions) {
    this.#refresh = async () => {
      const lines = await ask({ about: 'summary', sweep, width: outputWidth(), ascii });
      this.lines = () => lines;
    };
  }

  refresh(): Promise<void> {
    return this.#refresh();
  }
}

/** What a person does with other programs, on the host of the run: those get the terminal through an ssh of their own. */
class HostEditor implements EditorPort {
  readonly #hosts: Hosts;
  readonly #runs: readonly string[];

  constructor(hosts: Hosts, { runs }: LaunchOptions) {
    this.#hosts = hosts;
    this.#runs = runs === undefined ? [] : ['--runs', runs];
  }

  commandOf({ argv }: Parameters<EditorPort['commandOf']>[0]): string {
    return shellQuote(argv);
  }

  openShell(place: string): void {
    const [{ host }, directory] = this.#hosts.at(place);
    print([`A shell on ${host.name} in ${directory}; \`exit\` returns to the window.`]);
    withTerminal(['--', host.name, `cd ${shellQuote([directory])} && exec "\${SHELL:-/bin/sh}" -l`]);
  }

  /** `memrl-tui terminal` there shows it. */
  openTerminal({ id, directory }: Parameters<EditorPort['openTerminal']>[0]): void {
    const [{ host }] = this.#hosts.at(directory);
    const [sweep, name] = id.split('/') as [string, string];
    const words = ['terminal', `${this.#hosts.withSweep(sweep)[1]}/${name}`, ...this.#runs];
    withTerminal(sshArguments({ words, host: host.name, directory: host.directory }, host, ['-o', 'LogLevel=ERROR']));
  }

  /** `memrl-tui extend` there shows what the text changes, and submits it. */
  extend(joined: string): Draft {
    const [{ host }, sweep] = this.#hosts.withSweep(joined);
    const order = { words: ['extend', sweep, ...this.#runs], host: host.name, directory: host.directory };
    withTerminal(sshArguments(order, host, ['-o', 'LogLevel=ERROR']));
    return { title: `extend ${joined}`, path: '', verdict: { kind: 'unchanged', why: `Back from ${host.name}.` } };
  }

  clone(): never {
    throw new UserError('The text of the sweep is on its host.', 'Add the run to the text there: `e` opens it.');
  }

  // There are no drafts here.
  edit = this.clone.bind(this);
  submit = this.clone.bind(this);
  ownFile = this.clone.bind(this);
  writeOwnFile = this.clone.bind(this);
}

/** Until ssh has ended the terminal is that of the host. */
function withTerminal(words: readonly string[]): void {
  const { error } = runInForeground('ssh', ['-t', ...words]);
  if (error !== undefined) throw sshProblem(error);
}

/** Between looks at the clock, ms; how far it moves between two of them when this machine has slept, and how long the host may then take to answer. */
const LOOK_MS = 2000;
const SLEPT_MS = 10_000;
const ANSWER_MS = 3000;
/** The more attempts have failed, the longer the next one waits, ms: a host may lock out who knocks too often. */
const WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/** `runs`: the runs directory there, as typed; `readOnly`: it only looks. */
type RemoteWindow = { readonly runs?: string; readonly readOnly?: boolean };

type Pending = { readonly line: string; readonly settle: (told: ReturnType<typeof NumberedLine.parse>) => void };

/** A remote host whose runs a window here shows: connections to its supervisor and for its files, which are made again when they are lost. */
class HostConnection {
  readonly host: Host;
  readonly fleet: Fleet;
  readonly #link: LinkKeeper;

  private constructor(host: Host, link: LinkKeeper, supervisor: Duplex, mode: FleetMode) {
    this.host = host;
    this.#link = link;
    this.fleet = new Fleet(supervisor, () => link.reopen(), mode);
  }

  /**
   * @throws {UserError} As `openHostLink`.
   */
  static async open(host: Host, window: RemoteWindow, tools: LinkTools): Promise<HostConnection> {
    const link = new LinkKeeper(host, window, tools);
    return new HostConnection(host, link, await link.open(), window.readOnly === true ? 'looks' : 'acts');
  }

  /** Resolves with the answer, however often the link is lost meanwhile; rejects when the host cannot give one. */
  ask<Question extends FileQuestion>(question: Question): Promise<FileAnswers[Question['about']]> {
    return this.#link.ask(question) as Promise<FileAnswers[Question['about']]>;
  }

  close(): void {
    this.fleet.close();
    this.#link.close();
  }
}

/** Holds one link at a time, and the questions that are not answered. */
class LinkKeeper {
  readonly #host: Host;
  readonly #window: RemoteWindow;
  readonly #tools: LinkTools;
  readonly #pending = new Map<number, Pending>();
  readonly #closing = new AbortController();
  #link: HostLink | null = null;
  #clock: NodeJS.Timeout | null = null;
  #number = 0;
  #failures = 0;

  constructor(host: Host, window: RemoteWindow, tools: LinkTools) {
    this.#host = host;
    this.#window = window;
    this.#tools = tools;
  }

  async open(): Promise<Duplex> {
    const supervisor = await this.#connect(this.#tools, true);
    this.#clock = this.#watchClock();
    return supervisor;
  }

  /** Nobody is asked and nothing is taken over; rejects while the host cannot be reached. */
  async reopen(): Promise<Duplex> {
    const { signal } = this.#closing;
    await sleep(Math.min(this.#failures * WAIT_MS, LONGEST_WAIT_MS), undefined, { signal });
    this.#failures++;
    const supervisor = await this.#connect({ ...this.#tools, tell: null }, false);
    this.#failures = 0;
    return supervisor;
  }

  ask(question: FileQuestion): Promise<unknown> {
    const number = ++this.#number;
    const line = JSON.stringify({ number, question });
    return new Promise((resolve, reject) => {
      const settle: Pending['settle'] = ({ answer, problem }) =>
        problem === undefined ? resolve(answer) : reject(new Error(problem));
      this.#pending.set(number, { line, settle });
      this.#link?.ask(line);
    });
  }

  close(): void {
    this.#closing.abort();
    if (this.#clock !== null) clearInterval(this.#clock);
    this.#link?.close();
  }

  async #connect(tools: LinkTools, takesOver: boolean): Promise<Duplex> {
    const { name: host, directory } = this.#host;
    const window = { takesOver, ...this.#window };
    const link = await openHostLink({ words: [], host, directory, window }, this.#host, tools, {
      answered: (line) => this.#hear(line),
    });
    link.supervisor.once('close', () => {
      if (this.#link === link) this.#link = null;
    });
    this.#link = link;
    for (const { line } of this.#pending.values()) link.ask(line);
    return link.supervisor;
  }

  #hear(line: string): void {
    const told = NumberedLine.parse(JSON.parse(line));
    this.#pending.get(told.number)?.settle(told);
    this.#pending.delete(told.number);
  }

  /** A link that slept may be dead, though it will be a while until ssh notices. */
  #watchClock(): NodeJS.Timeout {
    let last = Date.now();
    const look = () => {
      const now = Date.now();
      if (now - last > LOOK_MS + SLEPT_MS) this.#test();
      last = now;
    };
    return setInterval(look, LOOK_MS).unref();
  }

  /** Gives the link up unless the host answers. */
  #test(): void {
    const link = this.#link;
    const timer = setTimeout(() => link?.close(), ANSWER_MS);
    const hasAnswered = () => clearTimeout(timer);
    void this.ask({ about: 'last-launched' }).then(hasAnswered, hasAnswered);
  }
}
