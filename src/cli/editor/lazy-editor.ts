import { errorText, UserError } from '../../base/user-error.js';
import type { Ack, Fleet, RunSummary } from '../../client/fleet.js';
import type { Draft, EditorPort, OwnFile } from '../../tui/state/editor-port.js';
import type { Launched } from './sweep-source.js';

/** The editor with the sweep-file parser, which is loaded after the window's first frame. */
export class LazyEditor implements EditorPort {
  readonly #fleet: Fleet;
  readonly #launched: Launched;
  #editor: EditorPort | null = null;
  #problem: string | null = null;
  #loading: Promise<void> | null = null;

  constructor(fleet: Fleet, launched: Launched) {
    this.#fleet = fleet;
    this.#launched = launched;
  }

  get loading(): Promise<void> | null {
    return this.#loading;
  }

  /** Loads the parser. An error is reported when it is used. */
  load(): void {
    this.#loading = this.#load().finally(() => (this.#loading = null));
  }

  async #load(): Promise<void> {
    try {
      const { TerminalEditor } = await import('./terminal-editor.js');
      this.#editor = new TerminalEditor(this.#fleet, this.#launched);
    } catch (error) {
      this.#problem = errorText(error);
    }
  }

  commandOf(run: RunSummary): string {
    return this.#loaded().commandOf(run);
  }

  openShell(directory: string): void {
    this.#loaded().openShell(directory);
  }

  openTerminal(run: RunSummary): void {
    this.#loaded().openTerminal(run);
  }

  extend(sweep: string): Draft {
    return this.#loaded().extend(sweep);
  }

  clone(run: RunSummary): Draft {
    return this.#loaded().clone(run);
  }

  edit(draft: Draft): Draft {
    return this.#loaded().edit(draft);
  }

  submit(draft: Draft): Promise<Ack> {
    return this.#loaded().submit(draft);
  }

  ownFile(draft: Draft): OwnFile | null {
    return this.#loaded().ownFile(draft);
  }

  writeOwnFile(draft: Draft): void {
    this.#loaded().writeOwnFile(draft);
  }

  #loaded(): EditorPort {
    if (this.#editor !== null) return this.#editor;
    throw new UserError(
      `A part of the program is missing: ${this.#problem ?? 'it was not loaded'}.`,
      'Detach with q and attach again.',
    );
  }
}
