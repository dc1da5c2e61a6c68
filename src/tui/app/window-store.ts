import { cleanText } from '../../text/display-text.js';
import { Bell } from '../terminal/bell.js';
import { detailOf, filledCharts, type ReadDetail, xChoicesFor } from '../model/detail.js';
import type { Draft } from '../state/editor-port.js';
import { FailureCauseFinder } from '../model/failure-cause-finder.js';
import { FleetEffects, isFleetEffect } from './fleet-effects.js';
import { History } from '../model/history.js';
import type { KeyContext, Press } from '../keys/key-context.js';
import { keyOf } from '../screens/key-map.js';
import { ListMemory } from '../widgets/run-list/list-memory.js';
import { isFolded, type ListModel, ListModelBuilder } from '../model/list-model.js';
import { orderedBy } from '../screens/jobs/sort-handler.js';
import { sortOfHeading } from '../widgets/run-list/list-pane.js';
import { livingMarks } from '../screens/jobs/mark-handler.js';
import { Memoized } from '../../base/memoize.js';
import { select } from '../screens/jobs/selection-keys.js';
import { withOwnZoom } from '../keys/chart-handler.js';
import type { PaletteView } from '../dialogs/palette/palette-entry.js';
import { paletteView } from '../dialogs/palette/palette-view.js';
import { Clicks } from './clicks.js';
import { bodyOf, isSmall } from './layout.js';
import { listPage } from '../screens/jobs/layout.js';
import { withLazy } from '../../base/lazy.js';
import type { ModelSource } from '../model/use-model.js';
import type { FleetPort, RunFilesPort } from '../state/port.js';
import type { PreferencesPort } from '../state/preferences-port.js';
import { PassingNote } from './passing-note.js';
import { passingPreferences } from './preferences.js';
import { screens } from '../screens/registry.js';
import type { ScreenData, ScreenSource, ScreenTools } from '../screens/screen.js';
import type { Command } from '../state/command.js';
import { familyOf, groupOf, metricsOf, rowOfSelection } from '../model/selection.js';
import { ShownClock } from '../model/shown-clock.js';
import type { SummaryPort } from '../state/summary-port.js';
import { SummaryTable } from '../screens/sweep/summary-table.js';
import { Throttle } from '../model/throttle.js';
import {
  type Dialog,
  initialUi,
  type Note,
  type ScreenKind,
  type UiState,
  type WindowEffect,
} from '../state/ui-state.js';
import type { Branch, TreeNode } from '../model/tree/branch-index.js';
import { scrollTo } from '../widgets/scroll.js';
import { dialogFrame } from '../widgets/dialog-size.js';
import { isOver } from '../model/tally.js';
import { varyingKeys } from '../model/varying-keys.js';
import type { WindowModel } from '../model/window-model.js';

/** What the window needs of the world. */
export type WindowPorts = {
  readonly fleet: FleetPort;
  readonly files: RunFilesPort;
  /** What the person prefers; without it nothing is kept. */
  readonly preferences?: PreferencesPort | undefined;
  /** Unix ms. */
  readonly now: () => number;
  /** Between two looks at the news of the fleet, ms; none unless it is given. Keys are answered at once in any case. */
  readonly newsPause?: number;
  /** The summary table; undefined when there is none. */
  readonly summary?: SummaryPort | undefined;
  /** Closes the window, gives the terminal back for a while, draws everything again. */
  readonly perform: (order: WindowEffect) => void;
};

/** Four pictures a second are as good to the eye as ten, at half the cost, ms. */
export const calmNewsPause = 240;

