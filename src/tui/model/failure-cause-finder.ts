import { causeOfKind, type FoundCause } from '../../analysis/failures/failure-kinds.js';
import type { RunSummary } from '../state/port.js';
import type { Branch } from './tree/branch-index.js';

/** The search takes at most 1/`parts` of the time. */
const parts = 5;

type Question = { readonly asked: string; readonly kind: readonly RunSummary[]; readonly runs: readonly RunSummary[] };
type Known = FoundCause & { readonly asked: string };

/**
 * Finds parameters associated with the kinds of failure on the screen. Searches one kind at a time, between key presses, and again
 * when more runs of that kind or more done runs have ended.
 */
export class FailureCauseFinder {
  readonly #changed: () => void;
  readonly #known = new Map<string, Known>();
  readonly #wanted = new Map<string, Question>();
  #timer: NodeJS.Timeout | null = null;
  #pause = 0;

  /** `changed`: called when a search has finished. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /**
   * The current answer; undefined until the first search has finished. Calling this starts the search.
   *
   * @param runs All runs of the list; the done ones are compared with this kind.
   * @param done Number of done runs.
   */
  causeOf({ key, runs: kind }: Branch, runs: readonly RunSummary[], done: number): FoundCause | undefined {
    const known = this.#known.get(key);
    const asked = `${kind.length} ${done}`;
    if (known?.asked !== asked) this.#want(key, { asked, kind, runs });
    return known;
  }

  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#wanted.clear();
  }

  #want(key: string, question: Question): void {
    this.#wanted.set(key, question);
    this.#timer ??= setTimeout(() => this.#findNext(), this.#pause);
  }

  #findNext(): void {
    this.#timer = null;
    const [next] = this.#wanted;
    if (next === undefined) return;
    const [key, question] = next;
    this.#wanted.delete(key);
    const start = performance.now();
    this.#known.set(key, { asked: question.asked, ...causeOfKind(question.kind, question.runs) });
    this.#pause = (parts - 1) * (performance.now() - start);
    if (this.#wanted.size > 0) this.#timer = setTimeout(() => this.#findNext(), this.#pause);
    this.#changed();
  }
}
