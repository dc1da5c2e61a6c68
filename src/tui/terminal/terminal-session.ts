import { writeSync } from 'node:fs';
import process from 'node:process';

/** Alternate screen, no wrapping at the right edge (the painter positions every cell itself), no cursor, marked pastes. */
const enterCodes = '\u001b[?1049h\u001b[?7l\u001b[?25l\u001b[?2004h';
const clear = '\u001b[2J\u001b[H';
/** Deletes all pictures of kitty's protocol on this screen. */
const picturesOff = '\u001b_Ga=d,d=A,q=2\u001b\\';
/** Reports presses and the wheel, also beyond column 223. */
const mouseOn = '\u001b[?1000h\u001b[?1002h\u001b[?1006h';
/** Also reports every cell that the pointer enters. */
const movesOn = '\u001b[?1003h';
const mouseOff = '\u001b[?1003l\u001b[?1006l\u001b[?1002l\u001b[?1000l';
/** Asks whether the terminal supports kitty's keyboard protocol; one that does not sends no answer. */
const keyboardQuestion = '\u001b[?u';
/** Gives keys that otherwise share a code their own codes; the previous mode is restored on leaving. */
const keyboardOn = '\u001b[>1u';
const keyboardOff = '\u001b[<u';
const leaveCodes = `${mouseOff}\u001b[?2026l\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[0m\u001b[?1049l`;
const deadly = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;
type Deadly = (typeof deadly)[number];

/** What the terminal reports about the mouse; `off`: the terminal selects text with it. */
type Mouse = 'off' | 'clicks' | 'moves';
const mouseCodes: Record<Mouse, string> = { off: '', clicks: mouseOn, moves: mouseOn + movesOn };

/** How the session was ended from outside: by a signal, an uncaught error, or the loss of the terminal. */
export type Interruption =
  | { readonly kind: 'signal'; readonly signal: Deadly }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'hang-up' };

type Listeners = {
  /** Must call `end`. */
  readonly onInterruption: (interruption: Interruption) => void;
  /** Called before another program uses the terminal: nothing may be drawn from then on. */
  readonly onLeave: () => void;
  /** Called when the terminal is available again; its previous contents are lost. */
  readonly onReturn: () => void;
};

/**
 * Takes over the terminal and restores it on every exit except SIGKILL.
 *
 * The only file of the window that touches the process, because signals and suspending are its subject. Whatever reads keys from
 * the terminal must stop before `end`, since anything it writes later would appear on the user's own screen.
 */
export class TerminalSession {
  readonly #stdin: NodeJS.ReadStream;
  readonly #stdout: NodeJS.WriteStream;
  readonly #listeners: Listeners;
  #isShown = false;
  #isOpen = false;
  #isLent = false;
  #mouse: Mouse = 'off';
  #hasKeyboard = false;
  #hasPictures = false;
  /** Codes sent each time the terminal is taken over. */
  #questions = '';

