import { withLazy } from '../../base/lazy.js';
import { cleanText } from '../../text/display-text.js';
import { Bell } from '../terminal/bell.js';
import type { Draft } from '../state/editor-port.js';
import { FleetEffects, isFleetEffect } from './fleet-effects.js';
import type { Press } from '../keys/key-context.js';
import { rowOfSelection } from '../model/selection.js';
import { type Moment, WindowReader } from './window-reader.js';
import { ListMemory } from '../widgets/run-list/list-memory.js';
import { type ListModel, ListModelBuilder } from '../model/list-model.js';
import { RunCurves } from '../model/run-curves.js';
import { orderedBy } from '../screens/jobs/sort-handler.js';
import { sortOfHeading } from '../widgets/run-list/list-pane.js';
import { livingMarks } from '../screens/jobs/mark-handler.js';
import { select } from '../screens/jobs/selection-keys.js';
import { withOwnZoom } from '../keys/chart-handler.js';
import { Clicks } from './clicks.js';
import { bodyOf, isSmall } from './layout.js';
import { listPage } from '../screens/jobs/layout.js';
import type { ModelSource } from '../model/use-model.js';
import type { FleetPort, RunFilesPort } from '../state/port.js';
import type { PreferencesPort } from '../state/preferences-port.js';
import { PassingNote } from './passing-note.js';
import { passingPreferences } from './preferences.js';
import type { MakeSummary } from '../state/summary-port.js';
import { Throttle } from '../model/throttle.js';
import {
  type Dialog,
  initialUi,
  type Note,
  type ScreenKind,
  type UiState,
  type WindowEffect,
} from '../state/ui-state.js';
import { scrollTo } from '../widgets/scroll.js';
import { isOver } from '../model/tally.js';
import type { WindowModel } from '../model/window-model.js';

/** What the window needs of the world. */
type WindowPorts = {
  readonly fleet: FleetPort;
  readonly files: RunFilesPort;
  /** What the person prefers; without it nothing is kept. */
  readonly preferences?: PreferencesPort | undefined;
  /** Unix ms. */
  readonly now: () => number;
  /** Between two looks at the news of the fleet, ms; none unless it is given. Keys are answered at once in any case. */
  readonly newsPause?: number;
  /** The table of what the runs of a sweep came to; undefined when there is none. */
  readonly summary?: MakeSummary | undefined;
  /** Closes the window, gives the terminal back for a while, draws everything again. */
  readonly perform: (order: WindowEffect) => void;
};

/** Four pictures a second are as good to the eye as ten, at half the cost, ms. */
export const calmNewsPause = 240;

/** `row`: key of that under the pointer; `cursor`: as in `ChartChoice`. */
type Hover = { readonly row: string | null; readonly cursor: number | null };
const nowhere: Hover = { row: null, cursor: null };

/** Longest text a prompt takes from a paste, in UTF-16 units. */
const mostPasted = 500;
/** Rows per notch of the wheel. */
const notch = 3;

/**
 * The life of one window: takes keys and news, and says what there is to show.
 *
 * Holds no copy of the runs; what is shown is computed from the fleet as it is. Knows nothing of terminals, Ink or React.
 */
export class WindowStore implements ModelSource {
  readonly #ports: WindowPorts;
  #press: Press = unheard;
  readonly #preferences: PreferencesPort;
  #memory: ListMemory;
  readonly #curves: RunCurves;
  readonly #scenes: ListModelBuilder;
  readonly #reader: WindowReader;
  readonly #orders: FleetEffects;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  /** With very many runs a publication is dear: not every one is shown. */
  readonly #news: Throttle;
  #ui: UiState = initialUi;
  #size = { width: 80, height: 24 };
  #version = 0;
  #hovered = nowhere;
  readonly #bell = new Bell();
  readonly #clicks = new Clicks();
  readonly #passing = new PassingNote(() => this.#forgetNote());