/** Longest text a prompt takes from a paste, in UTF-16 units. */
const mostPasted = 500;
/** Columns below which the summary table is scrolled sideways, not squeezed. */
const leastTable = 76;
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
  readonly #memory: ListMemory;
  readonly #scenes: ListModelBuilder;
  readonly #history: History;
  readonly #orders: FleetEffects;
  readonly #title: string;
  readonly #listeners = new Set<() => void>();
  readonly #unsubscribe: () => void;
  readonly #clock: ShownClock;
  /** With very many runs a publication is dear: not every one is shown. */
  readonly #news: Throttle;
  #ui: UiState = initialUi;
  #size = { width: 80, height: 24 };
  #version = 0;
  readonly #bell = new Bell();
  readonly #table: SummaryTable;
  readonly #clicks = new Clicks();
  readonly #passing = new PassingNote(() => this.#forgetNote());
  readonly #shown = new Memoized<WindowModel>();
  readonly #detail = new Memoized<ReadDetail>();
  readonly #varying = new Memoized<ReadonlySet<string>>();
  readonly #screens: Readonly<Record<ScreenKind, AnyData>>;
  readonly #screenData = new Memoized<unknown>();
  readonly #causes: FailureCauseFinder;

  /** `sweep`: the only sweep to show; null shows all the fleet knows. */
  constructor(ports: WindowPorts, sweep: string | null) {
    this.#ports = ports;
    this.#preferences = ports.preferences ?? passingPreferences();
    const { keys, problem } = this.#preferences;
    this.#ui = { ...initialUi, keys, note: problem === null ? null : { text: cleanText(problem), tone: 'warn' } };
    this.#memory = new ListMemory(this.#preferences, sweep, (text) =>
      this.say({ text: cleanText(text), tone: 'warn' }),
    );
    const known = [...ports.fleet.runs.values()].filter((run) => sweep === null || run.sweep === sweep);
    this.#ui = this.#memory.restored(this.#ui, known, ports.now());
    this.#scenes = new ListModelBuilder(ports.fleet, sweep);
    this.#title = sweep ?? 'all sweeps';
    this.#history = new History(ports.files, () => this.#changed());
    this.#causes = new FailureCauseFinder(() => this.#changed());
    this.#screens = screenDataWith({
      files: ports.files,
      changed: () => this.#changed(),
      change: (edit) => {
        this.#ui = edit(this.#ui);
        this.#changed();
      },
    });
    this.#table = new SummaryTable(ports.summary, () => this.#changed());
    this.#orders = new FleetEffects(ports.fleet, (note) => {
      // What an order did is seen with its answer: the next key may be meant for it.
      this.#news.hurry();
      this.say(note);
    });
    this.#news = new Throttle(() => this.#hearFleet(), ports.now, ports.newsPause);
    this.#unsubscribe = ports.fleet.subscribe(() => this.#news.ask());
    this.#clock = new ShownClock(ports.now, () => this.#changed());
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
    const scene = this.#scene();
    const { ui, order } = this.#press(this.#ui, key, this.#situation(scene));
    if (ui.dialog.kind === 'table' && this.#ui.dialog.kind !== 'table') void this.#table.read();
    this.#ui = ui;
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
    const times = screen.kind === 'gpus' ? 1 : notch;
    for (let time = 0; time < times; time++) this.press(way);
  };

  /** A click on a row of the list, counted from the first that is shown. */
  readonly clickRow = (row: number): void => {
    if (this.#ui.dialog.kind !== 'none' || row < 0) return;
    const scene = this.#scene();
    const top = scrollTo(rowOfSelection(scene, this.#ui), this.#ui.top, this.#listPage(), scene.rows.length);
    if (top + row < scene.rows.length) this.#selectRow(top + row, scene);
  };

  /** A click on the heading of the list: orders by that column, or the other way round where it does so already. */
  readonly clickHeading = (column: number, width: number): void => {
    if (this.#ui.dialog.kind !== 'none') return;
    const by = sortOfHeading(this.model(), width, column);
    if (by === null) return;
    const isReversed = this.#ui.sort.by === by && !this.#ui.sort.isReversed;
    this.#ui = orderedBy({ ...this.#ui, note: null }, { by, isReversed }, this.#situation(this.#scene())).ui;
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
  #selectRow(row: number, scene: ListModel): void {
    const isSecond = this.#clicks.isSecond(row, this.#ports.now());
    const at = this.#situation(scene);
    this.#ui = withOwnZoom(this.#ui, select({ ...this.#ui, note: null }, row, at).ui, at);
    if (isSecond) this.press('enter');
    else this.#changed();
  }

  /** Takes up keys that were chosen; what else was has nothing to do with the frames. */
  prefer(): void {
    this.#ui = { ...this.#ui, keys: this.#preferences.keys };
    this.#changed();
  }

  /** What there is to show: the same object until something changes. */
  readonly model = (): WindowModel => this.#shown.value([this.#version], () => this.#model(this.#scene()));

  /** Ends timers and subscriptions. No frame is asked for afterwards. */
  close(): void {
    this.#memory.keepLook(this.#ui);
    this.#unsubscribe();
    this.#history.close();
    Object.values(this.#screens).forEach(({ close }) => close?.());
    this.#causes.close();
    this.#clock.close();
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

  #changed(): void {
    this.#version++;
    this.#passing.hear(this.#ui.note);
    this.#listeners.forEach((listener) => listener());
  }

  #forgetNote(): void {
    this.#ui = { ...this.#ui, note: null };
    this.#changed();
  }

  #scene(): ListModel {
    return this.#scenes.scene(this.#ui, this.#ports.now());
  }

  #hearFleet(): void {
    this.#scenes.takeNews();
    const marks = livingMarks(this.#ui.marks, this.#ports.fleet.runs);
    if (marks !== this.#ui.marks) this.#ui = { ...this.#ui, marks };
    Object.values(this.#screens).forEach(({ hear }) => hear?.(this.#ports.fleet, this.#ports.now()));
    if (this.#bell.hear(this.#ports.fleet.runs.values(), this.isEnded, this.#ports.now()))
      this.#ports.perform({ type: 'ring' });
    this.#changed();
  }

  #tableLines(): readonly string[] | null {
    return this.#table.shownLines(this.#ui, Math.max(leastTable, this.#size.width - dialogFrame));
  }

  #situation(scene: ListModel): KeyContext {
    const source = this.#source(scene);
    const { node } = source;
    const here = this.#shownData.context(source);
    const known = {
      rows: scene.rows,
      runs: scene.runs,
      sweeps: scene.sweeps,
      status: this.#ports.fleet.status,
      index: rowOfSelection(scene, this.#ui),
      groups: scene.tree.groups,
      branches: scene.tree.branches,
      page: this.#ui.dialog.kind === 'none' ? here.page : Math.max(1, this.#size.height - 4),
      variety: scene.variety,
      groupChoices: scene.groupChoices,
      metric: scene.metric,
      isFolded: (branch: Branch) => isFolded(branch, this.#ui, scene.runs.length),
      wall: () => this.#detailFor(node, scene).metrics,
      ...(this.#table.isThere ? { table: () => this.#tableLines() ?? [] } : {}),
      width: this.#size.width,
      own: here.own,
      now: this.#ports.now(),
      keyOf: (command: Command) => keyOf(command, this.#ui.keys),
    };
    // Only some keys and dialogs ask for these. Charts are not those of the last frame: two keys may come between two frames.
    return withLazy(known, {
      metrics: () => metricsOf(node, scene),
      charts: () => here.charts ?? filledCharts(this.#detailFor(node, scene)),
      xChoices: () => here.xChoices ?? xChoicesFor(node, scene, this.#history),
    });
  }

  #source(scene: ListModel): ScreenSource {
    const ui = this.#ui;
    return {
      ui,
      screen: ui.screen,
      scene,
      node: scene.rows[rowOfSelection(scene, ui)],
      fleet: this.#ports.fleet,
      history: this.#history,
      now: this.#ports.now(),
      body: bodyOf(this.#size),
      isSmall: isSmall(this.#size),
      model: this.model,
    };
  }

  /** The data of the screen that is shown. */
  get #shownData(): AnyData {
    return this.#screens[this.#ui.screen.kind];
  }

  /** What only this screen shows; null while another one is shown. */
  readonly screenData = (kind: ScreenKind): unknown =>
    kind === this.#ui.screen.kind
      ? this.#screenData.value([this.#version, kind], () => this.#shownData.read(this.#source(this.#scene())))
      : null;

  #palette(scene: ListModel): PaletteView | null {
    const { dialog } = this.#ui;
    if (dialog.kind !== 'palette') return null;
    return paletteView(dialog.line, dialog.index, this.#ui, this.#situation(scene));
  }

  #listPage(): number {
    return listPage(bodyOf(this.#size), isSmall(this.#size));
  }

  #model(scene: ListModel): WindowModel {
    const index = rowOfSelection(scene, this.#ui);
    const node = scene.rows[index];
    this.#wantFiles(scene);
    const known = {
      now: this.#clock.read(),
      ...{ width: this.#size.width, title: this.#title },
      connection: this.#ports.fleet.connection,
      status: this.#ports.fleet.status,
      tally: scene.tally,
      ...scene.pace,
      ...{ groups: scene.tree.groups, rows: scene.rows },
      index,
      isFolded: (branch: Branch) => isFolded(branch, this.#ui, scene.runs.length),
      pending: this.#orders.pending,
      metric: scene.metric,
      ui: this.#ui,
      variety: scene.variety,
      groupChoices: scene.groupChoices,
      causeOf: (branch: Branch) => this.#causes.causeOf(branch, scene.runs, scene.tally.counts.done),
    };
    // What only some screens and dialogs show is worked out when they ask for it.
    return withLazy(known, {
      palette: () => this.#palette(scene),
      metrics: () => (this.#ui.dialog.kind === 'metrics' ? metricsOf(node, scene) : []),
      xChoices: () => (this.#ui.dialog.kind === 'x-axis' ? (this.#situation(scene).xChoices ?? []) : []),
      detail: () => ({ ...this.#detailFor(node, scene), choice: this.#ui.chart }),
      varying: () => this.#varyingFor(node, scene),
      table: () => this.#tableLines(),
    });
  }

  /** The shown screen says what to read; the others need no more. */
  #wantFiles(scene: ListModel): void {
    const shown = this.#shownData;
    for (const other of Object.values(this.#screens)) if (other !== shown) other.rest?.();
    this.#history.want(shown.wanted(this.#source(scene)));
  }

  /** What tells the runs of the selection's group apart; where nothing does, what tells those of the sweep apart. */
  #varyingFor(node: TreeNode | undefined, scene: ListModel): ReadonlySet<string> {
    const group = groupOf(node, scene);
    return this.#varying.value([group?.key, group?.runs.length, scene.runs.length], () => {
      const own = varyingKeys(group?.runs ?? []);
      return own.size > 0 ? own : varyingKeys(scene.runs);
    });
  }

  /** The same object while nothing in it has changed, so that a chart is not drawn again. */
  #detailFor(node: TreeNode | undefined, scene: ListModel): ReadDetail {
    const members = familyOf(node, scene).length;
    const { xKey } = this.#ui.chart;
    const inputs = [node?.key, members, scene.metric, xKey, this.#history.version];
    return this.#detail.value(inputs, () => detailOf(node, scene, this.#history, xKey));
  }
}

/** Until the window is mounted, keys wait in the terminal. */
function unheard(): never {
  throw new Error('A key was pressed before the window was mounted.');
}

type AnyData = ScreenData<ScreenKind, unknown>;

/** The data of every screen. Each is only ever given the state of its own screen: it is asked while that is the one shown. */
function screenDataWith(tools: ScreenTools): Readonly<Record<ScreenKind, AnyData>> {
  const made = Object.entries(screens).map(([kind, { data }]) => [kind, data(tools)] as const);
  return Object.fromEntries(made) as unknown as Readonly<Record<ScreenKind, AnyData>>;
}