  constructor(stdin: NodeJS.ReadStream, stdout: NodeJS.WriteStream, listeners: Listeners) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#listeners = listeners;
  }

  begin(): void {
    this.#isOpen = true;
    deadly.forEach((signal) => process.on(signal, this.#onDeadly));
    process.on('SIGTSTP', this.#onStop);
    process.on('SIGCONT', this.#onContinue);
    process.on('exit', this.#onExit);
    process.on('uncaughtException', this.#onError);
    this.#stdout.on('error', this.#onHangUp);
    this.#stdin.on('error', this.#onHangUp);
    this.#stdin.on('end', this.#onHangUp);
    // Raw mode comes before drawing, since the terminal would otherwise echo keys into the picture.
    this.#setRaw(true);
    this.#show();
  }

  useMouse(mouse: Mouse): void {
    if (mouse === this.#mouse) return;
    this.#mouse = mouse;
    if (this.#isShown) this.#write(mouseOff + mouseCodes[mouse]);
  }

  /** The terminal distinguishes all keys, so Escape is recognized at once without waiting for more input. */
  useKeyboard(): void {
    if (this.#hasKeyboard || !this.#isShown) return;
    this.#hasKeyboard = true;
    this.#write(keyboardOn);
  }

  /** Sends questions now, if the terminal is taken over, and each time it is taken over again. */
  ask(questions: string): void {
    this.#questions = questions;
    this.askNow(questions);
  }

  /** Sends questions once if the terminal is taken over; answers arrive among the keys. */
  askNow(questions: string): void {
    if (this.#isShown && questions !== '') this.#write(questions);
  }

  /** Sets whether there are pictures to delete before the terminal is given back. */
  usePictures(has: boolean): void {
    this.#hasPictures = has;
  }

  /** Restores the terminal. Further calls do nothing. */
  end(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#setRaw(false);
    this.#hide();
    deadly.forEach((signal) => process.off(signal, this.#onDeadly));
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGCONT', this.#onContinue);
    process.off('exit', this.#onExit);
    process.off('uncaughtException', this.#onError);
    this.#stdin.off('error', this.#onHangUp);
    this.#stdin.off('end', this.#onHangUp);
    // The listener on stdout stays, because a last write to a lost terminal fails later and must not be fatal.
  }

  /** Suspends the job, as Ctrl-Z does outside raw mode, and returns to the window when it is continued. */
  suspend(): void {
    this.#setRaw(false);
    this.#hide();
    process.off('SIGTSTP', this.#onStop);
    process.kill(0, 'SIGTSTP');
    // Reached when the job is continued, or at once if the system did not stop it because nobody could continue it. SIGCONT is heard
    // in the next turn, and returns by itself: returning twice would ask the terminal twice, whose answers may outlive the window.
    setImmediate(() =>
      setImmediate(() => {
        if (!this.#isOpen) return;
        process.on('SIGTSTP', this.#onStop);
        if (!this.#isShown) this.#return();
      }),
    );
  }

  /**
   * Gives the terminal to another program for the duration of `use`, which must not return before that program has ended. Ctrl-C is
   * left to that program; Ctrl-Z stops both, as one job.
   */
  lend<Result>(use: () => Result): Result {
    this.#setRaw(false);
    this.#hide();
    process.off('SIGTSTP', this.#onStop);
    this.#isLent = true;
    try {
      return use();
    } finally {
      if (this.#isOpen) process.on('SIGTSTP', this.#onStop);
      this.#return();
      // Signals received during the other program are delivered only now.
      setImmediate(() => (this.#isLent = false));
    }
  }

  readonly #onDeadly = (signal: NodeJS.Signals): void => {
    if (this.#isLent && (signal === 'SIGINT' || signal === 'SIGQUIT')) return;
    this.#listeners.onInterruption({ kind: 'signal', signal: signal as Deadly });
  };
  readonly #onError = (error: unknown): void => this.#listeners.onInterruption({ kind: 'error', error });
  readonly #onHangUp = (): void => {
    if (this.#isOpen) this.#listeners.onInterruption({ kind: 'hang-up' });
  };
  readonly #onExit = (): void => this.end();
  readonly #onStop = (): void => this.suspend();
  readonly #onContinue = (): void => this.#return();

  /** Takes the terminal over again. Sets its modes even if they look unchanged, because the shell has used it meanwhile. */
  #return(): void {
    if (!this.#isOpen) return;
    this.#setRaw(false);
    this.#setRaw(true);
    this.#isShown = false;
    this.#show();
    this.#listeners.onReturn();
  }

  #setRaw(isRaw: boolean): void {
    try {
      this.#stdin.setRawMode(isRaw);
    } catch {
      // The terminal is gone; its end is reported by another event.
    }
  }

  #show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    // A terminal that does not understand a question may print it, so questions come before clearing the screen.
    this.#write(enterCodes + this.#questions + clear + mouseCodes[this.#mouse] + keyboardQuestion);
  }

  #hide(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#listeners.onLeave();
    const keyboard = this.#hasKeyboard ? keyboardOff : '';
    this.#write((this.#hasPictures ? picturesOff : '') + keyboard + leaveCodes);
    // The question is repeated on return, because the terminal may be a different one.
    this.#hasKeyboard = false;
  }

  /** Writes synchronously, whatever happens to the process next. */
  #write(codes: string): void {
    try {
      writeSync((this.#stdout as NodeJS.WriteStream & { fd: number }).fd, codes);
    } catch {
      // The terminal is gone, so there is nothing to restore.
    }
  }
}

/** Ends the process by the signal itself, so that a shell sees the cause. Handlers must have been removed. */
export function dieBy(signal: Deadly): void {
  process.kill(process.pid, signal);
}
