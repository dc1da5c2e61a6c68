import type { History, Wanted } from '../../model/history.js';
import { Memoized } from '../../../base/memoize.js';
import { hasEnded } from '../../../base/run-words.js';
import type { MetricReader, RunSummary } from '../../state/port.js';
import type { ListModel } from '../../model/list-model.js';
import type { ScreenData, ScreenSource, ScreenTools } from '../screen.js';
import type { SweepContext } from './keys.js';
import { SummaryTable } from './summary-table.js';
import { memoryFacts, memoryRows } from './sweep-memory.js';
import { overviewOf, type SweepOverview } from './sweep-overview.js';
import { sweepLines } from './sweep-screen-lines.js';

/** Maximum number of memory runs whose curves are read, as many as a window can keep. */
const mostCurves = 192;
const mostMetrics = 4;
const second = 1000;

/** Computes what the sweep screen shows, and only what has changed since the last time. */
export class SweepOverviewReader implements ScreenData<'sweep', SweepOverview> {
  readonly #memoryRuns = new Memoized<readonly RunSummary[]>();
  readonly #facts = new Memoized<ReturnType<typeof overviewOf>>();
  readonly #whole = new Memoized<SweepOverview>();
  readonly #table: SummaryTable;

  constructor({ summary, changed }: ScreenTools) {
    this.#table = new SummaryTable(summary, changed);
  }

  /** Reads the overview. Time advances in seconds. */
  read({ scene, history, now }: ScreenSource<'sweep'>): SweepOverview {
    const at = Math.floor(now / second) * second;
    const facts = this.#facts.value([scene.runs, scene.sweeps, scene.metric, at], () => factsOf(scene, at));
    const results = this.#table.lines(sweepOf(scene));
    return this.#whole.value([facts, history.version, results], () => {
      const runs = this.#memory(scene);
      const drawn = runs.slice(0, mostCurves);
      const memory = memoryRows(drawn, (run, bits, count) => wholeReader(history, run)?.series(bits, count));
      const read = drawn.filter((run) => wholeReader(history, run) !== null).length;
      return { ...facts, results, memory, curves: { read, wanted: drawn.length, of: runs.length } };
    });
  }

  /** Curves that show when a run had memorised; other sweeps need none. */
  wanted({ scene }: ScreenSource<'sweep'>): Wanted {
    this.#table.want(
      sweepOf(scene),
      scene.runs.every(({ state }) => hasEnded(state)),
    );
    const runs = this.#memory(scene).slice(0, mostCurves);
    return { metrics: runs.map(({ directory }) => directory), log: null, logLines: 0 };
  }

  context(source: ScreenSource<'sweep'>): { page: number; own: SweepContext } {
    const { width, height } = source.body;
    return { page: Math.max(1, height - 1), own: { length: sweepLines(this.read(source), width).length } };
  }

  rest(): void {
    this.#table.rest();
  }

  #memory({ runs }: ListModel): readonly RunSummary[] {
    return this.#memoryRuns.value([runs], () => runs.filter((run) => memoryFacts(run) !== null));
  }
}

function sweepOf({ sweeps }: ListModel): string | null {
  return sweeps.length === 1 ? sweeps[0]!.name : null;
}

/** Null until all of the run has been read, because half a curve would show too little. */
function wholeReader(history: History, { directory }: RunSummary): MetricReader | null {
  const reader = history.reader(directory);
  return reader === undefined || reader.more === true ? null : reader;
}

/** The chosen metric first, then those that the sweep shows. */
function factsOf({ runs, sweeps, metric, forecast }: ListModel, now: number): ReturnType<typeof overviewOf> {
  const wanted = [...(metric === null ? [] : [metric]), ...sweeps.flatMap(({ show }) => show)];
  const metrics = [...new Set(wanted)].slice(0, mostMetrics);
  const objective = sweeps.length === 1 ? sweeps[0]!.objective : undefined;
  const direction = objective !== undefined && objective.name === metrics[0] ? objective.goal : null;
  return overviewOf(runs, sweeps, { metrics, direction, now, forecast });
}