  /** `sweep`: the only sweep to show at first; null shows all the fleet knows. */
  constructor(ports: WindowPorts, sweep: string | null) {
    this.#ports = ports;
    this.#preferences = ports.preferences ?? passingPreferences();
    const { keys, problem } = this.#preferences;
    this.#memory = this.#memoryOf(sweep);
    const note = problem === null ? null : ({ text: cleanText(problem), tone: 'warn' } as const);
    this.#ui = this.#restored({ ...initialUi, sweep, keys, note });
    this.#curves = new RunCurves(ports.files, () => this.#changed());
    this.#scenes = new ListModelBuilder(ports.fleet, this.#curves);
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
      // What an order did is seen with its answer: the next key may be meant for it.
      this.#news.hurry();
      this.say(note);
    });
    this.#news = new Throttle(() => this.#hearFleet(), ports.now, ports.newsPause);
    this.#unsubscribe = ports.fleet.subscribe(() => this.#news.ask());
    this.#hearFleet();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Grows whenever a new frame would look different. */
  readonly version = (): number => this.#version;

  get size(): { width: number; height: number } {
    return this.#size;
  }

  /** The sweep that is shown; null: all of them. */
  get sweep(): string | null {
    return this.#ui.sweep;
  }

  /** Whether every run shown has ended, and none is still to be proposed. */
  get isEnded(): boolean {
    return this.#ports.fleet.status.growing === undefined && isOver(this.#scene().tally);
  }

  resize(width: number, height: number): void {
    this.#size = { width, height };
    this.#changed();
  }

  /** Hands over what keys do. They come with the components, as dialogs have both in one place; the first picture needs neither. */
  listen(press: Press): void {
    this.#press = press;
  }

  /** `key`: a name as `keyNames` gives it. */
  readonly press = (key: string): void => {
    const { ui, order } = this.#press(this.#ui, key, this.#reader.context(this.#moment()));
    this.#ui = ui.sweep === this.#ui.sweep ? ui : this.#switched(ui);
    // The cursor of the keys is seen again.
    this.#hovered = nowhere;
    this.#memory.keepViews(ui);
    if (order !== undefined && isFleetEffect(order)) void this.#orders.send(order);
    else if (order !== undefined) this.#ports.perform(order);
    this.#changed();
  };

  /** Pasted text goes to a prompt; without one it is not taken for keys, whatever it says. */
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
      // In a menu a space is a key with a meaning.
      else if (!isMenu) this.press('space');
    }
  }

  /** A notch of the wheel moves what is under the pointer. It answers no question, and does not leaf through what was typed before. */
  readonly turn = (way: 'up' | 'down'): void => {
    const { dialog, screen } = this.#ui;
    if (dialog.kind !== 'none' && !('index' in dialog) && !('top' in dialog)) return;
    // Where a step of the cursor changes a picture, three would skip two.
    const times = screen.kind === 'gpus' || screen.kind === 'parameters' ? 1 : notch;
    for (let time = 0; time < times; time++) this.press(way);
  };

  /** A click on a row of the list, counted from the first that is shown. */
  readonly clickRow = (row: number): void => {
    const at = this.#rowOfList(row);
    if (at !== null) this.#selectRow(at);
  };

  /** The pointer is over a row of the list, counted likewise, or over none: its curve stands out. */
  readonly hoverRow = (row: number | null): void => {
    const at = row === null ? null : this.#rowOfList(row);
    this.#hover({ row: at === null ? null : this.#scene().rows[at]!.key });
  };

  /** The pointer is so far along the x axis of a chart, from 0 to 1, or over none: its values are read off there. */
  hoverChart(across: number | null): void {
    const { from, to } = this.#ui.chart.zoom ?? { from: 0, to: 1 };
    this.#hover({ cursor: across === null || this.#ui.dialog.kind !== 'none' ? null : from + across * (to - from) });
  }

  /** Nothing is computed anew where the pointer has come to nothing else. */
  #hover(change: Partial<Hover>): void {
    const next = { ...this.#hovered, ...change };
    if (next.row === this.#hovered.row && next.cursor === this.#hovered.cursor) return;
    this.#hovered = next;
    this.#changed();
  }

  /** The row of the whole list; null: there is none, or a dialog lies over it. */
  #rowOfList(row: number): number | null {
    if (this.#ui.dialog.kind !== 'none' || row < 0) return null;
    const scene = this.#scene();
    const page = listPage(bodyOf(this.#size), isSmall(this.#size));
    const at = row + scrollTo(rowOfSelection(scene, this.#ui), this.#ui.top, page, scene.rows.length);
    return at < scene.rows.length ? at : null;
  }

  /** A click on the heading of the list: orders by that column, or the other way round where it does so already. */
  readonly clickHeading = (column: number, width: number): void => {
    if (this.#ui.dialog.kind !== 'none') return;
    const by = sortOfHeading(this.model(), width, column);
    if (by === null) return;
    const isReversed = this.#ui.sort.by === by && !this.#ui.sort.isReversed;
    this.#ui = orderedBy({ ...this.#ui, note: null }, { by, isReversed }, this.#reader.context(this.#moment())).ui;
    this.#changed();
  };

  /** A click on a row of the menu that is open: as if the cursor had gone there and `key` had been pressed. */
  readonly chooseRow = (index: number, key: string): void => {
    const { dialog } = this.#ui;
    if (!('index' in dialog)) return;
    this.#ui = { ...this.#ui, dialog: { ...dialog, index } };
    this.press(key);
  };

  /** A second click soon after the first opens. */
  #selectRow(row: number): void {
    const isSecond = this.#clicks.isSecond(row, this.#ports.now());
    const at = this.#reader.context(this.#moment());
    this.#ui = withOwnZoom(this.#ui, select({ ...this.#ui, note: null }, row, at).ui, at);
    if (isSecond) this.press('enter');
    else this.#changed();
  }

  /** Takes up keys that were chosen; what else was has nothing to do with the frames. */
  prefer(): void {
    this.#ui = { ...this.#ui, keys: this.#preferences.keys };
    this.#changed();
  }

  /** What the terminal can show: without colours lines of charts have dashes; in ASCII they have marks, and names no other letters. */
  suit({ hasColours, isAscii }: { readonly hasColours: boolean; readonly isAscii: boolean }): void {
    this.#ui = { ...this.#ui, isAscii, chart: { ...this.#ui.chart, hasDashes: !hasColours && !isAscii } };
    this.#changed();
  }

  /** What there is to show: the same object until something changes. */
  readonly model = (): WindowModel => this.#reader.model(this.#moment());

  /** What only this screen shows; null while another one is shown. */
  readonly screenData = (kind: ScreenKind): unknown => this.#reader.screenData(kind, this.#moment());

  /** Ends timers and subscriptions. No frame is asked for afterwards. */
  close(): void {
    this.#memory.keepLook(this.#ui);
    this.#unsubscribe();
    this.#reader.close();
    this.#curves.close();
    this.#news.close();
    this.#passing.close();
  }

  /** Says something to the person, until the next key. */
  readonly say = (note: Note): void => {
    this.#ui = { ...this.#ui, note };
    this.#changed();
  };

  /** Shows what submitting a draft would do, and asks; null: no longer. */
  readonly review = (draft: Draft | null): void => {
    const dialog: Dialog = draft === null ? { kind: 'none' } : { kind: 'draft', draft, top: 0 };
    this.#ui = { ...this.#ui, dialog, note: null };
    this.#changed();
  };

  /** Another sweep, as its window was left. Nothing is kept of what was chosen in the one before but what holds for all. */
  #switched({ sweep, keys, isAscii, filters, chart: { hasDashes }, note }: UiState): UiState {
    this.#memory.keepLook(this.#ui);
    this.#memory = this.#memoryOf(sweep);
    const chart = { ...initialUi.chart, hasDashes };
    return this.#restored({ ...initialUi, sweep, keys, isAscii, filters, chart, note });
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
    const known = { ui: this.#shownUi(), size: this.#size, version: this.#version };
    // Where nothing has changed, it is not asked for.
    return withLazy(known, { scene: () => this.#scene() });
  }

  /** What the pointer is over is shown, and chosen by nobody. */
  #shownUi(): UiState {
    const { row, cursor } = this.#hovered;
    if (row === null && cursor === null) return this.#ui;
    return { ...this.#ui, hovered: row, chart: { ...this.#ui.chart, cursor: cursor ?? this.#ui.chart.cursor } };
  }

  #scene(): ListModel {
    return this.#scenes.scene(this.#ui, this.#ports.now());
  }

  #hearFleet(): void {
    this.#scenes.takeNews();
    const marks = livingMarks(this.#ui.marks, this.#ports.fleet.runs);
    if (marks !== this.#ui.marks) this.#ui = { ...this.#ui, marks };
    this.#reader.hear();
    if (this.#bell.hear(this.#ports.fleet.runs.values(), this.isEnded, this.#ports.now()))
      this.#ports.perform({ type: 'ring' });
    this.#changed();
  }
}

/** Until the window is mounted, keys wait in the terminal. */
function unheard(): never {
  throw new Error('A key was pressed before the window was mounted.');
}
