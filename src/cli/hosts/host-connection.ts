import type { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fleet, type FleetMode } from '../../client/fleet.js';
import type { Host } from '../../client/host.js';
import { type HostLink, type LinkTools, openHostLink } from '../../client/host-link.js';
import { type FileAnswers, type FileQuestion, NumberedLine } from './file-questions.js';

/** Between looks at the clock, ms; how far it moves between two of them when this machine has slept, and how long the host may then take to answer. */
const LOOK_MS = 2000;
const SLEPT_MS = 10_000;
const ANSWER_MS = 3000;
/** The more attempts have failed, the longer the next one waits, ms: a host may lock out who knocks too often. */
const WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/** `runs`: the runs directory there, as typed; `readOnly`: it only looks. */
export type RemoteWindow = { readonly runs?: string; readonly readOnly?: boolean };

type Pending = { readonly line: string; readonly settle: (told: ReturnType<typeof NumberedLine.parse>) => void };

/** A host that a window here shows: its supervisor, and answers about its files. What is lost is connected again. */
export class HostConnection {
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
