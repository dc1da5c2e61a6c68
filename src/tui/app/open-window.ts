import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { UserError } from '../../base/user-error.js';
import { runFiles as files } from '../../contract/files.js';
import { UsageReading } from '../../files/disk/disk-usage.js';
import { ChartLines } from '../../files/run-directory/chart-lines.js';
import { packageCount, readRunRecord } from '../../files/run-directory/run-record-file.js';
import { computedFromSeeds } from '../../files/sweep-folder.js';
import { fileSource, lastLines } from '../../logs/log-source.js';
import { readSamples } from '../../logs/samples.js';
import { openOutlinedMetrics, openWholeMetrics } from '../../metrics/outlined-metrics.js';
import { cleanText } from '../../text/display-text.js';
import { capabilitiesOf, GraphicsFinder } from '../terminal/capabilities.js';
import { calmNewsPause, WindowStore } from './window-store.js';
import { ExternalEditor } from './external-editor.js';
import { firstPicture } from './frame.js';
import { listen, Pointer } from '../terminal/input-decoder.js';
import { type Size, Surface } from '../surface/surface.js';
import type { MountedWindow } from '../surface/ink-window.js';
import type { EditorPort, FleetPort, MakeSummary, RunDetails, RunFilesPort } from '../state/port.js';
import type { PreferencesPort } from '../state/preferences-port.js';
import { passingPreferences } from './preferences.js';
import { dieBy, type Interruption, TerminalSession } from '../terminal/terminal-session.js';
import { themeFor } from '../surface/theme.js';
import type { Capabilities } from '../terminal/capabilities.js';
import type { WindowEffect } from '../state/ui-state.js';
import type { mountApp } from './mount-app.js';

type WindowOptions = {
  readonly fleet: FleetPort;
  /** The only sweep to show; default: all sweeps of the supervisor. */
  readonly sweep?: string | undefined;
  readonly stdout: NodeJS.WriteStream;
  readonly stdin: NodeJS.ReadStream;
  /** Creates the summary table of a sweep. */
  readonly summary?: MakeSummary | undefined;
  /** Environment variables: TERM, LANG, NO_COLOR … */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** The user's preferences and where they are stored; without it, choices last until the window is closed. */
  readonly preferences?: PreferencesPort | undefined;
  /** Whether to draw with ASCII only. */
  readonly ascii?: boolean | undefined;
  /** Source of histories and logs; default: the run directories. */
  readonly files?: RunFilesPort | undefined;
  /** Editor, shell and clipboard; without it the window cannot extend, clone or copy. */
  readonly editor?: EditorPort | undefined;
  /** What the window says first. */
  readonly note?: string | undefined;
  /** Called after the first frame is drawn and keys are read, so that anything else can be loaded. */
  readonly onReady?: (() => void) | undefined;
};

/**
 * Shows the control window until the user leaves it. Leaving does not affect runs.
 *
 * @returns `ended` if every shown run had ended by then, otherwise `detached`.
 * @throws UserError if there is no terminal to draw on; any internal error, after the terminal was restored.
 */
export async function openWindow(options: WindowOptions): Promise<Outcome> {
  const { stdin, stdout } = options;
  if (!stdin.isTTY || !stdout.isTTY) {
    throw new UserError(
      'The control window needs a terminal; input or output is a pipe or a file.',
      'Use --plain for one line per event.',
    );
  }
  if (options.environment?.['TERM'] === 'dumb') {
    throw new UserError(
      'TERM is dumb: the control window cannot be drawn on such a terminal.',
      'Set TERM to what the terminal is, for example `export TERM=xterm-256color`, or use --plain.',
    );
  }
  keepYoungGenerationSmall(options.fleet.runs.size);
  return new Promise((resolve, reject) => new WindowLife(options, { resolve, reject }).begin());
}

type Outcome = 'detached' | 'ended';
type Answer = { readonly resolve: (outcome: Outcome) => void; readonly reject: (error: Error) => void };

/** Owns the parts of an open window and closes them once, in the right order. */
class WindowLife {
  readonly #stdin: NodeJS.ReadStream;
  readonly #stdout: NodeJS.WriteStream;
  readonly #onReady: () => void;
  readonly #answer: Answer;
  readonly #surface: Surface;
  readonly #sweep: string | null;
  readonly #store: WindowStore;
  readonly #session: TerminalSession;
  readonly #capabilities: Capabilities;
  readonly #preferences: PreferencesPort;
  readonly #editor: ExternalEditor;
  readonly #environment: NonNullable<WindowOptions['environment']>;
  #graphics: GraphicsFinder;
  #found: ReturnType<GraphicsFinder['found']> = null;
  readonly #pointer = new Pointer((place) => this.#store.hoverChart(this.#surface.hover(place)));
  #mounted: MountedWindow | null = null;
  #deafen: () => void = () => undefined;
  #isOver = false;

