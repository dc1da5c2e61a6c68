import { withLazy } from '../../base/lazy.js';
import { finished, type Steps } from '../../base/steps.js';
import { cleanText } from '../../text/display-text.js';
import { withOwnZoom } from '../keys/chart-handler.js';
import type { KeyContext, Press } from '../keys/key-context.js';
import { withoutStaleQuestion } from '../keys/run-verb-handler.js';
import { Bell } from '../model/attention.js';
import { type ListModel, ListModelBuilder } from '../model/list-model.js';
import { RunCurves } from '../model/run-curves.js';
import { rowOfSelection, scrollTo } from '../model/selection.js';
import { isOver } from '../model/tally.js';
import { Throttle } from '../model/throttle.js';
import type { Extent, ModelSource } from '../model/use-model.js';
import type { WindowModel } from '../model/window-model.js';
import { listPage } from '../screens/jobs/jobs-lines.js';
import { select } from '../screens/jobs/jobs.js';
import { livingMarks, orderedBy } from '../screens/jobs/list-handler.js';
import { chosenKeys } from '../screens/key-map.js';
import type { Draft } from '../state/port.js';
import type { ColumnWidths, PanePart, PreferencesPort } from '../state/preferences-port.js';
import { type Dialog, initialUi, type Note, type Screen, type ScreenKind, type UiState } from '../state/ui-state.js';
import { ListMemory, PaneMemory } from '../widgets/run-list/list-memory.js';
import { sortOfHeading } from '../widgets/run-list/list-pane.js';
import { FleetEffects, isFleetEffect } from './fleet-effects.js';
import { type Moment, type WindowPorts, WindowReader } from './window-reader.js';
import { Clicks } from '../terminal/input-decoder.js';
import { bodyOf, isSmall } from './frame.js';
import { passingPreferences } from './preferences.js';

/** Update interval in ms: four pictures a second look as good as ten at half the cost. */
export const calmNewsPause = 240;

/** `row`: key of the row under the pointer; `cursor`: as in `ChartChoice`. */
type Hover = { readonly row: string | null; readonly cursor: number | null };
const nowhere: Hover = { row: null, cursor: null };

/** Maximum length of text that a prompt takes from a paste, in UTF-16 units. */
const mostPasted = 500;
/** Rows per notch of the wheel. */
const notch = 3;

/**
 * State of one window: takes keys and news, and computes what to show.
 *
 * Holds no copy of the runs; the model is computed from the current fleet. Knows nothing of terminals, Ink or React.
 */
export class WindowStore implements ModelSource {
  readonly #ports: WindowPorts;
  #press: Press = unheard;
  /** Renders what has changed, so that keys know the layout. */
  #commit: () => void = () => undefined;
  /** Draws the answer to a key without waiting for a turn. */
  #draw: () => void = () => undefined;
  #extent: Extent | null = null;
  readonly #preferences: PreferencesPort;
  readonly #panes: PaneMemory;
  #memory: ListMemory;
  readonly #curves: RunCurves;
  readonly #listModels: ListModelBuilder;
  readonly #reader: WindowReader;
  readonly #orders: FleetEffects;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  /** Limits updates: with very many runs a publication is expensive, so some are skipped. */
  readonly #news: Throttle;
  #ui: UiState = initialUi;
  #size = { width: 80, height: 24 };
  #version = 0;
  #hovered = nowhere;
  readonly #bell = new Bell();
  readonly #clicks = new Clicks();
  readonly #passing = new PassingNote(() => this.#forgetNote());

