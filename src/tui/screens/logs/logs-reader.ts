import { readOrWait, type RunFilesPort, type RunSummary } from '../../state/port.js';
import { noFiles, type ScreenData, type ScreenEntry, type ScreenSource, type ScreenTools } from '../screen.js';
import { logsKeys, logsOpener } from './keys.js';
import type { LogTile } from './logs-screen.js';

/** Several logs side by side. */
export const logs: ScreenEntry<'logs', readonly LogTile[]> = {
  ...{ name: 'logs', keys: logsKeys, opener: logsOpener, data: (tools) => new LogsReader(tools) },
  component: () => import('./logs-screen.js').then(({ LogsScreen }) => LogsScreen),
};

/** Time between two looks at the logs, in ms. */
const period = 500;
/** Lines read from the end of each: what a tile of a large terminal shows. */
const lineCount = 120;

/** Reads the ends of several logs while they are shown, one log per turn of the event loop. */
class LogsReader implements ScreenData<'logs', readonly LogTile[]> {
  readonly #files: Pick<RunFilesPort, 'logTail'>;
  readonly #changed: () => void;
  readonly #lines = new Map<string, readonly string[]>();
  #wanted: readonly string[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor({ files, changed }: Pick<ScreenTools, 'files' | 'changed'>) {
    this.#files = files;
    this.#changed = changed;
  }

  wanted(source: ScreenSource<'logs'>) {
    this.#wanted = runsOf(source).map(({ directory }) => directory);
    this.#timer ??= setTimeout(() => this.#look(0), 0);
    return noFiles;
  }

  read(source: ScreenSource<'logs'>): readonly LogTile[] {
    return runsOf(source).map((run, index) => ({
      run,
      lines: this.#lines.get(run.directory) ?? [],
      isChosen: index === source.screen.at,
    }));
  }

  context() {
    return { page: 2 };
  }

  rest(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#lines.clear();
  }

  close(): void {
    this.rest();
  }

  #look(index: number): void {
    const directory = this.#wanted[index];
    if (directory === undefined) {
      this.#timer = setTimeout(() => this.#look(0), period);
      return;
    }
    const lines = readOrWait(() => this.#files.logTail(directory, lineCount), this.#changed);
    if (lines !== undefined && !isSame(lines, this.#lines.get(directory))) {
      this.#lines.set(directory, lines);
      this.#changed();
    }
    this.#timer = setTimeout(() => this.#look(index + 1), 0);
  }
}

/** The shown runs that still exist. */
function runsOf({ screen, fleet }: ScreenSource<'logs'>): RunSummary[] {
  return screen.runs.flatMap((id) => fleet.runs.get(id) ?? []);
}

function isSame(lines: readonly string[], known: readonly string[] | undefined): boolean {
  return known?.length === lines.length && lines.every((line, index) => line === known[index]);
}