  constructor(options: WindowOptions, answer: Answer) {
    this.#stdin = options.stdin;
    this.#stdout = options.stdout;
    this.#onReady = options.onReady ?? (() => undefined);
    this.#answer = answer;
    this.#environment = options.environment ?? {};
    this.#capabilities = capabilitiesOf(this.#environment, options.ascii ?? false, hostname());
    const { fleet, summary, files = runFiles, preferences = passingPreferences() } = options;
    this.#preferences = preferences;
    this.#graphics = this.#graphicsFinder();
    const theme = themeFor(this.#capabilities, preferences.theme);
    this.#surface = new Surface(options.stdout, theme, sizeOf(options.stdout), this.#fail);
    const perform = (order: WindowEffect): void => this.#perform(order);
    const ports = { fleet, files, summary, preferences, perform, now: Date.now, newsPause: calmNewsPause };
    this.#sweep = options.sweep ?? null;
    this.#store = new WindowStore(ports, this.#sweep);
    this.#store.suit({ hasColours: theme.hasColours, isAscii: this.#capabilities.ascii });
    if (options.note !== undefined) this.#store.say({ text: cleanText(options.note), tone: 'warn' });
    this.#session = new TerminalSession(options.stdin, options.stdout, {
      onInterruption: (interruption) => this.#interrupt(interruption),
      onLeave: () => this.#surface.rest(),
      onReturn: () => {
        this.#surface.wake();
        this.#repaint();
      },
    });
    this.#editor = new ExternalEditor({
      port: options.editor,
      preferences,
      lend: (use) => this.#session.lend(use),
      write: (codes) => void this.#stdout.write(codes),
      say: this.#store.say,
      review: this.#store.review,
    });
  }

  begin(): void {
    this.#useMouse();
    this.#session.ask(this.#graphics.questions);
    this.#session.begin();
    this.#stdout.on('resize', this.#repaint);
    try {
      this.#store.resize(this.#stdout.columns, this.#stdout.rows);
      this.#surface.preview(firstPicture(this.#store.model(), this.#surface.size()));
    } catch (error) {
      return this.#fail(error);
    }
    // Ink and React are more than half of the window's code, so the first picture does not wait for them. A key pressed meanwhile
    // stays in the terminal's buffer.
    import('./mount-app.js')
      .then(async ({ loadScreens, mountApp }) => {
        await loadScreens();
        this.#mount(mountApp);
      })
      .catch(this.#fail);
  }

  #mount(mount: typeof mountApp): void {
    if (this.#isOver) return;
    this.#mounted = mount({ store: this.#store, surface: this.#surface, onError: this.#fail });
    this.#stdin.setRawMode(true);
    this.#deafen = listen(this.#stdin, {
      key: this.#store.press,
      paste: (text) => this.#store.paste(text),
      wheel: this.#store.turn,
      click: (cell) => {
        this.#surface.point(cell);
        this.#store.pointChart(this.#surface.hover(cell));
      },
      drag: (cell) => this.#surface.drag(cell),
      move: (cell) => this.#pointer.hear(cell),
      keyboard: () => this.#session.useKeyboard(),
      answer: (codes) => this.#hearOfGraphics(codes),
    });
    this.#onReady();
  }

  #useMouse(): void {
    const { mouse, hover } = this.#preferences;
    this.#session.useMouse(!mouse ? 'off' : hover ? 'moves' : 'clicks');
  }

  /** Charts are not drawn as pictures if text is limited to ASCII. */
  #graphicsFinder(): GraphicsFinder {
    return new GraphicsFinder(this.#capabilities.ascii ? 'none' : this.#preferences.graphics, this.#environment);
  }

  #hearOfGraphics(answer: string): void {
    this.#graphics.hear(answer, sizeOf(this.#stdout));
    this.#showPictures();
  }

  #showPictures(): void {
    const found = this.#graphics.found();
    // Terminals repeat answers that have not changed.
    if (JSON.stringify(found) === JSON.stringify(this.#found)) return;
    this.#found = found;
    const ground = this.#capabilities.ground === 'light' ? white : black;
    this.#session.usePictures(found?.protocol === 'kitty');
    if (found === null) return this.#surface.usePictures(null);
    const graphics = { ...found, background: found.background ?? ground };
    import('../surface/graphics/picture-layer.js')
      .then(({ PictureLayer }) => {
        // Another answer may have arrived meanwhile.
        if (this.#found !== found || this.#isOver) return;
        this.#surface.usePictures((theme) => new PictureLayer(graphics, theme, Date.now));
      })
      .catch(this.#fail);
  }

  readonly #fail = (error: unknown): void => this.#finish(() => this.#answer.reject(asError(error)));

  readonly #repaint = (): void => {
    this.#store.resize(this.#stdout.columns, this.#stdout.rows);
    this.#surface.resize(sizeOf(this.#stdout));
    this.#session.askNow(this.#graphics.sizeQuestion);
  };

  #perform(order: WindowEffect): void {
    if (order.type === 'ring') this.#stdout.write('\u0007');
    else if (order.type === 'repaint') this.#repaint();
    else if (order.type === 'suspend') this.#session.suspend();
    else if (order.type === 'leave') this.#finish(() => this.#answer.resolve(this.#hasSeenEnd ? 'ended' : 'detached'));
    else this.#editor.run(order);
    if (order.type === 'prefer') this.#prefer();
  }

  /** Applies preferences at once; writing them takes longer. */
  #prefer(): void {
    this.#useMouse();
    this.#graphics = this.#graphicsFinder();
    this.#session.ask(this.#graphics.questions);
    this.#showPictures();
    const theme = themeFor(this.#capabilities, this.#preferences.theme);
    this.#surface.restyle(theme);
    this.#store.suit({ hasColours: theme.hasColours, isAscii: this.#capabilities.ascii });
    this.#store.prefer();
  }

  /** Whether all runs have ended, provided that the window shows the sweep it was opened for. */
  get #hasSeenEnd(): boolean {
    return this.#store.isEnded && this.#store.sweep === this.#sweep;
  }

  #interrupt(interruption: Interruption): void {
    this.#finish(() => {
      if (interruption.kind === 'error') this.#answer.reject(asError(interruption.error));
      else this.#answer.resolve('detached');
      if (interruption.kind === 'signal') dieBy(interruption.signal);
    });
  }

  /**
   * Closes the window: first what draws and what reads keys (either would otherwise act on the user's own screen), then the
   * terminal, then reports the outcome.
   */
  #finish(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#stdout.off('resize', this.#repaint);
    this.#store.close();
    this.#deafen();
    this.#pointer.close();
    this.#surface.rest();
    this.#mounted?.unmount();
    this.#session.end();
    tell();
  }
}

