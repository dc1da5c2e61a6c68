import { withLazy } from '../../base/lazy.js';
import { Memoized } from '../../base/memo.js';
import type { KeyContext } from '../keys/key-context.js';
import { AnswerFinder, FailureCauseFinder } from '../model/answer-finder.js';
import { colouredRows, detailOf, filledCharts, type ReadDetail, xChoicesFor } from '../model/detail.js';
import { History } from '../model/history.js';
import { isFolded, type ListModel } from '../model/list-model.js';
import { familyOf, groupOf, metricsOf, rowOfSelection } from '../model/selection.js';
import { type SweepChoice, sweepChoices, sweepTitle } from '../model/tally.js';
import type { Branch, TreeNode } from '../model/tree/branch.js';
import type { Extent } from '../model/use-model.js';
import { varyingKeys } from '../model/varying-parameters.js';
import type { WindowModel } from '../model/window-model.js';
import { jobsLayout } from '../screens/jobs/jobs-lines.js';
import { keyOf } from '../screens/key-map.js';
import { screens } from '../screens/registry.js';
import type { ScreenData, ScreenSource, ScreenTools } from '../screens/screen.js';
import type { Command } from '../state/command.js';
import type { FleetPort, MakeSummary, RunFilesPort } from '../state/port.js';
import type { PreferencesPort } from '../state/preferences-port.js';
import type { ScreenKind, UiState, WindowEffect } from '../state/ui-state.js';
import type { Tone } from '../surface/span.js';
import type { Size } from '../surface/surface.js';
import { shownLayout } from '../widgets/run-list/list-pane.js';
import { bodyOf, isSmall } from './frame.js';

/** What the window needs from outside. */
export type WindowPorts = {
  readonly fleet: FleetPort;
  readonly files: RunFilesPort;
  /** The user's preferences; without it nothing is stored. */
  readonly preferences?: PreferencesPort | undefined;
  /** Unix ms. */
  readonly now: () => number;
  /** Minimum time between two updates from the fleet, in ms; default: 0. Keys are always handled at once. */
  readonly newsPause?: number;
  /** The table of a sweep's results; undefined: there is none. */
  readonly summary?: MakeSummary | undefined;
  /** Closes the window, lends the terminal, or redraws everything. */
  readonly perform: (order: WindowEffect) => void;
};

type WindowReaderTools = ScreenTools & {
  readonly fleet: FleetPort;
  /** Unix ms. */
  readonly now: () => number;
  /** Requests that the supervisor has not answered yet, in words. */
  readonly pending: () => readonly string[];
};

/** The state of the window at one moment. `version`: increases with every change. */
export type Moment = {
  readonly ui: UiState;
  readonly size: Size;
  readonly listModel: ListModel;
  readonly version: number;
  /** What the shown screen has reported of its layout; null: nothing. */
  readonly extent: Extent | null;
};

/**
 * Computes what to show and what keys need to know from the state of the window, the runs, and the parts of their files that are
 * read in the background. Does not recompute what has not changed.
 */
export class WindowReader {
  readonly #fleet: FleetPort;
  readonly #now: () => number;
  readonly #pending: () => readonly string[];
  readonly #history: History;
  readonly #clock: ShownClock;
  readonly #causes: FailureCauseFinder;
  readonly #answers: AnswerFinder;
  readonly #screens: Readonly<Record<ScreenKind, AnyData>>;
  readonly #screenData = new Memoized<unknown>();
  readonly #shown = new Memoized<WindowModel>();
  readonly #detail = new Memoized<ReadDetail>();
  readonly #colours = new Memoized<ReadonlyMap<string, Tone>>();
  readonly #varying = new Memoized<ReadonlySet<string>>();
  readonly #sweepChoices = (): readonly SweepChoice[] => sweepChoices(this.#fleet);

