import { type Annotation, type AnnotationChange, annotated } from '../../base/annotation.js';
import type { RunId } from '../../base/ids.js';
import { readAnnotation, writeAnnotation } from '../../files/run-directory/supervisor-notes.js';
import type { SchedulerState } from '../../scheduler/state.js';
import type { PlannedRun } from '../../spec/planned-run.js';

type AnnotatedRun = Pick<PlannedRun, 'id' | 'directory'>;

/**
 * What persons have noted of runs. It is kept with the files of each run, and nowhere else: so it is there whatever becomes of
 * the journal. Read when it is asked for first: of fifty thousand runs that nobody looks at, nothing is.
 */
export class Annotations {
  readonly #state: Pick<SchedulerState, 'runs'>;
  readonly #known = new Map<RunId, Annotation | null>();

  constructor(state: Pick<SchedulerState, 'runs'>) {
    this.#state = state;
  }

  /** Null: nothing is noted. */
  of({ id, directory }: AnnotatedRun): Annotation | null {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    const read = readAnnotation(directory);
    this.#known.set(id, read);
    return read;
  }

  /**
   * Writes a change down.
   *
   * @returns Whether it made a difference. @throws What the system says.
   */
  change({ id, directory }: AnnotatedRun, change: AnnotationChange): boolean {
    // The file has the last word: a person may have written it.
    const before = readAnnotation(directory);
    const after = annotated(before, change);
    this.#known.set(id, before);
    if (JSON.stringify(after) === JSON.stringify(before)) return false;
    writeAnnotation(directory, after);
    this.#known.set(id, after);
    return true;
  }

  /** It is read anew when it is asked for. */
  forget(id: RunId): void {
    this.#known.delete(id);
  }

  /** An observer of the event loop: another run may come under the name of one that is gone. */
  follow(touched: ReadonlySet<RunId>): void {
    for (const id of touched) if (!this.#state.runs.has(id)) this.forget(id);
  }
}
