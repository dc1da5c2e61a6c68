import { UserError } from '../../base/user-error.js';
import type { Ack, Fleet, RunSummary } from '../../client/fleet.js';
import type { DeskPort, Draft } from '../../tui/desk-port.js';
import type { Launched } from './sweep-source.js';

/** The desk, with the reader of sweep files, which is loaded once the window stands: the first frame is not kept waiting. */
export class LateDesk implements DeskPort {
  readonly #fleet: Fleet;
  readonly #launched: Launched;
  #desk: DeskPort | null = null;
  #problem: string | null = null;

  constructor(fleet: Fleet, launched: Launched) {
    this.#fleet = fleet;
    this.#launched = launched;
  }

  /** Loads it. Does not reject: what went wrong is told to who wants to use it. */
  async load(): Promise<void> {
    try {
      const { TerminalDesk } = await import('./terminal-desk.js');
      this.#desk = new TerminalDesk(this.#fleet, this.#launched);
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }

  commandOf(run: RunSummary): string {
    return this.#loaded().commandOf(run);
  }

  openShell(directory: string): void {
    this.#loaded().openShell(directory);
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

  #loaded(): DeskPort {
    if (this.#desk !== null) return this.#desk;
    if (this.#problem !== null) {
      throw new UserError(
        `A part of the program could not be loaded: ${this.#problem}.`,
        'Leave the window with q and attach again.',
      );
    }
    throw new UserError('The window has only just been opened.', 'Press the key again.');
  }
}
