import type { Ack, RunSummary } from './port.js';

/** New runs that were written in an editor: the text, and what submitting it would do. */
export type Draft = {
  /** `extend abcd`, `clone A_x_s0`. */
  readonly title: string;
  /** The file that holds what was typed; it stays until it was submitted. */
  readonly path: string;
  readonly verdict: Verdict;
};

export type Verdict =
  /** `summary`: `12 new runs`; `lines`: which, and what becomes of the others. */
  | { readonly kind: 'ready'; readonly summary: string; readonly lines: readonly string[] }
  /** `lines`: what is wrong, where, and the fix. */
  | { readonly kind: 'refused'; readonly lines: readonly string[] }
  /** Nothing to submit; why, in a sentence. */
  | { readonly kind: 'unchanged'; readonly why: string }
  /**
   * It was submitted, and the person's own file says something else. `lines`: what was done, and the question. `asks`: it can be
   * written there as well; else somebody has changed it since.
   */
  | { readonly kind: 'submitted'; readonly asks: boolean; readonly lines: readonly string[] };

/** The file that a sweep was launched from. `kept`: where the text is kept in any case. `isAsKnown`: nobody has changed it since. */
export type OwnFile = { readonly path: string; readonly kept: string; readonly isAsKnown: boolean };

/**
 * What a person does to runs with other programs. The methods that open an editor or a shell return when it has ended;
 * the terminal is theirs so long. All of them throw a UserError when the program cannot be started.
 */
export type EditorPort = {
  /** Not null: until this is settled nothing can be asked of it. */
  readonly loading?: Promise<void> | null;
  /** The command of a run as a shell takes it, with the directory to go to first. */
  commandOf(run: RunSummary): string;
  openShell(directory: string): void;
  extend(sweep: string): Draft;
  clone(run: RunSummary): Draft;
  /** Opens the text of a draft again. */
  edit(draft: Draft): Draft;
  submit(draft: Draft): Promise<Ack>;
  /** The person's own file, to which a text that was submitted can be written; null: there is none. */
  ownFile(draft: Draft): OwnFile | null;
  /** Writes it; throws a UserError where it cannot, or somebody has changed the file since. */
  writeOwnFile(draft: Draft): void;
};
