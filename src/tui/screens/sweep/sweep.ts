import type { GroupAnswer } from '../../../analysis/answer/sweep-answers.js';
import { Memoized } from '../../../base/memo.js';
import { hasEnded } from '../../../base/run-words.js';
import { errorText } from '../../../base/user-error.js';
import { type KeyContext, type Movement, opens, type Pressed, refuse } from '../../keys/key-context.js';
import { type KeyRow, type KeyTable, movementRows, topAfter } from '../../keys/key-row.js';
import type { Wanted } from '../../model/history.js';
import type { ListModel } from '../../model/list-model.js';
import type { LinesPort, SummaryPort } from '../../state/port.js';
import type { UiState } from '../../state/ui-state.js';
import { compareSelection } from '../compare/compare-subjects.js';
import type { ScreenData, ScreenEntry, ScreenSource, ScreenTools } from '../screen.js';
import { overviewOf, type SweepOverview } from './sweep-overview.js';

declare module '../../state/ui-state.js' {
  interface Screens {
    readonly sweep: { readonly top: number };
  }
}
declare module '../../state/command.js' {
  interface Commands {
    readonly sweep: 'sweep';
  }
}

/** The key that opens the sweep screen. */
const sweepOpener: KeyRow = {
  ...{
    command: 'sweep',
    keys: ['S'],
    group: 'window',
    help: 'the sweep as a whole: groups, results by setting, slow and failed runs',
  },
  short: ({ ui }) => (ui.screen.kind === 'jobs' ? 'sweep' : null),
  act: (ui) =>
    ui.screen.kind === 'sweep'
      ? refuse(ui, 'This is the sweep; Esc goes back.')
      : { ui: { ...ui, screen: { kind: 'sweep', top: 0 } } },
};

/** Keys of the sweep screen. */
const sweepKeys: KeyTable = {
  rows: [
    ...movementRows(scroll, 'scroll'),
    {
      ...{ command: 'metric', keys: ['m'], group: 'charts', short: 'metric', worth: 4, act: opens('metrics') },
      help: 'choose the metric that stands first',
    },
    {
      ...{ command: 'compare', keys: ['c'], group: 'charts', short: 'compare', worth: 2, act: compareSelection },
      help: 'compare the marked runs or groups',
    },
  ],
  about: () => 'charts',
  refusal: ({ shown }) => `${shown} acts on the list of runs; Esc goes back to it.`,
};

/** The sweep as a whole. */
export const sweep: ScreenEntry<'sweep', SweepOverview> = {
  ...{ name: 'sweep', keys: sweepKeys, opener: sweepOpener, data: (tools) => new SweepOverviewReader(tools) },
  component: () => import('./sweep-screen.js').then(({ SweepScreen }) => SweepScreen),
};

const mostMetrics = 4;
const second = 1000;
/** Time between two looks at studies, ms: in all, and for each run. */
const studyPeriod = 2000;
const studyPeriodOfRun = 20;

/** Computes what the sweep screen shows, and only what has changed since the last time. */
class SweepOverviewReader implements ScreenData<'sweep', SweepOverview> {
  readonly #facts = new Memoized<ReturnType<typeof overviewOf>>();
  readonly #whole = new Memoized<SweepOverview>();
  readonly #table: ReadLines;
  readonly #studies: ReadLines;

  constructor({ summary, changed }: ScreenTools) {
    const ports = new Memoized<SummaryPort | null>();
    const portOf = (sweep: string | null) =>
      ports.value([sweep], () => (sweep === null ? null : (summary?.(sweep) ?? null)));
    this.#table = new ReadLines(portOf, changed);
    this.#studies = new ReadLines((sweep) => portOf(sweep)?.studies ?? null, changed);
  }