const black = [0, 0, 0] as const;
const white = [255, 255, 255] as const;

function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { width: columns, height: rows };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Maximum number of runs for a small young generation; with more, it fills so often that collection takes a fifth more time. */
const most = 2000;

/**
 * Keeps the part of the heap for new objects at its initial size. By default it grows to 32 MB, which a window that receives all
 * runs ten times a second soon fills. This saves a fifth of the window's memory at no measurable cost in time.
 *
 * @param runs Number of runs in the window. With very many, the garbage collector gets the room it asks for.
 */
export function keepYoungGenerationSmall(runs: number): void {
  if (runs <= most) setFlagsFromString('--semi-space-growth-factor=1');
}

const chartLines = new ChartLines();

/** A reader of a run's metrics that also has the lines for its charts. */
export function withChartLines<Reader extends object>(directory: string, reader: Reader) {
  return Object.assign(reader, { lines: () => chartLines.of(directory) });
}

/** The run directories on this machine. */
export const runFiles: RunFilesPort = {
  metrics: (directory) => withChartLines(directory, openOutlinedMetrics(directory)),
  wholeMetrics: openWholeMetrics,
  logTail: (directory, count) => lastLines(join(directory, files.log), count),
  openLog: (directory) => fileSource(join(directory, files.log)),
  runDetails: readRunDetails,
  fromSeeds: computedFromSeeds,
  samples: readSamples,
  usage: (directory) => new UsageReading(directory),
};

/** Reads the run's details. Files about the code are in the directory of the sweep. */
function readRunDetails(directory: string): RunDetails | null {
  const record = readRunRecord(directory);
  if (record === null) return null;
  const { packages } = record;
  return { record, packages: typeof packages === 'string' ? packageCount(join(dirname(directory), packages)) : null };
}