  constructor(tools: WindowReaderTools) {
    const { fleet, files, now, pending, changed } = tools;
    this.#fleet = fleet;
    this.#now = now;
    this.#pending = pending;
    this.#history = new History(files, changed);
    this.#clock = new ShownClock(now, changed);
    this.#causes = new FailureCauseFinder(changed);
    this.#answers = new AnswerFinder(files, changed);
    this.#screens = screenDataWith(tools);
  }

  /** Returns the same object until the version changes. */
  model(at: Moment): WindowModel {
    return this.#shown.value([at.version], () => this.#model(at));
  }

  /** Called when the fleet has published something. */
  hear(): void {
    Object.values(this.#screens).forEach((screen) => screen.hear?.(this.#fleet, this.#now()));
  }

  /** Ends timers and subscriptions. */
  close(): void {
    this.#history.close();
    Object.values(this.#screens).forEach((screen) => screen.close?.());
    this.#causes.close();
    this.#answers.close();
    this.#clock.close();
  }

  #model(at: Moment): WindowModel {
    const { listModel } = at;
    const index = rowOfSelection(listModel, at.ui);
    const node = listModel.rows[index];
    this.#wantFiles(at);
    const known = {
      now: this.#clock.read(),
      ...{ width: at.size.width, title: sweepTitle(at.ui.sweep) },
      connection: this.#fleet.connection,
      status: this.#fleet.status,
      ...{ allRuns: this.#fleet.runs, published: this.#fleet.version() },
      ...{ tally: listModel.tally, prerequisites: listModel.prerequisites },
      ...listModel.pace,
      attention: listModel.attention,
      sweepCount: this.#fleet.sweeps.size,
      sweepChoices: this.#sweepChoices,
      ...{ groups: listModel.tree.groups, rows: listModel.rows },
      index,
      isFolded: (branch: Branch) => isFolded(branch, at.ui, listModel.runs.length),
      pending: this.#pending(),
      ...{ metric: listModel.metric, objective: listModel.objective, x: listModel.sweeps[0]?.x ?? 'step' },
      show: listModel.shown,
      ui: at.ui,
      varyingParameters: listModel.varyingParameters,
      groupChoices: listModel.groupChoices,
      answers: () => this.#answers.answers(listModel),
      causeOf: (branch: Branch) => this.#causes.causeOf(branch, listModel.runs, listModel.tally.counts.done),
    };
    // What only some screens and dialogs show is computed when they request it.
    return withLazy(known, {
      colours: () => this.#colours.value([node, listModel.colours], () => colouredRows(node, listModel)),
      detail: () => ({ ...this.#detailFor(node, at), choice: at.ui.chart }),
      varying: () => this.#varyingFor(node, listModel),
    });
  }

  /** What keys need to know. */
  context(at: Moment): KeyContext {
    const { listModel } = at;
    const source = this.#source(at);
    const { node } = source;
    const here = this.#shownData(at).context(source);
    const known = {
      rows: listModel.rows,
      runs: listModel.runs,
      sweeps: listModel.sweeps,
      sweepChoices: this.#sweepChoices,
      status: this.#fleet.status,
      index: rowOfSelection(listModel, at.ui),
      groups: listModel.tree.groups,
      branches: listModel.tree.branches,
      page: at.ui.dialog.kind !== 'none' ? Math.max(1, at.size.height - 4) : here.page,
      varyingParameters: listModel.varyingParameters,
      groupChoices: listModel.groupChoices,
      metric: listModel.metric,
      isFolded: (branch: Branch) => isFolded(branch, at.ui, listModel.runs.length),
      wall: () => this.#detailFor(node, at).wall(),
      listLayout: () => this.#listLayout(at),
      width: at.size.width,
      own: here.own,
      extent: at.extent,
      boundary: here.boundary,
      now: this.#now(),
      keyOf: (command: Command) => keyOf(command, at.ui.keys),
    };
    // Only some keys and dialogs request these. Charts are not those of the last frame, because two keys may come between two
    // frames.
    return withLazy(known, {
      metrics: () => metricsOf(node, listModel),
      charts: () => here.charts ?? filledCharts(this.#detailFor(node, at)),
      xChoices: () => here.xChoices ?? xChoicesFor(node, listModel, this.#history),
    });
  }

  #listLayout({ ui, size, listModel }: Moment): ReturnType<typeof shownLayout> {
    const content = { isSmall: isSmall(size), rows: listModel.rows.length, wanted: ui.panes.list };
    const { width } = jobsLayout(bodyOf(size), content).list;
    return shownLayout({ ...listModel, show: listModel.shown, ui }, width);
  }

  /** Data of one screen; null while another one is shown. */
  screenData(kind: ScreenKind, at: Moment): unknown {
    if (kind !== at.ui.screen.kind) return null;
    return this.#screenData.value([at.version, kind], () => this.#shownData(at).read(this.#source(at)));
  }

  #source(at: Moment): ScreenSource {
    const { ui, listModel } = at;
    return {
      ui,
      screen: ui.screen,
      listModel,
      node: listModel.rows[rowOfSelection(listModel, ui)],
      fleet: this.#fleet,
      history: this.#history,
      now: this.#now(),
      body: bodyOf(at.size),
      isSmall: isSmall(at.size),
      model: () => this.model(at),
    };
  }

  /** Data of the shown screen. */
  #shownData(at: Moment): AnyData {
    return this.#screens[at.ui.screen.kind];
  }

  /** Sets the files to read to those that the shown screen needs. */
  #wantFiles(at: Moment): void {
    const shown = this.#shownData(at);
    for (const other of Object.values(this.#screens)) if (other !== shown) other.rest?.();
    const wanted = shown.wanted(this.#source(at));
    this.#history.want(at.ui.dialog.kind === 'type' ? { ...wanted, isLive: true } : wanted);
  }

  /** Parameters that differ between runs of the selection's group; if there are none, those that differ within the sweep. */
  #varyingFor(node: TreeNode | undefined, listModel: ListModel): ReadonlySet<string> {
    const group = groupOf(node, listModel);
    return this.#varying.value([group?.key, group?.runs.length, listModel.runs.length], () => {
      const own = varyingKeys(group?.runs ?? []);
      return own.size > 0 ? own : varyingKeys(listModel.runs);
    });
  }

  /** Returns the same object while nothing in it has changed, so that a chart is not redrawn. */
  #detailFor(node: TreeNode | undefined, { listModel, ui }: Moment): ReadDetail {
    const members = familyOf(node, listModel).length;
    const { xKey } = ui.chart;
    const inputs = [node?.key, members, listModel.metric, xKey, this.#history.version, ui.hovered];
    return this.#detail.value(inputs, () => detailOf(node, listModel, this.#history, ui));
  }
}

type AnyData = ScreenData<ScreenKind, unknown>;

/** The data of every screen. Each receives only the state of its own screen, because it is used only while that screen is shown. */
function screenDataWith(tools: ScreenTools): Readonly<Record<ScreenKind, AnyData>> {
  const made = Object.entries(screens).map(([kind, { data }]) => [kind, data(tools)] as const);
  return Object.fromEntries(made) as unknown as Readonly<Record<ScreenKind, AnyData>>;
}

/** Time between two ticks, in ms. */
const period = 1000;
/** How long the shown time stays the same, in ms: slightly less than the period, because a tick may be early. */
const sameTime = 900;

/**
 * The time that frames show. It advances once a second, so a key alone changes neither the time nor the rows that show one. Ticks
 * if nothing else is drawn.
 */
class ShownClock {
  /** Unix ms. */
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #shown = -Infinity;
  #readAt = -Infinity;

  /** @param tick Called about once a second for another frame, unless one was drawn just before. */
  constructor(now: () => number, tick: () => void) {
    this.#now = now;
    this.#timer = setInterval(() => {
      if (this.#now() - this.#readAt >= period / 2) tick();
    }, period);
  }

  /** The time for the frame being drawn, in Unix ms. */
  read(): number {
    const now = this.#now();
    this.#readAt = now;
    const passed = now - this.#shown;
    if (passed >= sameTime || passed < 0) this.#shown = now;
    return this.#shown;
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
