import pty, { type IPty } from '@lydell/node-pty';

/** A program in a pseudo-terminal of its own, whose output is looked at as it comes. */
export class DrivenProgram {
  readonly #child: IPty;
  #recent = '';
  #waiting: { token: string; seen: () => void; failed: (error: Error) => void } | null = null;
  #isOver = false;
  bytes = 0;

  constructor(words: readonly string[], size: { cols: number; rows: number }) {
    // Ink draws nothing while CI is set.
    const env = { ...process.env, CI: 'false', CONTINUOUS_INTEGRATION: 'false' };
    this.#child = pty.spawn(process.execPath, [...words], { ...size, name: 'xterm-256color', env });
    this.#child.onData((text) => this.#hear(text));
    this.#child.onExit(() => {
      this.#isOver = true;
      this.#waiting?.failed(this.#ended());
    });
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Resolves when the text has been written, or had been a short while ago. Rejects when the program has ended without it. */
  seen(token: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting = { token, seen: resolve, failed: reject };
      if (this.#recent.includes(token)) resolve();
      else if (this.#isOver) reject(this.#ended());
    });
  }

  write(keys: string): void {
    this.#child.write(keys);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #ended(): Error {
    return new Error(`The program has ended. The last it wrote:\n${this.#recent.slice(-2000)}`);
  }

  #hear(text: string): void {
    this.bytes += Buffer.byteLength(text);
    this.#recent = (this.#recent + text).slice(-65_536);
    if (this.#waiting !== null && this.#recent.includes(this.#waiting.token)) this.#waiting.seen();
  }
}