  /** Reads the overview. Time advances in seconds. */
  read({ listModel, now, model }: ScreenSource<'sweep'>): SweepOverview {
    const at = Math.floor(now / second) * second;
    const answers = model().answers();
    const facts = this.#facts.value([listModel.runs, listModel.sweeps, listModel.metric, at, answers], () =>
      factsOf(listModel, answers, at),
    );
    const results = this.#table.lines(sweepOf(listModel), reading);
    const studies = this.#studies.lines(sweepOf(listModel), null);
    return this.#whole.value([facts, results, studies], () => ({ ...facts, results, studies }));
  }

  /** No curves are drawn here. */
  wanted({ listModel, now }: ScreenSource<'sweep'>): Wanted {
    const sweep = sweepOf(listModel);
    this.#table.want(
      sweep,
      listModel.runs.every(({ state }) => hasEnded(state)),
    );
    // Each run is looked at.
    this.#studies.want(sweep, Math.floor(now / Math.max(studyPeriod, listModel.runs.length * studyPeriodOfRun)));
    return { metrics: [], log: null, logLines: 0 };
  }

  context({ body }: ScreenSource<'sweep'>): { page: number } {
    return { page: Math.max(1, body.height - 1) };
  }

  rest(): void {
    this.#table.rest();
    this.#studies.rest();
  }
}

function sweepOf({ sweeps }: ListModel): string | null {
  return sweeps.length === 1 ? sweeps[0]!.name : null;
}

/** The chosen metric first, then those that the sweep shows. */
function factsOf(
  { runs, sweeps, metric, forecast }: ListModel,
  answers: readonly GroupAnswer[],
  now: number,
): ReturnType<typeof overviewOf> {
  const wanted = [...(metric === null ? [] : [metric]), ...sweeps.flatMap(({ show }) => show)];
  const metrics = [...new Set(wanted)].slice(0, mostMetrics);
  return overviewOf(runs, sweeps, { metrics, answers, x: sweeps[0]?.x ?? 'step', now, forecast });
}

/** Text of a sweep from files. Keeps the last version until it has been read again. */
class ReadLines {
  readonly #portOf: (sweep: string | null) => LinesPort | null;
  readonly #changed: () => void;
  /** What was read last, and the moment of it; null: to be read again. */
  #read: { readonly port: LinesPort; readonly moment: unknown } | null = null;
  #problem: string | null = null;

  /** @param portOf Null: there is nothing to read. @param changed Called when the text has changed. */
  constructor(portOf: (sweep: string | null) => LinesPort | null, changed: () => void) {
    this.#portOf = portOf;
    this.#changed = changed;
  }

  /** Reads it in the background, unless it was read since `rest` at this moment. `sweep` null: several sweeps have none. */
  want(sweep: string | null, moment: unknown): void {
    const port = this.#portOf(sweep);
    if (port === null || (this.#read?.port === port && this.#read.moment === moment)) return;
    this.#read = { port, moment };
    void this.#refresh(port);
  }

  /** Makes the next `want` read it again. */
  rest(): void {
    this.#read = null;
  }

  /** Formatted lines of at most `width` columns; null: there are none. @param before Until they have been read. */
  lines(sweep: string | null, before: LinesPort['lines']): LinesPort['lines'] {
    const port = this.#portOf(sweep);
    if (port === null) return null;
    if (this.#problem !== null) return (): string[] => [`The table could not be made: ${this.#problem}`];
    return port.lines ?? before;
  }

  async #refresh(port: LinesPort): Promise<void> {
    const before = [port.lines, this.#problem];
    try {
      await port.refresh();
      this.#problem = null;
    } catch (error) {
      this.#problem = errorText(error);
    }
    if (port.lines !== before[0] || this.#problem !== before[1]) this.#changed();
  }
}

const reading = (): string[] => ['reading…'];

function scroll(ui: UiState, movement: Movement, at: KeyContext): Pressed {
  const { screen } = ui;
  if (screen.kind !== 'sweep') return { ui };
  return { ui: { ...ui, screen: { ...screen, top: topAfter(screen.top, movement, at) } } };
}
