import type { Ack, RunSummary } from './port.js';

/** New runs written in an editor: the text, and what submitting it would do. */
export type Draft = {
  /** `extend abcd`, `clone A_x_s0`. */
  readonly title: string;
  /** The file with the text, kept until it has been submitted. */
  readonly path: string;
  readonly verdict: Verdict;
};

export type Verdict =
  /** `summary`: `12 new runs`; `lines`: which runs, and what happens to the others. */
  | { readonly kind: 'ready'; readonly summary: string; readonly lines: readonly string[] }
  /** `lines`: what is wrong, where, and how to fix it. */
  | { readonly kind: 'refused'; readonly lines: readonly string[] }
  /** There is nothing to submit; `why` is a sentence. */
  | { readonly kind: 'unchanged'; readonly why: string }
  /**
   * The text was submitted, and the user's own file differs from it. `lines`: what was done, and the question. `asks`: whether the
   * file can be updated; otherwise it has been changed since.
   */
  | { readonly kind: 'submitted'; readonly asks: boolean; readonly lines: readonly string[] };

/**
 * The file that a sweep was launched from. `kept`: where the text is stored in any case. `isAsKnown`: the file has not been changed
 * since.
 */
export type OwnFile = { readonly path: string; readonly kept: string; readonly isAsKnown: boolean };

/**
 * What the user does to runs with other programs. Methods that open an editor or a shell return when it has ended, and lend it the
 * terminal until then. All of them throw a UserError if the program cannot be started.
 */
export type EditorPort = {
  /** If not null, other methods must not be called until this has settled. */
  readonly loading?: Promise<void> | null;
  /** The command of a run in shell syntax, preceded by a change to its directory. */
  commandOf(run: RunSummary): string;
  openShell(directory: string): void;
  /** Shows the terminal of a run until the user leaves it. */
  openTerminal(run: RunSummary): void;
  extend(sweep: string): Draft;
  clone(run: RunSummary): Draft;
  /** Reopens the text of a draft. */
  edit(draft: Draft): Draft;
  submit(draft: Draft): Promise<Ack>;
  /** The user's own file, to which submitted text can be written; null: there is none. */
  ownFile(draft: Draft): OwnFile | null;
  /** Writes the submitted text to the user's own file; throws a UserError if it cannot or the file has been changed since. */
  writeOwnFile(draft: Draft): void;
};
