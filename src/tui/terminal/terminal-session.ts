import { writeSync } from 'node:fs';
import process from 'node:process';

/** Alternate screen, no wrapping at the right edge (the painter places every cell itself), no cursor, pastes marked. */
const enterCodes = '\u001b[?1049h\u001b[?7l\u001b[?25l\u001b[?2004h';
const clear = '\u001b[2J\u001b[H';
/** All pictures of kitty's protocol that are on this screen. */
const picturesOff = '\u001b_Ga=d,d=A,q=2\u001b\\';
/** Presses and the wheel, with places beyond column 223. */
const mouseOn = '\u001b[?1000h\u001b[?1006h';
/** Each cell that the pointer comes to, too. */
const movesOn = '\u001b[?1003h';
const mouseOff = '\u001b[?1003l\u001b[?1006l\u001b[?1000l';
/** Asks whether the terminal knows kitty's keyboard protocol; one that does not says nothing. */
const keyboardQuestion = '\u001b[?u';
/** Keys that are one code otherwise get codes of their own, and what was asked for before comes back on leaving. */
const keyboardOn = '\u001b[>1u';
const keyboardOff = '\u001b[<u';
const leaveCodes = `${mouseOff}\u001b[?2026l\u001b[?2004l\u001b[?7h\u001b[?25h\u001b[0m\u001b[?1049l`;
const deadly = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;
type Deadly = (typeof deadly)[number];

/** What the terminal tells of the mouse; `off`: the terminal itself marks text with it. */
type Mouse = 'off' | 'clicks' | 'moves';
const mouseCodes: Record<Mouse, string> = { off: '', clicks: mouseOn, moves: mouseOn + movesOn };

/** How the session was ended from outside: by a signal, by an error nobody caught, by the loss of the terminal. */
export type Interruption =
  | { readonly kind: 'signal'; readonly signal: Deadly }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'hang-up' };

type Listeners = {
  /** Must call `end`. */
  readonly onInterruption: (interruption: Interruption) => void;
  /** Another program is about to use the terminal: nothing may be drawn on it from now on. */
  readonly onLeave: () => void;
  /** The terminal is ours again; nothing on it is as it was. */
  readonly onReturn: () => void;
};

/**
 * Borrows the terminal, and gives it back on every way out but SIGKILL.
 *
 * The one file of the window that touches the process: signals and stopping are its subject. Whoever reads keys from
 * the terminal must stop doing so before `end`: what it writes after would land on the person's own screen.
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
  /** Asked whenever the terminal is taken. */
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
    // Before anything is drawn: the terminal would echo a key pressed now into the picture.
    this.#setRaw(true);
    this.#show();
  }

  useMouse(mouse: Mouse): void {
    if (mouse === this.#mouse) return;
    this.#mouse = mouse;
    if (this.#isShown) this.#write(mouseOff + mouseCodes[mouse]);
  }

  /** The terminal has said that it tells every key apart: Escape is then known at once, without waiting for what may follow. */
  useKeyboard(): void {
    if (this.#hasKeyboard || !this.#isShown) return;
    this.#hasKeyboard = true;
    this.#write(keyboardOn);
  }

  /** Asks the terminal something now, if it is ours, and each time it is taken. */
  ask(questions: string): void {
    this.#questions = questions;
    this.askNow(questions);
  }

  /** Asks something if the terminal is ours; the answer comes among the keys. */
  askNow(questions: string): void {
    if (this.#isShown && questions !== '') this.#write(questions);
  }

  /** Whether there are pictures that have to be taken away before the terminal is given back. */
  usePictures(has: boolean): void {
    this.#hasPictures = has;
  }

  /** Gives the terminal back. Calling it twice is the same as once. */
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
    // The listener on stdout stays: a last write to a lost terminal fails after this, and must not be fatal.
  }

  /** Stops the whole job, as Ctrl-Z does where the terminal is not in raw mode, and comes back when it is continued. */
  suspend(): void {
    this.#setRaw(false);
    this.#hide();
    process.off('SIGTSTP', this.#onStop);
    process.kill(0, 'SIGTSTP');
    // Reached when the job is continued; at once where nobody could continue it and the system did not stop it.
    setImmediate(() => {
      if (!this.#isOpen) return;
      process.on('SIGTSTP', this.#onStop);
      this.#return();
    });
  }

  /**
   * Gives the terminal to another program for as long as `use` takes, which must not return before that program has
   * ended. Signals from its keyboard (Ctrl-C) are its own matter; Ctrl-Z stops both, as one job.
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
      // What was pressed in the other program is heard only now, when this one listens again.
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

  /** The shell has used the terminal in the meantime: its modes are set again even if they look set. */
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
      // The terminal is gone; its end comes as an event of its own.
    }
  }

  #show(): void {
    if (this.#isShown) return;
    this.#isShown = true;
    // A terminal that does not know a question may print it: before all is erased.
    this.#write(enterCodes + this.#questions + clear + mouseCodes[this.#mouse] + keyboardQuestion);
  }

  #hide(): void {
    if (!this.#isShown) return;
    this.#isShown = false;
    this.#listeners.onLeave();
    const keyboard = this.#hasKeyboard ? keyboardOff : '';
    this.#write((this.#hasPictures ? picturesOff : '') + keyboard + leaveCodes);
    // Asked again on coming back: it may be another terminal by then.
    this.#hasKeyboard = false;
  }

  /** At once, whatever is about to happen to the process. */
  #write(codes: string): void {
    try {
      writeSync((this.#stdout as NodeJS.WriteStream & { fd: number }).fd, codes);
    } catch {
      // The terminal is gone: there is nothing to restore.
    }
  }
}

/** Dies by the signal itself, so that a shell sees what happened. Its handlers must be gone. */
export function dieBy(signal: Deadly): void {
  process.kill(process.pid, signal);
}