  /** `sweep`: the only sweep shown at first; null: all of them. */
  constructor(ports: WindowPorts, sweep: string | null) {
    this.#ports = ports;
    this.#preferences = ports.preferences ?? passingPreferences();
    this.#panes = new PaneMemory(this.#preferences);
    const { keys, problem: wrongKeys } = chosenKeys(this.#preferences);
    const problem = this.#preferences.problem ?? wrongKeys;
    const { guides } = this.#preferences;
    this.#memory = this.#memoryOf(sweep);
    const note = problem === null ? null : ({ text: cleanText(problem), tone: 'warn' } as const);
    this.#ui = this.#restored({ ...initialUi, sweep, keys, note, chart: { ...initialUi.chart, guides } });
    this.#curves = new RunCurves(ports.files, () => this.#changed());
    this.#listModels = new ListModelBuilder(ports.fleet, this.#curves, () => this.#changed());
    this.#reader = new WindowReader({
      ...{ fleet: ports.fleet, files: ports.files, summary: ports.summary, now: ports.now },
      pending: () => this.#orders.pending,
      changed: () => this.#changed(),
      change: (edit) => {
        this.#ui = edit(this.#ui);
        this.#changed();
      },
    });
    this.#orders = new FleetEffects(ports.fleet, (note) => {
      // The effect of a request is shown together with its answer, because the next key may depend on it.
      this.#news.hurry();
      this.say(note);
    });
    this.#news = new Throttle(() => this.#hearFleet(), ports.now, ports.newsPause);
    this.#unsubscribe = ports.fleet.subscribe(() => this.#news.ask());
    finished(this.#hearFleet());
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Increases whenever a new frame would look different. */
  readonly version = (): number => this.#version;

  get size(): { width: number; height: number } {
    return this.#size;
  }

  /** The shown sweep; null: all of them. */
  get sweep(): string | null {
    return this.#ui.sweep;
  }

  /** Whether every shown run has ended and none is still to be proposed. */
  get isEnded(): boolean {
    return this.#ports.fleet.status.growing === undefined && isOver(this.#listModel().tally);
  }

  resize(width: number, height: number): void {
    if (width !== this.#size.width || height !== this.#size.height) {
      this.#panes.keep(this.#size, this.#ui.panes);
      this.#size = { width, height };
      this.#ui = { ...this.#ui, panes: this.#panes.of(this.#size) };
    }
    this.#changed();
  }

  /**
   * Sets the key handler. It is loaded with the components, since dialogs have both in one file; the first picture needs neither.
   */
  listen(press: Press, commit: () => void = () => undefined, draw: () => void = () => undefined): void {
    this.#press = press;
    this.#commit = commit;
    this.#draw = draw;
  }

  /** What keys need to know. */
  readonly context = (): KeyContext => this.#reader.context(this.#moment());

  readonly laidOut = (extent: Extent): void => void (this.#extent = extent);

  /** Handles a key, named as `keyNames` does. */
  readonly press = (key: string): void => {
    // After another key of the same read, the screen has not been laid out yet.
    if (this.#ui.screen.kind !== 'jobs') this.#commit();
    const { ui, order } = this.#press(this.#ui, key, this.context());
    if (isOtherPlace(ui.screen, this.#ui.screen)) this.#extent = null;
    this.#ui = ui.sweep === this.#ui.sweep ? ui : this.#switched(ui);
    // A key press makes the keyboard cursor visible again.
    this.#hovered = nowhere;
    this.#memory.keepViews(ui);
    if (order !== undefined && isFleetEffect(order)) void this.#orders.send(order);
    else if (order !== undefined) this.#ports.perform(order);
    this.#changed();
    this.#draw();
  };

  /** Inserts pasted text into a prompt; without a prompt, pasted text is ignored rather than taken for keys. */
  paste(text: string): void {
    const { dialog } = this.#ui;
    const isMenu = 'typed' in dialog;
    if (!('line' in dialog) && !isMenu) {
      this.say({
        text: 'Pasted text is ignored here; paste it into a prompt, for example after /.',
        tone: 'warn',
      });
      return;
    }
    for (const character of cleanText(text).slice(0, mostPasted)) {
      if (character !== ' ') this.press(character);
      // In a menu, space is a key with its own meaning.
      else if (!isMenu) this.press('space');
    }
  }

  /**
   * Handles a notch of the wheel, which moves what is under the pointer. It neither answers questions nor recalls earlier input.
   */
  readonly turn = (way: 'up' | 'down'): void => {
    const { dialog, screen } = this.#ui;
    if (dialog.kind !== 'none' && !('index' in dialog) && !('top' in dialog)) return;
    // If each step of the cursor changes a picture, three steps would skip two.
    const times = screen.kind === 'gpus' || screen.kind === 'parameters' ? 1 : notch;
    for (let time = 0; time < times; time++) this.press(way);
  };

  /** Handles a click on a row of the list, counted from the first visible row. */
  readonly clickRow = (row: number): void => {
    const at = this.#rowOfList(row);
    if (at !== null) this.#selectRow(at);
  };

  /** Highlights the curve of the row under the pointer, counted likewise; null: no row. */
  readonly hoverRow = (row: number | null): void => {
    const at = row === null ? null : this.#rowOfList(row);
    this.#hover({ row: at === null ? null : this.#listModel().rows[at]!.key });
  };

  /** Puts the cursor of the charts where one was clicked; null: the click was on no chart. */
  pointChart(across: number | null): void {
    const { chart, dialog } = this.#ui;
    if (across === null || dialog.kind !== 'none') return;
    const { from, to } = chart.zoom ?? { from: 0, to: 1 };
    this.#ui = { ...this.#ui, chart: { ...chart, cursor: from + across * (to - from) } };
    this.#changed();
  }

  /** Shows chart values under the pointer, at a fraction from 0 to 1 of the x axis; null: the pointer is over no chart. */
  hoverChart(across: number | null): void {
    const { from, to } = this.#ui.chart.zoom ?? { from: 0, to: 1 };
    this.#hover({ cursor: across === null || this.#ui.dialog.kind !== 'none' ? null : from + across * (to - from) });
  }

  /** Does nothing if the pointer is still over the same thing. */
  #hover(change: Partial<Hover>): void {
    const next = { ...this.#hovered, ...change };
    if (next.row === this.#hovered.row && next.cursor === this.#hovered.cursor) return;
    this.#hovered = next;
    this.#changed();
  }

  /** Index of a visible row in the whole list; null: there is no such row, or a dialog covers it. */
  #rowOfList(row: number): number | null {
    if (this.#ui.dialog.kind !== 'none' || row < 0) return null;
    const listModel = this.#listModel();
    const page = listPage(bodyOf(this.#size), { isSmall: isSmall(this.#size), wanted: this.#ui.panes.list });
    const at = row + scrollTo(rowOfSelection(listModel, this.#ui), this.#ui.top, page, listModel.rows.length);
    return at < listModel.rows.length ? at : null;
  }

  /** Handles a click on the heading of the list: sorts by that column, or reverses the order if it already does. */
  readonly clickHeading = (column: number, width: number): void => {
    if (this.#ui.dialog.kind !== 'none') return;
    const by = sortOfHeading(this.model(), width, column);
    if (by === null) return;
    const isReversed = this.#ui.sort.by === by && !this.#ui.sort.isReversed;
    this.#ui = orderedBy({ ...this.#ui, note: null }, { by, isReversed }, this.context()).ui;
    this.#changed();
  };

  readonly resizePane = (part: PanePart, size: number): void => this.#resize({ [part]: size });

  readonly resizeColumns = (columns: ColumnWidths): void => this.#resize({ columns });

  #resize(change: Partial<UiState['panes']>): void {
    if (this.#ui.dialog.kind !== 'none') return;
    this.#ui = { ...this.#ui, panes: { ...this.#ui.panes, ...change } };
    this.#changed();
  }

  /** Handles a click on a row of the open menu: moves the cursor there and presses `key`. */
  readonly chooseRow = (index: number, key: string): void => {
    const { dialog } = this.#ui;
    if (!('index' in dialog)) return;
    this.#ui = { ...this.#ui, dialog: { ...dialog, index } };
    this.press(key);
  };

  /** Selects a row; a double click opens it. */
  #selectRow(row: number): void {
    const isSecond = this.#clicks.isSecond(row, this.#ports.now());
    const at = this.context();
    this.#ui = withOwnZoom(this.#ui, select({ ...this.#ui, note: null }, row, at).ui, at);
    if (isSecond) this.press('enter');
    else this.#changed();
  }

  /** Applies chosen keys and guides; other preferences do not affect frames. */
  prefer(): void {
    const { keys, problem } = chosenKeys(this.#preferences);
    const { guides } = this.#preferences;
    this.#ui = { ...this.#ui, keys, chart: { ...this.#ui.chart, guides } };
    if (problem === null) this.#changed();
    else this.say({ text: cleanText(problem), tone: 'warn' });
  }

  /**
   * Sets what the terminal can show. Without colours, chart lines are dashed; in ASCII they have marks, and names are limited to
   * ASCII.
   */
  suit({ hasColours, isAscii }: { readonly hasColours: boolean; readonly isAscii: boolean }): void {
    this.#ui = { ...this.#ui, isAscii, chart: { ...this.#ui.chart, hasDashes: !hasColours && !isAscii } };
    this.#changed();
  }

  /** What to show: the same object until something changes. */
  readonly model = (): WindowModel => this.#reader.model(this.#moment());

  /** Data of one screen; null while another one is shown. */
  readonly screenData = (kind: ScreenKind): unknown => this.#reader.screenData(kind, this.#moment());

  /** Ends timers and subscriptions. Requests no further frames. */
  close(): void {
    this.#memory.keepLook(this.#ui);
    this.#panes.keep(this.#size, this.#ui.panes);
    this.#unsubscribe();
    this.#reader.close();
    this.#curves.close();
    this.#listModels.close();
    this.#news.close();
    this.#passing.close();
  }

  /** Shows a note until the next key. */
  readonly say = (note: Note): void => {
    this.#ui = { ...this.#ui, note };
    this.#changed();
  };

  /** Shows what submitting a draft would do, and asks; null: stops showing it. */
  readonly review = (draft: Draft | null): void => {
    const dialog: Dialog = draft === null ? { kind: 'none' } : { kind: 'draft', draft, top: 0 };
    this.#ui = { ...this.#ui, dialog, note: null };
    this.#changed();
  };

  /**
   * Restores the state in which another sweep was last shown. Choices of the previous sweep are dropped except those that hold for
   * all sweeps.
   */
  #switched({ sweep, keys, isAscii, filters, panes, chart: { hasDashes, guides }, note }: UiState): UiState {
    this.#memory.keepLook(this.#ui);
    this.#memory = this.#memoryOf(sweep);
    const chart = { ...initialUi.chart, hasDashes, guides };
    return this.#restored({ ...initialUi, sweep, keys, isAscii, filters, panes, chart, note });
  }

  #memoryOf(sweep: string | null): ListMemory {
    return new ListMemory(this.#preferences, sweep, (text) => this.say({ text: cleanText(text), tone: 'warn' }));
  }

  #restored(ui: UiState): UiState {
    const { fleet, now } = this.#ports;
    const known = [...fleet.runs.values()].filter((run) => ui.sweep === null || run.sweep === ui.sweep);
    return this.#memory.restored(ui, known, now());
  }

  #changed(): void {
    this.#version++;
    this.#passing.hear(this.#ui.note);
    this.#listeners.forEach((listener) => listener());
  }

  #forgetNote(): void {
    this.#ui = { ...this.#ui, note: null };
    this.#changed();
  }

  #moment(): Moment {
    const known = { ui: this.#shownUi(), size: this.#size, version: this.#version, extent: this.#extent };
    // The list model is computed only if something has changed.
    return withLazy(known, { listModel: () => this.#listModel() });
  }

  /** The state with what the pointer is over, which does not become a choice. */
  #shownUi(): UiState {
    const { row, cursor } = this.#hovered;
    if (row === null && cursor === null) return this.#ui;
    return { ...this.#ui, hovered: row, chart: { ...this.#ui.chart, cursor: cursor ?? this.#ui.chart.cursor } };
  }

  #listModel(): ListModel {
    return this.#listModels.listModel(this.#ui, this.#ports.now());
  }

  /** Takes what the fleet has published, in steps if there are many runs. */
  *#hearFleet(): Steps {
    yield* this.#listModels.takeNews(() => this.#ui, this.#ports.now());
    const { runs } = this.#ports.fleet;
    const marks = livingMarks(this.#ui.marks, runs);
    this.#ui = withoutStaleQuestion(marks === this.#ui.marks ? this.#ui : { ...this.#ui, marks }, runs);
    this.#reader.hear();
    if (this.#bell.hear(runs.values(), this.isEnded, this.#ports.now())) this.#ports.perform({ type: 'ring' });
    this.#changed();
  }
}

/** Whether another screen, or another pane or view of one, is shown. */
function isOtherPlace(a: Screen, b: Screen): boolean {
  if ('pane' in a && 'pane' in b) return a.pane !== b.pane;
  return a.kind !== b.kind || ('view' in a && 'view' in b && a.view !== b.view);
}

/** Throws: keys must wait in the terminal until the window is mounted. */
function unheard(): never {
  throw new Error('A key was pressed before the window was mounted.');
}

/** How long a passing note is shown, in ms: long enough to read it twice. */
const shownFor = 5000;

/** Removes passing notes (`Nothing was killed.`) after a while. Notes that need attention stay until the next key. */
export class PassingNote {
  readonly #forget: () => void;
  #note: Note | null = null;
  #timer: NodeJS.Timeout | undefined;

  /** @param forget Called when the last note has been shown long enough. */
  constructor(forget: () => void) {
    this.#forget = forget;
  }

  /** `note`: the note shown now; the same object while it stays. */
  hear(note: Note | null): void {
    if (note === this.#note) return;
    this.close();
    this.#note = note;
    if (note?.tone === 'dim') this.#timer = setTimeout(this.#forget, shownFor);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
