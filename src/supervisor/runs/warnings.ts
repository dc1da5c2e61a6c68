import type { RunId } from '../../base/ids.js';
import type { LeakedProcess } from '../../executors/executor.js';
import { hasCurves } from '../../metrics/metrics-file.js';
import type { EventLoop } from '../core/event-loop.js';

/**
 * Where a warning comes from: processes that outlived their run, GPU memory not given back, an attempt nobody knew of, a run
 * whose processes are not as they should be or cannot be reached, metrics that cannot be read, files of metrics that may be
 * another run's, a record that cannot be read or written.
 */
type WarningSource = 'processes' | 'gpus' | 'orphan' | 'trouble' | 'metrics' | 'files' | 'record';

/** What a person should know of runs beside their states. */
export class Warnings {
  readonly #words = new Map<RunId, Partial<Record<WarningSource, string>>>();
  /** Curves of a file that is not read. */
  readonly #curves = new Map<RunId, readonly string[]>();
  readonly #loop: Pick<EventLoop, 'state' | 'changed'>;
  readonly #log: (line: string) => void;

  constructor(loop: Pick<EventLoop, 'state' | 'changed'>, log: (line: string) => void) {
    this.#loop = loop;
    this.#log = log;
  }

  /**
   * All warnings of the run in one line; null: none. That a file is not read is left out where the run has the same curves from
   * elsewhere. @param metrics The run's metrics by name.
   */
  of(id: RunId, metrics: object): string | null {
    const { files, ...others } = this.#words.get(id) ?? {};
    const isNeeded = files !== undefined && !hasCurves(Object.keys(metrics), this.#curves.get(id) ?? []);
    const words = [...Object.values(others), ...(isNeeded ? [files] : [])];
    return words.length === 0 ? null : words.join('; ');
  }

  /** `words` null: there is nothing to warn of any more. `curves`: of the file that is not read. */
  set(id: RunId, source: WarningSource, words: string | null, curves: readonly string[] = []): void {
    if (source === 'files') this.#curves.set(id, curves);
    const { [source]: before = null, ...others } = this.#words.get(id) ?? {};
    if (before === words) return;
    if (words !== null) this.#words.set(id, { ...others, [source]: words });
    else if (Object.keys(others).length > 0) this.#words.set(id, others);
    else this.#words.delete(id);
    this.#loop.changed([id]);
  }

  /** An attempt that was still up from before goes on as the one that was to be started. */
  tookOver(id: RunId, orphan: number, pid: number): void {
    this.#log(`${id}: attempt ${orphan} (process ${pid}) still runs; it is taken over, not started again`);
    this.set(id, 'orphan', `attempt ${orphan} was still running and continues: it was not started again`);
  }

  /** An observer of the event loop: a run that begins anew, or is forgotten, has none. */
  follow(touched: ReadonlySet<RunId>): void {
    for (const id of touched) {
      const phase = this.#loop.state.runs.get(id)?.state.phase ?? 'starting';
      if (phase === 'starting') this.#clear(id);
    }
  }

  #clear(id: RunId): void {
    this.#curves.delete(id);
    if (this.#words.delete(id)) this.#loop.changed([id]);
  }
}

/** Names spelt out before the rest is only counted. */
const NAMED = 3;

/** What is said of processes that are still there after their run has ended; null: there are none. `killed`: they were sent SIGKILL. */
export function leakedProcessWords(leaked: readonly LeakedProcess[], killed: boolean): string | null {
  const certain = leaked.filter(({ possible }) => possible !== true);
  const possible = leaked.filter((each) => each.possible === true);
  const count = `${certain.length} process${certain.length === 1 ? '' : 'es'}`;
  const words = [
    ...(certain.length === 0 ? [] : [`${count} ${killed ? 'survived SIGKILL' : 'left behind'}: ${listed(certain)}`]),
    ...(possible.length === 0 ? [] : [`may have left processes behind: ${listed(possible)}`]),
  ];
  return words.length === 0 ? null : words.join('; ');
}

function listed(processes: readonly LeakedProcess[]): string {
  const names = processes.slice(0, NAMED).map(({ pid, name }) => `${name} (pid ${pid})`);
  return [...names, ...(processes.length > NAMED ? ['…'] : [])].join(', ');
}
