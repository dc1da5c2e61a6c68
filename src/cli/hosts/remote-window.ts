import { spawnSync } from 'node:child_process';
import { UserError } from '../../base/user-error.js';
import type { Host } from '../../client/host.js';
import { JoinedFleets } from '../../client/joined-fleets.js';
import { shellQuote } from '../../text/shell-words.js';
import { openWindow } from '../../tui/app/open-window.js';
import type { EditorPort } from '../../tui/state/editor-port.js';
import type { SummaryPort } from '../../tui/state/summary-port.js';
import { knownSweeps } from '../open-fleet.js';
import type { LaunchOptions } from '../options.js';
import { outputWidth, print, remark } from '../terminal.js';
import { windowSurroundings } from '../watch.js';
import { HostConnection } from './host-connection.js';
import type { FileAnswers, FileQuestion } from './file-questions.js';
import { type Ask, HostFiles } from './host-files.js';

/**
 * The control window here, on the runs of other hosts.
 *
 * @param what The only sweep to show; null: all.
 * @returns `ended` when every run shown had ended by then, else `detached`.
 * @throws {UserError} When a host cannot be reached, has no runs directory, or the sweep is not known.
 */
export async function showHosts(
  hosts: readonly Host[],
  what: { readonly sweep: string | null } | 'last-launched',
  { options, program }: { readonly options: LaunchOptions; readonly program: string },
): Promise<'detached' | 'ended'> {
  const tools = { program, tell: remark };
  const connections = await Promise.all(hosts.map((host) => HostConnection.open(host, options.runs, tools)));
  try {
    await Promise.all(connections.map(({ fleet }) => fleet.ready()));
    const several = new Hosts(connections);
    const chosen = what === 'last-launched' ? await several.ask({ about: 'last-launched' }) : what.sweep;
    const sweeps = knownSweeps(several.fleets, chosen ?? undefined);
    return await openWindow({
      ...windowSurroundings(options),
      fleet: several.fleets,
      files: new HostFiles(several.ask),
      desk: several.desk,
      summary: (name) => new HostSummary(name, several.ask, options),
      ...(sweeps.length === 1 ? { sweep: sweeps[0]! } : {}),
    });
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The hosts of a window. */
class Hosts {
  readonly fleets: JoinedFleets;
  readonly desk: EditorPort;
  readonly #names: ReadonlyMap<string, HostConnection>;

  constructor(connections: readonly HostConnection[]) {
    this.#names = namesOf(connections);
    this.fleets = new JoinedFleets([...this.#names].map(([name, { fleet }]) => ({ name, fleet })));
    this.desk = new HostDesk((place) => this.#at(place));
  }

  readonly ask: Ask = <Question extends FileQuestion>(question: Question) => {
    const [connection, asked] = this.#addressed(question);
    return connection.ask(asked) as Promise<FileAnswers[Question['about']]>;
  };

  /** The host that knows, and the question in its words. */
  #addressed(question: FileQuestion): [HostConnection, FileQuestion] {
    if ('directory' in question) {
      const [connection, directory] = this.#at(question.directory);
      return [connection, { ...question, directory }];
    }
    if (question.about === 'last-launched') return [[...this.#names.values()][0]!, question];
    const [connection, sweep] = this.#withSweep(question.sweep);
    return [connection, { ...question, sweep }];
  }

  /** Of a place with the name of its host before it: the connection, and the path there. */
  #at(place: string): [HostConnection, string] {
    for (const [name, connection] of this.#names)
      if (place.startsWith(`${name}:/`)) return [connection, place.slice(name.length + 1)];
    throw new Error(`no host has ${place}`);
  }

  #withSweep(sweep: string): [HostConnection, string] {
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

/** A shell there; texts are edited there by the command line. */
class HostDesk implements EditorPort {
  readonly #at: (place: string) => [HostConnection, string];

  constructor(at: (place: string) => [HostConnection, string]) {
    this.#at = at;
  }

  commandOf({ argv }: Parameters<EditorPort['commandOf']>[0]): string {
    return shellQuote(argv);
  }

  openShell(place: string): void {
    const [{ host }, directory] = this.#at(place);
    const command = `cd ${shellQuote([directory])} && exec "\${SHELL:-/bin/sh}" -l`;
    print([`A shell on ${host.name} in ${directory}; \`exit\` returns to the window.`]);
    const { error } = spawnSync('ssh', ['-t', '--', host.name, command], { stdio: 'inherit' });
    if (error !== undefined) throw new UserError(`ssh cannot be started: ${error.message}.`, 'Install OpenSSH.');
  }

  extend(sweep: string): never {
    throw notHere(`memrl-tui extend ${sweep.replace(/@.*/, '')} --host HOST`);
  }

  clone(): never {
    throw notHere('memrl-tui extend --host HOST');
  }

  edit = this.clone.bind(this);
  submit = this.clone.bind(this);
  ownFile = this.clone.bind(this);
  writeOwnFile = this.clone.bind(this);
}

function notHere(command: string): UserError {
  return new UserError('The text of the sweep is on its host.', `Edit it there, in another terminal: \`${command}\`.`);
}
