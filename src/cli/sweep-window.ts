import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { errorText, UserError } from '../base/user-error.js';
import type { Ack, Fleet, RunSummary } from '../client/fleet.js';
import { PreferencesFile, preferencesPath } from '../files/preferences.js';
import { looksOnly, looksOnlyFix } from '../protocol/message.js';
import type { FollowedStudies } from '../report/studies/followed-studies.js';
import type { studyFiles } from '../report/studies/found-studies.js';
import { openWindow } from '../tui/app/open-window.js';
import { preferencesIn } from '../tui/app/preferences.js';
import type { Draft, EditorPort, LinesPort, OwnFile, SummaryPort } from '../tui/state/port.js';
import type { Launched } from './editor/sweep-source.js';
import { type LaunchOptions, runsDirectory } from './options.js';
import { runsOf } from './plain/watched-run.js';
import { own } from './ports.js';
import type { readReport } from './print-report.js';
import { terminalStreams } from './terminal.js';

/** `note`: what the window says first; null: nothing. */
type Opening = { readonly note: string | null; readonly onReady: () => void };

/** Shows a sweep in the window; null: all sweeps of the supervisor. @returns How the window was left. */
export function showSweep(fleet: Fleet, sweep: string | null, launched: Launched & Opening) {
  const { options, note } = launched;
  const lazy = new LazyEditor(fleet, launched);
  return openWindow({
    ...windowHost(options),
    fleet,
    editor: options.readOnly === true ? readOnlyEditor(lazy) : lazy,
    onReady: () => {
      lazy.load();
      launched.onReady();
    },
    summary: (name) =>
      sweepSummary(options, {
        results: (report, look) => report.readReport(name, { ...options, ...look }, { fleet, pause: () => turn() }),
        place: () => ({ directory: join(runsDirectory(options.runs), name), runs: runsOf(fleet, name) }),
      }),
    ...(sweep === null ? {} : { sweep }),
    ...(note === null ? {} : { note }),
  });
}

/** The terminal, environment and preferences of a window. */
export function windowHost({ ascii }: Pick<LaunchOptions, 'ascii'>) {
  const preferences = preferencesIn(new PreferencesFile(preferencesPath(own().env)));
  return { ...terminalStreams(), environment: own().env, ascii, preferences };
}

type ReportPrinter = { readonly readReport: typeof readReport };

/** Where the results of a sweep are. `look`: what the window shows elsewhere. */
type SummarySource = {
  readonly results: (
    report: ReportPrinter,
    look: { readonly hasAnswers: false; readonly hasStudies: false },
  ) => ReturnType<ReportPrinter['readReport']>;
  /** The directory beside the runs, and those. */
  readonly place: () => { readonly directory: string; readonly runs: Parameters<typeof studyFiles>[1] };
};

/** The summary table of a sweep and its studies, for the window: worked out between its keys and frames. */
export function sweepSummary({ ascii }: Pick<LaunchOptions, 'ascii'>, { results, place }: SummarySource): SummaryPort {
  let followed: FollowedStudies | null = null;
  const look = { hasAnswers: false, hasStudies: false } as const;
  const table = readBeside(async () => results(await import('./print-report.js'), look));
  return Object.assign(table, {
    studies: readBeside(async () => {
      followed ??= new (await import('../report/studies/followed-studies.js')).FollowedStudies(ascii ?? false);
      const { directory, runs } = place();
      return followed.read(directory, runs, () => turn());
    }),
  });
}

/** Lines that are read in the background, once at a time. */
function readBeside(read: () => Promise<NonNullable<LinesPort['lines']>>): LinesPort {
  let refreshing: Promise<void> | null = null;
  const port = {
    lines: null as LinesPort['lines'],
    refresh: () => (refreshing ??= readAgain().finally(() => (refreshing = null))),
  };
  const readAgain = async () => {
    port.lines = await read();
  };
  return port;
}

/** The editor with the sweep-file parser, which is loaded after the window's first frame. */
class LazyEditor implements EditorPort {
  readonly #fleet: Fleet;
  readonly #launched: Launched;
  #editor: EditorPort | null = null;
  #problem: string | null = null;
  #loading: Promise<void> | null = null;

  constructor(fleet: Fleet, launched: Launched) {
    this.#fleet = fleet;
    this.#launched = launched;
  }

  get loading(): Promise<void> | null {
    return this.#loading;
  }

  /** Loads the parser. An error is reported when it is used. */
  load(): void {
    this.#loading = this.#load().finally(() => (this.#loading = null));
  }

  async #load(): Promise<void> {
    try {
      const { TerminalEditor } = await import('./editor/terminal-editor.js');
      this.#editor = new TerminalEditor(this.#fleet, this.#launched);
    } catch (error) {
      this.#problem = errorText(error);
    }
  }

  commandOf(run: RunSummary): string {
    return this.#loaded().commandOf(run);
  }

  openShell(directory: string): void {
    this.#loaded().openShell(directory);
  }

  openTerminal(run: RunSummary): void {
    this.#loaded().openTerminal(run);
  }

  extend(sweep: string): Draft {
    return this.#loaded().extend(sweep);
  }

  clone(run: RunSummary): Draft {
    return this.#loaded().clone(run);
  }

  edit(draft: Draft): Draft {
    return this.#loaded().edit(draft);
  }

  submit(draft: Draft): Promise<Ack> {
    return this.#loaded().submit(draft);
  }

  ownFile(draft: Draft): OwnFile | null {
    return this.#loaded().ownFile(draft);
  }

  writeOwnFile(draft: Draft): void {
    this.#loaded().writeOwnFile(draft);
  }

  #loaded(): EditorPort {
    if (this.#editor !== null) return this.#editor;
    throw new UserError(
      `A part of the program is missing: ${this.#problem ?? 'it was not loaded'}.`,
      'Detach with q and attach again.',
    );
  }
}

/** The editor of a window that only looks: the command of a run can be copied; a shell or an editor could change something. */
export function readOnlyEditor(port: EditorPort): EditorPort {
  return {
    get loading() {
      return port.loading ?? null;
    },
    commandOf: (run) => port.commandOf(run),
    ...{ openShell: refuse, openTerminal: refuse, extend: refuse, clone: refuse, edit: refuse, submit: refuse },
    ...{ ownFile: refuse, writeOwnFile: refuse },
  };
}

function refuse(): never {
  throw new UserError(looksOnly, looksOnlyFix);
}
